package openai_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/sse"
)

// wires are the APIs whose whole answers become streams.
var wires = map[string]struct {
	events func(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error)
	stream func() openai.Stream
	finish string
}{
	"chat": {openai.ChatEvents, func() openai.Stream {
		call := newCall()
		call.IncludeUsage = true
		return openai.NewChatStream(call)
	}, "tool_calls"},
	"responses": {openai.ResponsesEvents, func() openai.Stream { return openai.NewResponsesStream(newCall()) }, "length"},
}

func golden(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/whole/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// streamed feeds events to a stream of their API, as the provider would have sent them.
func streamed(t testing.TB, events []byte, s openai.Stream) (string, error) {
	t.Helper()
	reader := sse.NewReader(bytes.NewReader(events), 1<<20)
	defer reader.Release()
	var out []byte
	var wire openai.Events
	for !s.Done() {
		event, err := reader.Next()
		if err != nil {
			break
		}
		next := wire.Next(event.Name, event.Data)
		out = s.Data(out, next)
		next.Release()
	}
	out, err := s.Close(out, nil)
	return string(out), err
}

func TestAWholeAnswerBecomesTheEventsOfItsAPI(t *testing.T) {
	for name, w := range wires {
		events, sum, err := w.events([]byte(": first\n\n"), golden(t, name+".json"), newCall())
		if err != nil || !sum.HasUsage || sum.Usage.Total != 7 {
			t.Fatalf("%s: %+v, %v", name, sum, err)
		}
		if want := golden(t, name+".events"); string(events) != ": first\n\n"+string(want) {
			t.Errorf("%s: got\n%s", name, events)
		}
		s := w.stream()
		out, err := streamed(t, events, s)
		if got := s.Summary(); err != nil || got.Finish != w.finish || got.Usage.Total != 7 || !got.Text || !strings.Contains(out, `"fake/echo"`) {
			t.Errorf("%s: %+v, %v\n%s", name, got, err, out)
		}
	}
}

// A body that is cut, or says that it failed, never becomes a stream that looks whole.
func TestABrokenAnswerBecomesNoStream(t *testing.T) {
	for name, w := range wires {
		body := bytes.TrimSpace(golden(t, name+".json"))
		for end := range body {
			if out, _, err := w.events(nil, body[:end], newCall()); err == nil || out != nil {
				t.Fatalf("%s: the first %d bytes became a stream", name, end)
			}
		}
		for _, body := range []string{
			`{"error":{"message":"canary","type":"server_error"}}`, `{"object":"error","message":"x","code":500}`, `[]`, `{}`, `null`, `"x"`,
			`{"choices":[]}`, `{"choices":[{"index":0}]}`, `{"choices":["x"]}`, `{"output":{}}`, `{"output":["x"]}`,
			`{"status":"in_progress","output":[]}`, `{"status":"failed","error":{"code":"server_error","message":"x"},"output":[]}`,
			`{"choices":[{"message":{"content":"x"},"finish_reason":"error"}]}`,
		} {
			if out, sum, err := w.events(nil, []byte(body), newCall()); err == nil || out != nil || sum.HasUsage {
				t.Errorf("%s: %s became\n%s", name, body, out)
			} else if strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: not redacted: %v", name, err)
			}
		}
	}
}

// Small servers leave out what their own streams have.
func TestWhatAWholeAnswerLeavesOutIsRepaired(t *testing.T) {
	for name, c := range map[string]struct{ body, has string }{
		"chat":      {`{"choices":[{"message":{"content":"x"}}]}`, `"finish_reason":"stop"`},
		"responses": {`{"output":[{"type":"message","content":[{"type":"output_text","text":"x"}]}]}`, `"type":"response.completed"`},
	} {
		w := wires[name]
		events, _, err := w.events(nil, []byte(c.body), newCall())
		if err != nil {
			t.Fatal(name, err)
		}
		if out, err := streamed(t, events, w.stream()); err != nil || !strings.Contains(out, c.has) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// FuzzWholeAnswers takes any body for an answer: it is refused, or becomes well-formed events of which
// the API's stream makes a whole answer.
func FuzzWholeAnswers(f *testing.F) {
	for name := range wires {
		f.Add(golden(f, name+".json"))
	}
	f.Add([]byte(`{"choices":[{"message":{"content":"x","content":1},"index":"a"}],"choices":[{"message":{"tool_calls":[1,{}]}}],"usage":1}`))
	f.Add([]byte(`{"output":[{"id":7,"type":"message","content":[1,{"type":"output_text"}]},{"type":"reasoning","summary":{}}],"output":[],"status":7}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		for name, w := range wires {
			events, _, err := w.events(nil, body, newCall())
			if err != nil {
				continue
			}
			if !json.Valid(body) || !bytes.Equal(before, body) {
				t.Fatalf("%s: a stream of %q", name, body)
			}
			payloads(t, string(events))
			s := w.stream()
			out, err := streamed(t, events, s)
			if err != nil || s.Summary().Err != nil {
				t.Fatalf("%s: %v, %+v\n%s", name, err, s.Summary(), events)
			}
			payloads(t, out)
		}
	})
}
