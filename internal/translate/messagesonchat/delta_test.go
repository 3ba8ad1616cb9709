package messagesonchat_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// written is an answer as another translation writes it, and as a provider sends it.
var written = []struct {
	delta openai.Delta
	wire  string
}{
	{openai.Delta{Role: true, Content: []byte("null"), Refusal: []byte("null")}, `{"role":"assistant","content":null,"refusal":null}`},
	{openai.Delta{Reasoning: []byte(`"hm"`)}, `{"reasoning_content":"hm"}`},
	{openai.Delta{Content: []byte(`"a"`)}, `{"content":"a"}`},
	{openai.Delta{Call: &openai.CallDelta{Begin: true, ID: []byte(`"call_a"`), Name: []byte(`"f"`), Arguments: []byte(`""`)}},
		`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":""}}]}`},
	{openai.Delta{Call: &openai.CallDelta{Arguments: []byte(`"{}"`)}}, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`},
	{openai.Delta{Call: &openai.CallDelta{Index: 1, Begin: true, Name: []byte(`"g"`)}},
		`{"tool_calls":[{"index":1,"type":"function","function":{"name":"g"}}]}`},
}

// The chunks of another translation become the events of the same chunks of a provider.
func TestAWrittenAnswerIsLikeThatOfAProvider(t *testing.T) {
	const usage = `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`
	var wire strings.Builder
	s := newStream(t)
	var out []byte
	for _, w := range written {
		d := w.delta
		d.ID, d.Created = []byte(`"c1"`), []byte("1700000000")
		out = translatetest.Write(s, out, &d)
		wire.WriteString(translatetest.Chunk(w.wire, translatetest.Null))
	}
	out = translatetest.Write(s, out, &openai.Delta{Finish: "tool_calls", Usage: []byte(usage)})
	if !s.Done() {
		t.Error("expects more")
	}
	out = translatetest.Write(s, out, &openai.Delta{Content: []byte(`"late"`)})
	out, err := s.Close(out, nil)
	if err != nil {
		t.Fatal(err)
	}
	wire.WriteString(strings.Replace(translatetest.Chunk(`{}`, `"tool_calls"`), "}]}", `}],"usage":`+usage+"}", 1))
	provider := messagesonchat.NewStream(originalOf(t, thinkingRequest), translatetest.NewCall(), messageID)
	want, err := translatetest.Drive(provider, strings.NewReader(wire.String()))
	if err != nil || string(out) != want {
		t.Errorf("%v\n got %s\nwant %s", err, out, want)
	}
	if got, want := s.Summary(), provider.Summary(); got != want {
		t.Errorf("\n got  %+v\n want %+v", got, want)
	}
	if _, err := accumulate(string(out)); err != nil {
		t.Error(err)
	}
}
