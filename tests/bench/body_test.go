//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestBodiesAreJSONOfExactlyTheirSize(t *testing.T) {
	type builder func(string, bool, int, promptKind) ([]byte, error)
	for name, build := range map[string]builder{"chat": chatBody, "responses": responsesBody} {
		for _, size := range []int{256, kib, kib + 1, 32 * kib} {
			for _, prompt := range []promptKind{codePrompt, prosePrompt} {
				for _, stream := range []bool{false, true} {
					body, err := build("up/bench", stream, size, prompt)
					if err != nil {
						t.Fatal(err)
					}
					if len(body) != size {
						t.Errorf("%s of %d bytes has %d", name, size, len(body))
					}
					var got struct {
						Model    string
						Stream   bool
						Input    string
						Messages []struct{ Content string }
					}
					if err := json.Unmarshal(body, &got); err != nil {
						t.Fatalf("%s of %d bytes, prompt %s: %v", name, size, prompt, err)
					}
					if got.Model != "up/bench" || got.Stream != stream {
						t.Errorf("%s: model %q, stream %v", name, got.Model, got.Stream)
					}
					if !strings.HasPrefix(string(body), `{"model":"`) {
						t.Errorf("%s: the model is not first: %.40q", name, body)
					}
				}
			}
		}
	}
}

func TestBodyTooSmallForItsFrame(t *testing.T) {
	if body, err := chatBody("up/bench", false, 20, codePrompt); err == nil {
		t.Errorf("20 bytes held %q", body)
	}
}

func TestTemplateFillsEverySlot(t *testing.T) {
	got := string(newTemplate("a"+slotID+"b"+slotID, slotID).appendTo([]byte(">"), []byte("--")))
	if got != ">a--b--" {
		t.Errorf("filled template is %q", got)
	}
}

func TestAnswersAreJSON(t *testing.T) {
	if whole := chatAnswer().appendTo(nil, []byte("1024")); !json.Valid(whole) || len(whole) < 900 || len(whole) > 1500 {
		t.Errorf("the chat answer of %d bytes is not about 1 KB of JSON: %s", len(whole), whole)
	}
	for _, usage := range []bool{false, true} {
		stream := append([]byte{}, chatEnd(usage)...)
		for _, event := range chatEvents(coalescedEvents, usage) {
			stream = append(stream, event...)
		}
		checkDataLines(t, string(stream))
	}
	checkDataLines(t, string(responseEvents().appendTo(nil, newID())))
}

func checkDataLines(t *testing.T, stream string) {
	t.Helper()
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if ok && data != "[DONE]\n" && !json.Valid([]byte(data)) {
			t.Errorf("an event is no JSON: %s", data)
		}
	}
}
