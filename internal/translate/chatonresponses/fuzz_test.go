package chatonresponses_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

// A client gets a valid chat stream that ends once from any bytes of a provider, as a success only if the
// provider's ended, and the same stream in whatever pieces they arrive.
var streams = translatetest.Streams{
	Check: func(t *testing.T, wire string, sizes []byte, second bool) {
		original := plainOriginal(t)
		out, err := stream(original, wire, second, true)
		translatetest.CheckChat(t, out, wire, err, "complete")
		translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream { return newStream(original, second, true) })
	},
	Head: event("created", opened), Menu: menu,
	Ends: []string{
		event("completed", completed), event("incomplete", `"response":{"status":"incomplete"}`), "",
		event("failed", `"response":{}`), "data: {\n\n", "event: error\ndata: {}\n\n",
	},
}

func FuzzStream(f *testing.F) { streams.Fuzz(f) }

func FuzzSequence(f *testing.F) {
	streams.FuzzMoves(f,
		[]byte{5, 0, 1, 2, 14, 6, 7, 8, 9, 10, 11, 12, 0},
		[]byte{26, 19, 20, 21, 22, 0, 15, 16, 17, 18, 1},
		[]byte{0, 4, 3, 0, 6, 8, 26, 8, 19, 27, 20, 19, 17, 28, 29, 30, 31, 32, 33, 34, 33, 0, 0},
		[]byte{16, 0, 0}, // an annotation before any text
		[]byte{13, 13, 10, 23, 24, 27, 28, 29, 2},
		[]byte{0, 25, 3},
		[]byte{0, 8, 4},
	)
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

func FuzzRequest(f *testing.F) {
	translatetest.Requests{
		Accept: translatetest.Accepted(params.ParseChat),
		Translate: func(body string, _ byte) ([]byte, error) {
			r, err := translateBody(body, chatonresponses.Options{})
			return r.responses, err
		},
		Sent: translatetest.Parsed(params.ParseResponses),
	}.Fuzz(f, `{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":[]}],"tools":[null],"n":2}`)
}

func FuzzResult(f *testing.F) {
	original := translated(f, withField(`"logprobs":true`)).original
	translatetest.FuzzResult(f, func(answer string, second bool) ([]byte, openai.Summary, error) {
		return result(original, answer, second)
	})
}
