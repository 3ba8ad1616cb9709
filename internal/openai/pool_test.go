package openai_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// marked is a call that has its mark in everything it may have it in.
func marked(mark string) openai.Call {
	call := newCall()
	call.Model, call.ID, call.Provider = "fake/"+mark, "gen-"+mark, mark
	return call
}

// answers are whole answers that use what a machine has in different measure.
func answers(mark string) []string {
	return []string{
		strings.ReplaceAll(answer, "words", mark),
		`{"choices":[{"message":{}}]}`,
		`{"id":"` + mark + `","created":1.5,"choices":[{"index":1,"message":{"role":"x","content":"` + mark + `","tool_calls":[{"id":"` + mark + `","function":{"name":"` + mark +
			`","arguments":{"a":"` + mark + `"}}},{"function":{}}]},"finish_reason":"` + mark + `"},{"message":{"reasoning_content":"` + mark + `"}}],"usage":{"prompt_tokens":5,"cost":1.5}}`,
		`{"choices":[{"message":{"content":"` + strings.Repeat(mark, 20_000) + `"},"finish_reason":"eos"}]}`,
		`{"choices":[{"message":{"content":"` + mark + `"}},5]}`,
		`{"error":{"message":"` + mark + `"}}`,
		`{"choices":[` + mark,
	}
}

func TestAPooledMachineKeepsNothingOfTheCallBefore(t *testing.T) {
	shape := openai.Shape{Native: true, Reasoning: true, FixedID: "gen-other", Provider: "other", Present: []string{"other"},
		Usage: func(dst, usage []byte, _ openai.Usage) []byte { return append(dst, usage...) }}
	try := func(body string) string {
		out, sum, err := openai.ChatResult(nil, []byte(body), marked("mine"))
		return fmt.Sprintf("%s %+v %v", out, sum, err)
	}
	for _, body := range answers("mine") {
		runtime.GC()
		runtime.GC() // the second empties the pools
		fresh := try(body)
		for _, other := range answers("other") {
			openai.ShapedResult(nil, []byte(other), marked("other"), shape)
			s := openai.NewShapedStream(marked("other"), shape)
			var events openai.Events
			s.Data(nil, events.Next(nil, []byte(chunk(`{"role":"assistant","content":"other"}`, `"other"`))))
			s.Data(nil, events.Next(nil, []byte(other)))
			events.Next(nil, nil)
			if got := try(body); got != fresh || strings.Contains(got, "other") {
				t.Fatalf("%.200s behind %.200s:\n got  %.300s\n want %.300s", body, other, got, fresh)
			}
		}
	}
}

func TestAPooledStreamKeepsNothingOfTheCallBefore(t *testing.T) {
	shape := openai.Shape{Native: true, Reasoning: true, FixedID: "gen-other", Provider: "other",
		Usage: func(dst, usage []byte, _ openai.Usage) []byte { return append(dst, usage...) }}
	type stream interface {
		openai.Stream
		Release()
	}
	response := func(typ, mark string) string {
		return `{"type":"response.` + typ + `","sequence_number":7,"response":{"id":"resp_` + mark + `","object":"response","status":"in_progress","output":[]}}`
	}
	delta := func(mark string) string {
		return `{"type":"response.output_text.delta","sequence_number":8,"delta":"` + mark + `"}`
	}
	wire := func(mark string) []string {
		return []string{
			chunk(`{"role":"assistant","content":"`+mark+`"}`, "null"), chunk(`{"content":"`+mark+`"}`, "null"), chunk(`{"content":"`+mark+`2"}`, "null"),
			`{"choices":[{"index":20,"delta":{"content":"` + mark + `"}}],"usage":{"prompt_tokens":5,"completion_tokens":1}}`,
			response("created", mark), delta(mark), delta(mark), response("completed", mark), `{"error":{"message":"` + mark + `"}}`, "[DONE]",
		}
	}
	try := func(s stream, mark string, script []int) string {
		var out []byte
		var events openai.Events
		for _, i := range script {
			e := events.Next(nil, []byte(wire(mark)[i]))
			out = s.Data(out, e)
			e.Release()
		}
		out, err := s.Close(out, nil)
		sum := s.Summary()
		s.Release()
		return fmt.Sprintf("%s %+v %v", out, sum, err)
	}
	scripts := [][]int{{0, 1, 2, 3, 9}, {0}, {1, 8}, {3, 3, 3}, {4, 5, 6, 7}, {4, 5}, {5}, {9}, {}}
	for name, start := range map[string]func(mark string) stream{
		"chat":      func(mark string) stream { return openai.NewChatStream(marked(mark)) },
		"responses": func(mark string) stream { return openai.NewResponsesStream(marked(mark)) },
	} {
		for _, script := range scripts {
			runtime.GC()
			runtime.GC() // the second empties the pools
			fresh := try(start("mine"), "mine", script)
			for _, other := range scripts {
				try(start("other"), "other", other)
				if name == "chat" {
					try(openai.NewShapedStream(marked("other"), shape), "other", other)
				}
				if got := try(start("mine"), "mine", script); got != fresh || strings.Contains(got, "other") {
					t.Fatalf("%s %v behind %v:\n got  %.300s\n want %.300s", name, script, other, got, fresh)
				}
			}
		}
	}
}

func TestCallsAtOnceDoNotMix(t *testing.T) {
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			mark := fmt.Sprintf("caller%d", i)
			s := openai.NewChatStream(marked(mark))
			var events openai.Events
			for n := range 200 {
				body := answers(mark)[n%3]
				out, _, err := openai.ChatResult(nil, []byte(body), marked(mark))
				event := s.Data(nil, events.Next(nil, []byte(chunk(`{"content":"`+mark+strings.Repeat("x", n%7)+`"}`, []string{"null", `"eos"`}[n%2]))))
				if err != nil || strings.Count(string(out)+string(event), "caller") != strings.Count(string(out)+string(event), mark) {
					t.Errorf("%s got %s, %s, %v", mark, out, event, err)
					return
				}
			}
		})
	}
	all.Wait()
}
