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

// A client gets a valid response that ends once from any bytes of a provider, and the same response
// in whatever pieces they arrive.
func FuzzStream(f *testing.F) {
	for _, wire := range translatetest.Seeds(f, "stream.txt") {
		f.Add(wire, []byte{0})
	}
	f.Fuzz(func(t *testing.T, wire string, sizes []byte) { checkStream(t, wire, sizes) })
}

func checkStream(t *testing.T, wire string, sizes []byte) {
	for _, request := range []string{plainRequest, toolRequest} {
		checkStreamOf(t, originalOf(t, request), wire, sizes)
	}
}

func checkStreamOf(t *testing.T, original *responsesonchat.Original, wire string, sizes []byte) {
	out, err := stream(original, wire)
	terminal, bad := checkEvents(out)
	if bad != nil {
		t.Fatalf("%v\nin %s", bad, out)
	}
	if (terminal == "response.failed") != (err != nil) {
		t.Fatalf("%s, error %v", terminal, err)
	}
	if err == nil && !strings.Contains(wire, "finish_reason") && !strings.Contains(wire, "[DONE]") && !strings.Contains(wire, `\u`) {
		t.Fatalf("%s of a stream without an end", terminal)
	}
	translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream {
		return responsesonchat.NewStream(original, translatetest.NewCall(), counter{})
	})
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

// Any sequence of deltas, with any end, makes a valid stream.
func FuzzSequence(f *testing.F) {
	f.Add([]byte{0, 7, 11, 13, 12, 14, 0}, byte(0))
	f.Add([]byte{1, 1, 2, 6, 0, 10, 5}, byte(1))
	f.Add([]byte{8, 15, 9, 3, 4}, byte(2))
	f.Add([]byte{0, 16}, byte(3))
	f.Add([]byte{0, 7, 23, 24, 7, 9, 25, 25, 26, 27, 28, 27, 11, 12, 29, 12, 0, 17, 30}, byte(1))
	f.Add([]byte{0, 17, 17, 18, 19, 17, 20, 20, 8, 8, 21, 22, 0, 0}, byte(0))
	f.Fuzz(func(t *testing.T, moves []byte, end byte) {
		var wire strings.Builder
		for _, move := range moves[:min(len(moves), 64)] {
			wire.WriteString(translatetest.Chunk(menu[int(move)%len(menu)], translatetest.Null))
		}
		last := []string{translatetest.Chunk(`{}`, translatetest.Stop), translatetest.Chunk(`{}`, `"length"`), translatetest.Ended, "", "data: {\n\n", "event: error\ndata: {}\n\n"}[end%6]
		checkStream(t, wire.String()+last, moves)
	})
}

// A request is refused by name, or asks a provider what it can read and its answer repeats it in a
// valid response.
func FuzzRequest(f *testing.F) {
	for _, body := range translatetest.Seeds(f, "request.json") {
		f.Add(body, true)
	}
	f.Add(`{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":[]}],"tools":[null]}`, false)
	f.Fuzz(func(t *testing.T, body string, option bool) {
		var b, sent jsonscan.Body
		if b.Parse([]byte(body)) != nil {
			return
		}
		if _, err := params.ParseResponses(&b); err != nil {
			return
		}
		chat, original, err := translateBody(body, responsesonchat.Options{Chat: chat.Options{DeveloperRole: option, ReasoningContent: option}})
		if err != nil {
			if e := translatetest.MustFail(t, err); e.HTTPStatus() != 400 || e.Param == "" && !strings.Contains(body, `""`) {
				t.Fatalf("refused by %v, param %q", e, e.Param)
			}
			return
		}
		if err := sent.Parse(chat); err != nil {
			t.Fatalf("%s: %v", chat, err)
		}
		if _, err := params.ParseChat(&sent); err != nil {
			t.Fatalf("%s: %v", chat, err)
		}
		out, _, err := responsesonchat.Result(nil, []byte(`{"choices":[{"message":{"content":"a"}}]}`), original, translatetest.NewCall(), counter{})
		if err != nil || !json.Valid(out) || strings.ContainsAny(string(out), "\r\n") {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
