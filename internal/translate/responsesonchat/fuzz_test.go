package responsesonchat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chat"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// A client gets a valid response that ends once from any bytes of a provider, and the same in whatever pieces
// they arrive.
var streams = translatetest.Streams{
	Check: func(t *testing.T, wire string, sizes []byte, _ bool) {
		for _, request := range []string{plainRequest, toolRequest} {
			original := originalOf(t, request)
			out, err := stream(original, wire)
			terminal, bad := checkEvents(out)
			if bad != nil {
				t.Fatalf("%v\nin %s", bad, out)
			}
			translatetest.CheckEnd(t, wire, terminal == "response.failed", err, "finish_reason", "[DONE]")
			translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream {
				return responsesonchat.NewStream(original, translatetest.NewCall(), counter{})
			})
		}
	},
	Menu: translatetest.Deltas(menu...), Ends: translatetest.ChatEnds,
}

func FuzzStream(f *testing.F) { streams.Fuzz(f) }

func FuzzSequence(f *testing.F) {
	streams.FuzzMoves(f,
		[]byte{0, 7, 11, 13, 12, 14, 0, 0},
		[]byte{1, 1, 2, 6, 0, 10, 5, 1},
		[]byte{8, 15, 9, 3, 4, 2},
		[]byte{0, 16, 3},
		[]byte{0, 7, 23, 24, 7, 9, 25, 25, 26, 27, 28, 27, 11, 12, 29, 12, 0, 17, 30, 1},
		[]byte{0, 17, 17, 18, 19, 17, 20, 20, 8, 8, 21, 22, 0, 0, 0},
	)
}

// menu has the deltas that may come next.
var menu = []string{
	`{"content":"a"}`, `{"content":"\ud83d"}`, `{"content":"\ude00"}`, `{"content":""}`, `{"content":null}`, `{"role":"assistant"}`,
	`{"refusal":"r"}`, `{"reasoning":"t"}`, `{"reasoning_content":"t","content":"a"}`, `{"reasoning_details":[{"text":"d"}]}`,
	`{"annotations":[{"type":"url_citation","url_citation":{"url":"u"}}]}`,
	`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`,
	`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`,
	`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g"}}]}`,
	`{"tool_calls":[{"index":1,"function":{"arguments":"\\"}},{"index":0,"function":{"arguments":"1"}}]}`,
	`{"content":[{"type":"text","text":"p"},{"type":"thinking","thinking":"q"}]}`,
	`{"images":[{}]}`,
	`{"content":"b"}`, `{"content":"\"\\"}`, `{"content":"\\"}`, `{"content":"x","refusal":"y"}`, `{"content":"\"},\"refusal\":\"z"}`,
	`{"content":"x"},"x":{"content":"y"}`,
	`{"reasoning":"u"}`, `{"reasoning":""}`, `{"reasoning_content":"u"}`, `{"reasoning":"u","reasoning_content":"v"}`, `{"content":"","reasoning_content":"w"}`,
	`{"content":"","reasoning_content":"x"}`, `{"tool_calls":[{"index":0,"function":{"arguments":"[1"}}]}`, `{"content":"z"},"logprobs":null`,
}

// The answer repeats the request in a valid response.
func FuzzRequest(f *testing.F) {
	options := func(n byte) responsesonchat.Options {
		return responsesonchat.Options{Chat: chat.Options{DeveloperRole: n%2 == 0, ReasoningContent: n%2 == 0}}
	}
	translatetest.Requests{
		Accept: translatetest.Accepted(params.ParseResponses),
		Translate: func(body string, n byte) ([]byte, error) {
			chat, _, err := translateBody(body, options(n))
			return chat, err
		},
		Sent: func(t *testing.T, sent *jsonscan.Body, body string, n byte) {
			translatetest.Parsed(params.ParseChat)(t, sent, body, n)
			_, original, _ := translateBody(body, options(n))
			out, _, err := responsesonchat.Result(nil, []byte(`{"choices":[{"message":{"content":"a"}}]}`), original, translatetest.NewCall(), counter{})
			if err != nil || !json.Valid(out) || strings.ContainsAny(string(out), "\r\n") {
				t.Fatalf("%v: %s", err, out)
			}
		},
	}.Fuzz(f, `{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":[]}],"tools":[null]}`)
}
