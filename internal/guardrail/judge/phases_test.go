package judge_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// Text that is held back is sent before the next phase of its choice. Clients, and translations in
// particular, read texts and tool calls in order.
func TestHeldTextIsSentBeforeTheNextPhase(t *testing.T) {
	set := compiled(t, judge.Spec{Name: "g", Rules: []judge.Rule{{Action: judge.Redact, Detector: judge.Email}}})
	for name, c := range map[string]struct{ deltas, want []string }{
		"thought, text, call": {
			[]string{`{"role":"assistant","content":"","reasoning_content":"I need the weather"}`, `{"reasoning_content":null,"content":"Let me look"}`,
				`{"content":"","tool_calls":[{"index":0,"id":"call_1","function":{"name":"get","arguments":""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`},
			[]string{`"reasoning_content":"I need the "`, `"reasoning_content":"weather"`, `"content":"Let me "`, `"content":"look"`, `"name":"get"`, `"arguments":"{}"`},
		},
		"one thought by two names": {
			[]string{`{"reasoning":"I see","reasoning_content":"I see"}`, `{"content":"Yes."}`},
			[]string{`"reasoning":"I ","reasoning_content":"I "`, `"delta":{"reasoning":"see","reasoning_content":"see"}`, `"content":"Yes."`},
		},
		"a call between texts": {
			[]string{`{"content":"one"}`, `{"tool_calls":[{"index":0,"id":"call_1","function":{"name":"f","arguments":"{\"a\":1}"}}]}`, `{"content":"two"}`},
			[]string{`"content":"one"`, `"name":"f"`, `"content":"two"`},
		},
	} {
		s := newWire(set, guardrail.Chat)
		var out strings.Builder
		push := func(data string) {
			events, v, err := s.push("", data)
			if v != nil || err != nil {
				t.Fatal(v, err)
			}
			for _, e := range events {
				out.Write(e.data)
				out.WriteByte('\n')
			}
		}
		for _, delta := range c.deltas {
			push(`{"id":"c","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]}`)
		}
		push(`{"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
		rest := out.String()
		for _, want := range c.want {
			i := strings.Index(rest, want)
			if i < 0 {
				t.Errorf("%s: %s is not there, or not in its place:\n%s", name, want, out.String())
				break
			}
			rest = rest[i+len(want):]
		}
	}
}
