package chatonconverse_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonconverse"
)

// event is a frame with an event, padded as Bedrock does.
func event(name, payload string) []byte {
	return clouds.Frame(strings.TrimSuffix(payload, "}")+`,"p":"abcdefgh"}`, eventHeaders(name)...)
}

func eventHeaders(name string) []string {
	return []string{":message-type", "event", ":event-type", name, ":content-type", "application/json"}
}

func exception(name, message string) []byte {
	return clouds.Frame(`{"message":"`+message+`"}`, ":message-type", "exception", ":exception-type", name)
}

// answered is what a call of the model looks like: text, thoughts, a call with arguments in pieces
// and one without any, and usage behind the end.
var answered = [][]byte{
	event("messageStart", `{"role":"assistant"}`),
	event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"text":"Hm."}}}`),
	event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"reasoningContent":{"signature":"c2ln"}}}`),
	event("contentBlockStop", `{"contentBlockIndex":0}`),
	event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"Gr\u00fc\u00dfe "}}`),
	event("contentBlockDelta", `{"contentBlockIndex":1,"delta":{"text":"aus \"K\""}}`),
	event("contentBlockStop", `{"contentBlockIndex":1}`),
	event("contentBlockStart", `{"contentBlockIndex":2,"start":{"toolUse":{"toolUseId":"tooluse_1","name":"f"}}}`),
	event("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":"{\"a\""}}}`),
	event("contentBlockDelta", `{"contentBlockIndex":2,"delta":{"toolUse":{"input":":1}"}}}`),
	event("contentBlockStop", `{"contentBlockIndex":2}`),
	event("contentBlockStart", `{"contentBlockIndex":3,"start":{"toolUse":{"toolUseId":"tooluse_2","name":"g"}}}`),
	event("contentBlockStop", `{"contentBlockIndex":3}`),
	event("messageStop", `{"stopReason":"tool_use"}`),
	event("metadata", `{"usage":{"inputTokens":10,"outputTokens":20,"totalTokens":145,"cacheReadInputTokens":100,"cacheWriteInputTokens":15,"cacheDetails":[{"ttl":"1h","inputTokens":5},{"ttl":"5m","inputTokens":10}]},"metrics":{"latencyMs":1},"serviceTier":{"type":"flex"}}`),
}

// said is what comes of it, by a reader of chat completions.
const said = `Grüße aus "K"`

func TestAStreamedAnswerIsThatOfAWholeOne(t *testing.T) {
	_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wire := bytes.Join(answered, nil)
	want, err := io.ReadAll(original.Stream(bytes.NewReader(wire), translatetest.NewCall(), nil))
	if err != nil {
		t.Fatal(err)
	}
	chat, err := translatetest.CheckChunks(string(want))
	if err != nil {
		t.Fatalf("%v\n%s", err, want)
	}
	whole, err := original.Whole(strings.NewReader(`{"output":{"message":{"role":"assistant","content":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},`+
		`{"text":"Gr\u00fc\u00dfe aus \"K\""},{"toolUse":{"toolUseId":"tooluse_1","name":"f","input":{"a":1}}},{"toolUse":{"toolUseId":"tooluse_2","name":"g","input":{}}}]}},`+
		`"stopReason":"tool_use","usage":{"inputTokens":10,"outputTokens":20,"cacheReadInputTokens":100,"cacheWriteInputTokens":15,"cacheDetails":[{"ttl":"1h","inputTokens":5}]},"metrics":{},"serviceTier":{"type":"flex"}}`),
		translatetest.NewCall(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := translatetest.ReadCompletion(t, whole).String(); got != chat.String() || !strings.Contains(got, said) {
		t.Errorf("whole\n%s\nstreamed\n%s", got, chat)
	}
	for _, part := range []string{`"prompt_tokens":125`, `"cached_tokens":100`, `"completion_tokens":20`, `"finish_reason":"tool_calls"`, `"Hm."`, `"service_tier":"flex"`} {
		if !strings.Contains(string(want), part) || !strings.Contains(string(whole), part) {
			t.Errorf("no %s in\n%s\n%s", part, want, whole)
		}
	}
	for name, r := range map[string]io.Reader{"bytes": iotest.OneByteReader(bytes.NewReader(wire)), "halves": iotest.HalfReader(bytes.NewReader(wire))} {
		if got, err := io.ReadAll(original.Stream(r, translatetest.NewCall(), nil)); err != nil || string(got) != string(want) {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
}

// What a Claude has signed returns in the form in which the request takes it, whole and streamed.
// In a whole answer the text that is cited stands in a block with its citations.
func TestTextWithCitationsIsText(t *testing.T) {
	_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	whole, err := original.Whole(strings.NewReader(`{"output":{"message":{"role":"assistant","content":[{"text":"It says: "},{"citationsContent":{`+
		`"content":[{"text":"a \"b\""},{"text":" c"}],"citations":[{"title":"t","sourceContent":[{"text":"source"}],"location":{"documentChar":{"documentIndex":0,"start":0,"end":9}}}]}},`+
		`{"text":"."}]}},"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":2}}`), translatetest.NewCall(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if err := json.Unmarshal(whole, &got); err != nil || len(got.Choices) != 1 || got.Choices[0].Message.Content != `It says: a "b" c.` {
		t.Errorf("%v: %s", err, whole)
	}
}

func TestThoughtsOfClaudeComeWithTheirSignatures(t *testing.T) {
	_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{UpstreamModel: "anthropic.claude-sonnet-4-5-20250929-v1:0", Origin: "b/m"})
	if err != nil {
		t.Fatal(err)
	}
	thought := func(index int, member, value string) []byte {
		return event("contentBlockDelta", fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"reasoningContent":{%q:%q}}}`, index, member, value))
	}
	var sealed []string
	call := translatetest.NewCall()
	call.OnSealed = func(content string) { sealed = append(sealed, content) }
	wire := [][]byte{answered[0], thought(0, "text", "H"), thought(0, "text", "m."), thought(0, "signature", "c2ln"), thought(1, "redactedContent", "cmVk"), thought(2, "text", "So."), answered[13]}
	stream, err := io.ReadAll(original.Stream(bytes.NewReader(bytes.Join(wire, nil)), call, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`"reasoning_details":[{"type":"reasoning.text","text":"H","id":"b/m","format":"anthropic-claude-v1","index":0}]`,
		`"reasoning_details":[{"type":"reasoning.text","text":"m.","format":"anthropic-claude-v1","index":0}]`,
		`"reasoning_details":[{"type":"reasoning.text","signature":"c2ln","format":"anthropic-claude-v1","index":0}]`,
		`"reasoning_details":[{"type":"reasoning.encrypted","data":"cmVk","id":"b/m","format":"anthropic-claude-v1","index":1}]`,
		`"reasoning_details":[{"type":"reasoning.text","text":"So.","id":"b/m","format":"anthropic-claude-v1","index":2}]`,
	} {
		if !strings.Contains(string(stream), part) {
			t.Errorf("no %s in\n%s", part, stream)
		}
	}
	if got := strings.Join(sealed, " "); got != "c2ln cmVk" {
		t.Errorf("sealed: %s", got)
	}
	whole, err := original.Whole(strings.NewReader(`{"output":{"message":{"content":[{"reasoningContent":{"reasoningText":{"text":"Hm.","signature":"c2ln"}}},`+
		`{"reasoningContent":{"redactedContent":"cmVk"}},{"reasoningContent":{"reasoningText":{"text":"So."}}},{"text":"hi"}]}},"stopReason":"end_turn"}`), call, nil)
	const want = `"reasoning_details":[{"type":"reasoning.text","text":"Hm.","signature":"c2ln","id":"b/m","format":"anthropic-claude-v1","index":0},` +
		`{"type":"reasoning.encrypted","data":"cmVk","id":"b/m","format":"anthropic-claude-v1","index":1},` +
		`{"type":"reasoning.text","text":"So.","id":"b/m","format":"anthropic-claude-v1","index":2}]`
	if err != nil || !strings.Contains(string(whole), want) {
		t.Errorf("%v\n%s\nwant\n%s", err, whole, want)
	}
}

func TestAnAnswerThatEndsBadlyHasNoEnd(t *testing.T) {
	_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text := answered[4]
	broken := bytes.Clone(answered[5])
	broken[len(broken)-1] ^= 1
	for name, c := range map[string]struct {
		wire  [][]byte
		shows string // in the stream
		err   string
	}{
		"throttled first":        {[][]byte{exception("throttlingException", "slow down")}, `"code":429`, ""},
		"throttled late":         {[][]byte{text, exception("throttlingException", "slow down")}, `"code":429`, ""},
		"model error":            {[][]byte{text, exception("modelStreamErrorException", "oops")}, `"code":500`, ""},
		"an error frame":         {[][]byte{text, clouds.Frame("", ":message-type", "error", ":error-code", "InternalServerError", ":error-message", "oops")}, `"oops"`, ""},
		"broken checksum":        {[][]byte{text, broken}, `aus`, "cannot be read"},
		"cut":                    {[][]byte{text, answered[5][:20]}, `Gr`, ""},
		"no stop":                {[][]byte{text}, `Gr`, ""},
		"malformed":              {[][]byte{text, event("messageStop", `{"stopReason":"malformed_tool_use"}`)}, `malformed_tool_use`, ""},
		"nameless call":          {[][]byte{event("contentBlockStart", `{"contentBlockIndex":0,"start":{"toolUse":{"toolUseId":"a"}}}`)}, "", "no name"},
		"half an event":          {[][]byte{text, clouds.Frame(`{"contentBlockIndex":1,"delta":{"text":"aus`, eventHeaders("contentBlockDelta")...), answered[13]}, "Gr", "not JSON"},
		"piece of an ended call": {[][]byte{answered[11], answered[12], event("contentBlockDelta", `{"contentBlockIndex":3,"delta":{"toolUse":{"input":"{}"}}}`)}, `"{}"`, "had not begun"},
		"piece of no call":       {[][]byte{event("contentBlockDelta", `{"contentBlockIndex":0,"delta":{"toolUse":{"input":"x"}}}`)}, "", "had not begun"},
	} {
		got, err := io.ReadAll(original.Stream(bytes.NewReader(bytes.Join(c.wire, nil)), translatetest.NewCall(), nil))
		if name == "broken checksum" {
			c.shows = "Gr"
		}
		if strings.Contains(string(got), "[DONE]") || !strings.Contains(string(got), c.shows) {
			t.Errorf("%s: %s", name, got)
		}
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, whole := range []string{`{}`, `[]`, `{"output":{"message":{"content":[{"text":"a"}]}}}`, `{"stopReason":"end_turn","output":{"message":{"content":[{"text":"a`} {
		if out, err := original.Whole(strings.NewReader(whole), translatetest.NewCall(), nil); err == nil {
			t.Errorf("%s: %s", whole, out)
		}
	}
}

// Tokens that were used are paid for, however a whole answer ends.
func TestTheUsageOfAWholeAnswerCountsOnEveryEnding(t *testing.T) {
	_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const usage = `,"usage":{"inputTokens":1009,"outputTokens":2003,"totalTokens":3012}}`
	for name, answer := range map[string]string{
		"malformed tool use": `{"stopReason":"malformed_tool_use","output":{"message":{"content":[]}}`,
		"malformed output":   `{"stopReason":"malformed_model_output","output":{"message":{"content":[{"text":"a"}]}}`,
		"no reason to stop":  `{"output":{"message":{"content":[{"text":"a"}]}}`,
		"no message":         `{"stopReason":"end_turn","output":{}`,
		"nameless call":      `{"stopReason":"tool_use","output":{"message":{"content":[{"toolUse":{"toolUseId":"a"}}]}}`,
		"an answer":          `{"stopReason":"end_turn","output":{"message":{"content":[{"text":"a"}]}}`,
	} {
		out, _ := original.Whole(strings.NewReader(answer+usage), translatetest.NewCall(), nil)
		if _, sum, err := openai.ChatResult(nil, out, translatetest.NewCall()); (err == nil) != (name == "an answer") || sum.Usage.Prompt != 1009 || sum.Usage.Completion != 2003 {
			t.Errorf("%s: %+v, %v\n%s", name, sum, err, out)
		}
	}
}

// A timeout and a client that has left are no fault of the provider's frames.
func TestWhyAStreamCannotBeReadIsNotTakenForABrokenFrame(t *testing.T) {
	_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	silent := errors.New("the provider was silent")
	for _, cut := range []int{0, 3, 10, 40} { // between frames, and within one
		body := io.MultiReader(bytes.NewReader(answered[4]), bytes.NewReader(answered[5][:cut]), iotest.ErrReader(silent))
		if _, err := io.ReadAll(original.Stream(body, translatetest.NewCall(), nil)); err != silent {
			t.Errorf("after %d bytes of a frame: %v", cut, err)
		}
	}
}

// FuzzAnswer checks that the bytes may be cut anywhere.
func FuzzAnswer(f *testing.F) {
	f.Add(bytes.Join(answered, nil))
	f.Add(bytes.Join([][]byte{answered[4], exception("throttlingException", "slow")}, nil))
	f.Fuzz(func(t *testing.T, wire []byte) {
		_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(original.Stream(bytes.NewReader(wire), translatetest.NewCall(), nil))
		again, err2 := io.ReadAll(original.Stream(iotest.OneByteReader(bytes.NewReader(wire)), translatetest.NewCall(), nil))
		if string(got) != string(again) || (err == nil) != (err2 == nil) {
			t.Fatalf("%s %v\nthen\n%s %v", got, err, again, err2)
		}
	})
}

// FuzzEvents puts any payload into a frame that is right, and checks that an answer has an end only
// if all of it was read.
func FuzzEvents(f *testing.F) {
	for i, name := range []string{"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"} {
		f.Add(name, fmt.Sprintf(`{"contentBlockIndex":%d,"delta":{"text":"b","toolUse":{"input":"{}"}},"start":{"toolUse":{"name":"f"}},"stopReason":"end_turn","usage":{"inputTokens":1}}`, i))
	}
	_, original, err := request(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, chatonconverse.Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, name, payload string) {
		if len(name) > 100 {
			return
		}
		wire := bytes.Join([][]byte{answered[4], clouds.Frame(payload, eventHeaders(name)...), event("messageStop", `{"stopReason":"end_turn"}`)}, nil)
		got, err := io.ReadAll(original.Stream(bytes.NewReader(wire), translatetest.NewCall(), nil))
		if ended := strings.Contains(string(got), "data: [DONE]\n"); ended != (err == nil) || ended && !json.Valid([]byte(payload)) {
			t.Fatalf("%s %v", got, err)
		}
		if err != nil {
			return
		}
		if _, err := translatetest.CheckChunks(string(got)); err != nil {
			t.Fatalf("%v\n%s", err, got)
		}
	})
}
