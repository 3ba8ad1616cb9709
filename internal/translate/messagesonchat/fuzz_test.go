package messagesonchat_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chat"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// A client gets a valid message that ends once from any bytes of a provider, and the same in whatever pieces
// they arrive.
var streams = translatetest.Streams{
	Check: func(t *testing.T, wire string, sizes []byte, _ bool) {
		original := originalOf(t, thinkingRequest)
		out, err := stream(original, wire)
		message, bad := accumulate(out)
		if bad == nil && message != nil {
			bad = checkWhole(message)
		}
		if bad != nil {
			t.Fatalf("%v\nin %s", bad, out)
		}
		translatetest.CheckEnd(t, wire, message == nil, err, "finish_reason", "[DONE]")
		translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream {
			return messagesonchat.NewStream(original, translatetest.NewCall(), messageID)
		})
	},
	Menu: translatetest.Deltas(menu...), Ends: translatetest.ChatEnds,
}

func FuzzStream(f *testing.F) { streams.Fuzz(f) }

func FuzzSequence(f *testing.F) {
	streams.FuzzMoves(f,
		[]byte{0, 7, 11, 13, 14, 12, 0, 0},
		[]byte{1, 1, 2, 6, 0, 10, 5, 1},
		[]byte{8, 19, 9, 3, 4, 2},
		[]byte{0, 20, 3},
		[]byte{11, 13, 15, 0, 7, 14, 12, 17, 18, 0},
		[]byte{11, 12, 13, 16, 15, 12, 1},
		[]byte{11, 14, 0, 13, 2},
		[]byte{33, 33, 34, 0, 35, 13, 35, 7, 35, 34, 0},
		[]byte{0, 21, 21, 22, 23, 21, 24, 24, 8, 8, 25, 26, 0, 0, 0},
	)
}

// menu has the deltas that may come next.
var menu = []string{
	`{"content":"a"}`, `{"content":"\ud83d"}`, `{"content":"\ude00"}`, `{"content":""}`, `{"content":null}`, `{"role":"assistant"}`,
	`{"refusal":"r"}`, `{"reasoning":"t"}`, `{"reasoning_content":"t","content":"a"}`, `{"reasoning_details":[{"text":"d"}]}`,
	`{"annotations":[{"type":"url_citation","url_citation":{"url":"u"}}]}`,
	`{"tool_calls":[{"index":0,"id":"a:1","function":{"name":"f","arguments":"{"}}]}`,
	`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`,
	`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g"}}]}`,
	`{"tool_calls":[{"index":1,"function":{"arguments":"{}"}},{"index":0,"function":{"arguments":"\"k\":\"\\\\\\\"}\""}}]}`,
	`{"tool_calls":[{"index":2,"id":"c","function":{"name":"h","arguments":"{}"}}]}`,
	`{"tool_calls":[{"index":1,"function":{"arguments":"\u007b\"x\":[{\"y\":1}]\u007d"}}]}`,
	`{"tool_calls":[{"index":0,"function":{"arguments":" \n"}}]}`,
	`{"tool_calls":[{"index":3,"id":"d","function":{"name":"i","arguments":"null"}}]}`,
	`{"content":[{"type":"text","text":"p"},{"type":"thinking","thinking":"q"}]}`,
	`{"images":[{}]}`,
	`{"content":"b"}`, `{"content":"\"\\"}`, `{"content":"\\"}`, `{"content":"x","refusal":"y"}`, `{"content":"\"},\"refusal\":\"z"}`,
	`{"content":"x"},"x":{"content":"y"}`,
	`{"reasoning":"u"}`, `{"reasoning":""}`, `{"reasoning_content":"u"}`, `{"reasoning":"u","reasoning_content":"v"}`, `{"content":"","reasoning_content":"w"}`,
	`{"content":"z"},"logprobs":null`,
	`{"reasoning_content":"s","reasoning_details":[{"type":"reasoning.text","text":"s"}]}`, `{"reasoning_details":[{"type":"reasoning.text","signature":"s"}]}`,
	`{"reasoning_details":[{"type":"reasoning.encrypted","data":"d","id":"a"},7,{"data":"d"},{"type":"reasoning.encrypted","data":"e"}]}`,
}

func FuzzRequest(f *testing.F) {
	options := func(n byte) messagesonchat.Options {
		on := n%2 == 0
		return messagesonchat.Options{OpenRouter: on, Responses: !on, Prefill: on, Chat: chat.Options{Cache: on, Links: on, ReasoningContent: on}}
	}
	translatetest.Requests{
		Translate: func(body string, n byte) ([]byte, error) {
			chat, _, err := translateBody(body, options(n))
			return chat, err
		},
		Sent: func(t *testing.T, sent *jsonscan.Body, body string, n byte) {
			translatetest.Parsed(params.ParseChat)(t, sent, body, n)
			_, original, _ := translateBody(body, options(n))
			out, _, err := messagesonchat.Result(nil, []byte(`{"choices":[{"message":{"content":"a"}}]}`), original, translatetest.NewCall(), messageID)
			if err != nil || !json.Valid(out) {
				t.Fatalf("%v: %s", err, out)
			}
		},
	}.Fuzz(f, `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[]}]}],"tools":[null]}`)
}
