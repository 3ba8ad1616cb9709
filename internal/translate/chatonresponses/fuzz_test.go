package chatonresponses_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

// A client gets a valid chat stream that ends once from any bytes of a provider, and the same
// stream in whatever pieces they arrive.
func FuzzStream(f *testing.F) {
	for i, wire := range translatetest.Seeds(f, "stream.txt") {
		f.Add(wire, []byte{0}, i%2 == 0)
	}
	f.Fuzz(checkStream)
}

func checkStream(t *testing.T, wire string, sizes []byte, second bool) {
	original := plainOriginal(t)
	out, err := stream(original, wire, second, true)
	g, bad := translatetest.CheckChunks(out)
	if bad != nil {
		t.Fatalf("%v\nin %s", bad, out)
	}
	if (g.Over == "error") != (err != nil) {
		t.Fatalf("%s, error %v", g.Over, err)
	}
	if err == nil && !strings.Contains(wire, "completed") && !strings.Contains(wire, "complete") && !strings.Contains(wire, `\u`) {
		t.Fatalf("%s of a stream without an end", g.Over)
	}
	translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream {
		return newStream(original, second, true)
	})
}

// menu has the events that a response may have next.
var menu = []string{
	textDelta("a"), textDelta(`\ud83d`), textDelta(`\ude00`), textDelta(""), textDelta(`\"`),
	event("output_item.added", `"output_index":0,"item":{"type":"message","id":"msg_1","content":[]}`),
	event("output_item.added", `"output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":""}`),
	event("output_item.added", `"output_index":2,"item":{"type":"function_call","id":"fc_2","call_id":"c2","name":"g","arguments":""}`),
	event("function_call_arguments.delta", `"output_index":1,"delta":"{"`),
	event("function_call_arguments.delta", `"output_index":2,"delta":"["`),
	event("function_call_arguments.delta", `"item_id":"fc_1","delta":"}"`),
	event("function_call_arguments.done", `"output_index":1,"arguments":"{}"`),
	event("output_item.done", `"output_index":2,"item":{"type":"function_call","call_id":"c2","name":"g","arguments":"[]"}`),
	event("output_item.added", `"item":{"type":"function_call","name":"h"}`),
	event("output_item.done", `"output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"xyz","annotations":[{"type":"url_citation","end_index":1}]}]}`),
	event("output_text.done", `"output_index":0,"content_index":1,"text":"more"`),
	event("output_text.annotation.added", `"output_index":0,"content_index":1,"annotation":{"type":"url_citation","url":"u"}`),
	event("refusal.delta", `"output_index":0,"content_index":2,"delta":"no"`),
	event("refusal.done", `"output_index":3,"refusal":"never"`),
	event("reasoning_summary_text.delta", `"output_index":4,"summary_index":0,"delta":"s"`),
	event("reasoning_summary_text.delta", `"output_index":4,"summary_index":1,"delta":"t"`),
	event("reasoning_text.delta", `"output_index":4,"content_index":0,"delta":"u"`),
	event("output_item.done", `"output_index":4,"item":{"type":"reasoning","summary":[{"text":"s"}],"content":[{"text":"u"}]}`),
	event("output_item.added", `"output_index":5,"item":{"type":"custom_tool_call","id":"x","call_id":"c3","name":"k","input":""}`),
	event("custom_tool_call_input.delta", `"output_index":5,"delta":"in"`),
	event("output_item.added", `"output_index":6,"item":{"type":"image_generation_call"}`),
	event("function_call_arguments.delta", `"output_index":1,"delta":"1"`), event("reasoning_summary_text.delta", `"output_index":4,"summary_index":0,"delta":"S"`),
	event("refusal.delta", `"output_index":0,"content_index":2,"delta":"non"`), event("audio.delta", `"delta":"a"`), event("audio.delta", `"delta":"b"`),
	event("output_text.delta", `"output_index":0,"delta":"a","response":"x"`), event("output_text.delta", `"output_index":0,"delta":"b","response":"x"`),
	event("output_text.delta", `"sequence_number":9,"output_index":0,"delta":"a","obfuscation":"x"`), event("output_text.delta", `"sequence_number":10,"output_index":0,"delta":"bc","obfuscation":"xyz"`),
	event("in_progress", opened), event("mystery", `"x":1`), "data: [DONE]\n\n", ": comment\n\n",
}

// Any sequence of events, with any end, makes a valid stream.
func FuzzSequence(f *testing.F) {
	f.Add([]byte{5, 0, 1, 2, 14, 6, 7, 8, 9, 10, 11, 12}, byte(0))
	f.Add([]byte{26, 19, 20, 21, 22, 0, 15, 16, 17, 18}, byte(1))
	f.Add([]byte{0, 4, 3, 0, 6, 8, 26, 8, 19, 27, 20, 19, 17, 28, 29, 30, 31, 32, 33, 34, 33, 0}, byte(0))
	f.Add([]byte{16, 0}, byte(0)) // an annotation before any text
	f.Add([]byte{13, 13, 10, 23, 24, 27, 28, 29}, byte(2))
	f.Add([]byte{0, 25}, byte(3))
	f.Add([]byte{0, 8}, byte(4))
	f.Fuzz(func(t *testing.T, moves []byte, end byte) {
		var wire strings.Builder
		wire.WriteString(event("created", opened))
		for _, move := range moves[:min(len(moves), 64)] {
			wire.WriteString(menu[int(move)%len(menu)])
		}
		wire.WriteString([]string{
			event("completed", completed), event("incomplete", `"response":{"status":"incomplete"}`), "",
			event("failed", `"response":{}`), "data: {\n\n", "event: error\ndata: {}\n\n",
		}[end%6])
		checkStream(t, wire.String(), moves, end%2 == 0)
	})
}

// A chat request is refused by name, or asks a provider what it can read.
func FuzzRequest(f *testing.F) {
	for _, body := range translatetest.Seeds(f, "request.json") {
		f.Add(body)
	}
	f.Add(`{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":[]}],"tools":[null],"n":2}`)
	f.Fuzz(func(t *testing.T, body string) {
		var b, sent jsonscan.Body
		if b.Parse([]byte(body)) != nil {
			return
		}
		if _, err := params.ParseChat(&b); err != nil {
			return
		}
		r, err := translateBody(body, chatonresponses.Options{})
		if err != nil {
			if e := translatetest.MustFail(t, err); e.HTTPStatus() != 400 || e.Param == "" && !strings.Contains(body, `""`) {
				t.Fatalf("refused by %v, param %q", e, e.Param)
			}
			return
		}
		if err := sent.Parse(r.responses); err != nil {
			t.Fatalf("%s: %v", r.responses, err)
		}
		if _, err := params.ParseResponses(&sent); err != nil {
			t.Fatalf("%s: %v", r.responses, err)
		}
	})
}

// A whole response is a chat completion, or a failure.
func FuzzResult(f *testing.F) {
	for i, answer := range translatetest.Seeds(f, "answer.json") {
		f.Add(answer, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, answer string, second bool) {
		original := translated(t, `{"model":"m","messages":[{"role":"user","content":"hi"}],"logprobs":true}`).original
		out, sum, err := result(original, answer, second)
		if err != nil {
			if translatetest.MustFail(t, err).HTTPStatus() < 400 || sum.Err == nil {
				t.Fatalf("%v, %+v", err, sum)
			}
			return
		}
		var completion struct {
			Choices []struct {
				Message      map[string]any
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal(out, &completion); err != nil || len(completion.Choices) != 1 ||
			completion.Choices[0].FinishReason == "" || completion.Choices[0].Message["role"] != "assistant" {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
