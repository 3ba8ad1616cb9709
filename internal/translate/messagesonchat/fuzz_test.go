package messagesonchat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chat"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// A client gets a valid message that ends once from any bytes of a provider, and the same message
// in whatever pieces they arrive.
func FuzzStream(f *testing.F) {
	for _, wire := range translatetest.Seeds(f, "stream.txt") {
		f.Add(wire, []byte{0})
	}
	f.Fuzz(func(t *testing.T, wire string, sizes []byte) { checkStream(t, wire, sizes) })
}

func checkStream(t *testing.T, wire string, sizes []byte) {
	original := originalOf(t, thinkingRequest)
	out, err := stream(original, wire)
	message, bad := accumulate(out)
	if bad == nil && message != nil {
		bad = checkWhole(message)
	}
	if bad != nil {
		t.Fatalf("%v\nin %s", bad, out)
	}
	if (message == nil) != (err != nil) {
		t.Fatalf("message %v, error %v", message, err)
	}
	if err == nil && !strings.Contains(wire, "finish_reason") && !strings.Contains(wire, "[DONE]") && !strings.Contains(wire, `\u`) {
		t.Fatal("success of a stream without an end")
	}
	translatetest.CheckSame(t, out, wire, sizes, func() openai.Stream {
		return messagesonchat.NewStream(original, translatetest.NewCall(), messageID)
	})
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

// Any sequence of deltas, with any end, makes a valid stream.
func FuzzSequence(f *testing.F) {
	f.Add([]byte{0, 7, 11, 13, 14, 12, 0}, byte(0))
	f.Add([]byte{1, 1, 2, 6, 0, 10, 5}, byte(1))
	f.Add([]byte{8, 19, 9, 3, 4}, byte(2))
	f.Add([]byte{0, 20}, byte(3))
	f.Add([]byte{11, 13, 15, 0, 7, 14, 12, 17, 18}, byte(0))
	f.Add([]byte{11, 12, 13, 16, 15, 12}, byte(1))
	f.Add([]byte{11, 14, 0, 13}, byte(2))
	f.Add([]byte{33, 33, 34, 0, 35, 13, 35, 7, 35, 34}, byte(0))
	f.Add([]byte{0, 21, 21, 22, 23, 21, 24, 24, 8, 8, 25, 26, 0, 0}, byte(0))
	f.Fuzz(func(t *testing.T, moves []byte, end byte) {
		var wire strings.Builder
		for _, move := range moves[:min(len(moves), 64)] {
			wire.WriteString(translatetest.Chunk(menu[int(move)%len(menu)], translatetest.Null))
		}
		last := []string{translatetest.Chunk(`{}`, translatetest.Stop), translatetest.Chunk(`{}`, `"length"`), translatetest.Ended, "", "data: {\n\n", "event: error\ndata: {}\n\n"}[end%6]
		checkStream(t, wire.String()+last, moves)
	})
}

// A request is refused by name, or asks a provider what it can read.
func FuzzRequest(f *testing.F) {
	for _, body := range translatetest.Seeds(f, "request.json") {
		f.Add(body, true)
	}
	f.Add(`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[]}]}],"tools":[null]}`, false)
	f.Fuzz(func(t *testing.T, body string, option bool) {
		var b, sent jsonscan.Body
		if b.Parse([]byte(body)) != nil {
			return
		}
		chat, original, err := translateBody(body, messagesonchat.Options{OpenRouter: option, Responses: !option, Prefill: option, Chat: chat.Options{Cache: option, Links: option, ReasoningContent: option}})
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
		out, _, err := messagesonchat.Result(nil, []byte(`{"choices":[{"message":{"content":"a"}}]}`), original, translatetest.NewCall(), messageID)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
