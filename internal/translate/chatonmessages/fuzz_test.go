package chatonmessages_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
)

// A client gets a valid chat stream that ends once from any bytes of a provider, as a success only if the
// provider's ended, and the same stream in whatever pieces they arrive.
var streams = translatetest.Streams{
	Check: func(t *testing.T, wire string, sizes []byte, second bool) {
		original := translated(t, withField(`"tools":[{"type":"web_search_20250305","name":"w"}]`), forModel(plainModel)).original
		out, err := stream(original, wire, second, true)
		translatetest.CheckChat(t, out, wire, err, "message_stop")
		translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream { return newStream(original, second, true) })
	},
	Head: started, Menu: menu,
	Ends: []string{
		ended, event("message_stop", ""), "", event("error", `"error":{"type":"overloaded_error","message":"x"}`), "data: {\n\n", "event: error\ndata: {}\n\n",
	},
}

func FuzzStream(f *testing.F) { streams.Fuzz(f) }

func FuzzSequence(f *testing.F) {
	streams.FuzzMoves(f,
		[]byte{5, 0, 1, 2, 6, 10, 12, 13, 7, 11, 14, 8, 0},
		[]byte{16, 18, 18, 19, 20, 21, 9, 22, 17, 9, 5, 0, 0, 26, 6, 1},
		[]byte{0, 4, 3, 0, 23, 24, 25, 27, 28, 27, 29, 30, 29, 0},
		[]byte{31, 32, 31, 33, 34, 34, 35, 36, 37, 38, 0},
		[]byte{15, 0, 0}, // a piece of no call
		[]byte{16, 18, 0, 0, 18, 18, 0, 2},
		[]byte{11, 8, 39, 40, 41, 3},
		[]byte{38, 4},
	)
}

// menu has the events that an answer may have next.
var menu = []string{
	textDelta("a"), textDelta(`\ud83d`), textDelta(`\ude00`), textDelta(""), textDelta(`\"`),
	blockStart("0", `{"type":"text","text":""}`), blockStop("0"), blockStop("1"), blockStop("2"), blockStop("3"),
	blockStart("1", `{"type":"tool_use","id":"t1","name":"f","input":{}}`),
	blockStart("2", `{"type":"tool_use","id":"t1","name":"g","input":{"a":1}}`),
	blockDelta("1", `{"type":"input_json_delta","partial_json":"{"}`), blockDelta("1", `{"type":"input_json_delta","partial_json":"}"}`),
	blockDelta("2", `{"type":"input_json_delta","partial_json":"[]"}`), blockDelta("2", `{"type":"input_json_delta","partial_json":"\ud83d"}`),
	blockStart("3", `{"type":"thinking","thinking":""}`), blockStart("3", `{"type":"thinking","thinking":"x","signature":"s"}`),
	blockDelta("3", `{"type":"thinking_delta","thinking":"hm"}`), blockDelta("3", `{"type":"thinking_delta","thinking":"\ud83d"}`),
	blockDelta("3", `{"type":"signature_delta","signature":"sig"}`), blockDelta("3", `{"type":"signature_delta","signature":"gis"}`),
	blockStart("4", `{"type":"redacted_thinking","data":"d"}`), blockStart("5", `{"type":"server_tool_use","id":"s","name":"w","input":{}}`),
	blockDelta("5", `{"type":"input_json_delta","partial_json":"q"}`), blockDelta("5", `{"type":"text_delta","text":"hidden"}`),
	blockDelta("0", `{"type":"citations_delta","citation":{"url":"u","title":"t"}}`), blockDelta("0", `{"type":"text_delta","text":"a","thinking":"b"}`),
	blockDelta("0", `{"type":"text_delta","text":"a","thinking":"c"}`), blockDelta("0", `{"type":"mystery","text":"a"}`), blockDelta("0", `{"type":"mystery","text":"b"}`),
	event("content_block_delta", `"delta":{"type":"text_delta","text":"x"}`), event("content_block_delta", `"delta":{"type":"text_delta","text":"y"}`),
	event("content_block_stop", ""), blockDelta("9", `{"type":"thinking_delta","thinking":"new"}`), event("ping", ""), event("mystery", `"x":1`),
	event("message_delta", `"delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":7}`), event("message_delta", `"delta":{"stop_reason":"refusal","stop_details":{"explanation":"no"}}`),
	started, "data: [DONE]\n\n", ": comment\n\n",
}

// models have all kinds of rules.
var models = []string{"claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-4-8", "claude-sonnet-4-6", plainModel, "glm-5"}

func FuzzRequest(f *testing.F) {
	translatetest.Requests{
		Accept: translatetest.Accepted(params.ParseChat),
		Translate: func(body string, options byte) ([]byte, error) {
			r, err := translateBody(body, forModel(models[int(options)%len(models)]))
			return r.messages, err
		},
		Sent: func(t *testing.T, sent *jsonscan.Body, _ string, _ byte) {
			for _, key := range []string{"model", "max_tokens", "messages"} {
				if _, ok := sent.Find(key); !ok {
					t.Fatalf("%s has no %s", sent.Data(), key)
				}
			}
		},
	}.Fuzz(f, `{"model":"m","messages":[{"role":"tool","tool_call_id":"c","content":[]}],"tools":[null],"n":2}`)
}

func FuzzResult(f *testing.F) {
	original := plainOriginal(f)
	translatetest.FuzzResult(f, func(answer string, second bool) ([]byte, openai.Summary, error) {
		return result(original, answer, second)
	})
}
