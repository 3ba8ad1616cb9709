package judge_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// A text that goes on after its end, as some providers send it, is a text of its own.
func TestATextThatGoesOnAfterItsEndIsSentToo(t *testing.T) {
	for _, test := range []struct {
		wire   guardrail.Wire
		events []string
	}{
		{guardrail.Chat, []string{`{"choices":[{"delta":{"content":"a forb"},"finish_reason":"stop"}]}`, `{"choices":[{"delta":{"content":"forb"}}]}`}},
		{guardrail.Chat, []string{`{"choices":[{"delta":{"content":"a forb"}}]}`, `[DONE]`, `{"choices":[{"delta":{"content":"forb"}}]}`}},
		{guardrail.Responses, []string{`{"type":"response.x.delta","delta":"forb"}`, `{"type":"response.x.done"}`, `{"type":"response.x.delta","delta":"forb"}`}},
	} {
		got := sentOn(t, forbidden(t, judge.Redact).Stream(test.wire), test.events...)
		if last := got[len(got)-1]; !strings.Contains(last, `"forb"`) || strings.Count(strings.Join(got, ""), "forb") != 2 {
			t.Errorf("got %q", got)
		}
	}
}

// A number is held until it ends, although no rule holds it: it may have to become a string.
func TestANumberAtTheEndOfArgumentsIsSent(t *testing.T) {
	got := sentOn(t, forbidden(t, judge.Redact).Stream(guardrail.Chat), `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"[12"}}]}}]}`)
	if !jsontest.Has(t, got[0], `{"arguments":"["}`) || !jsontest.Has(t, got[1], `{"arguments":"12"}`) {
		t.Errorf("got %q", got)
	}
}

// What is taken out of pieces and of whole texts is reported, each once.
func TestAStreamReportsWhatItTookOut(t *testing.T) {
	want := []guardrail.Verdict{{Guardrail: "g", Class: "words"}}
	for _, event := range []string{`{"type":"response.completed","response":{"output":["a forbidden b"]}}`, `{"type":"response.x.delta","delta":"a forbidden b"}`} {
		s := forbidden(t, judge.Redact).Stream(guardrail.Responses)
		if got := s.Redacted(); len(got) != 0 {
			t.Errorf("before: %v", got)
		}
		for range 2 {
			if _, v, err := s.Push(openai.NewEvent(nil, []byte(event))); v != nil || err != nil || !slices.Equal(s.Redacted(), want) {
				t.Errorf("%s: %v, %v, %v", event, s.Redacted(), v, err)
			}
		}
	}
}
