package realtime

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

// Guardrails read what a client writes and what the model answers.
func TestGuardrailsReadASession(t *testing.T) {
	words := func(name string, on guardrail.Direction, action judge.Action, word string) guardrail.Guardrail {
		g, err := judge.Compile(judge.Spec{Name: name, On: on, Rules: []judge.Rule{{Detector: "words", Action: action, Words: []string{word}}}})
		handlerstest.Must(t, err)
		return g
	}
	all := []guardrail.Guardrail{
		words("in", guardrail.Input, judge.Deny, "bomb"), words("soft", guardrail.Input, judge.Redact, "Alice"),
		words("out", guardrail.Output, judge.Redact, "Bob"), words("stop", guardrail.Output, judge.Deny, "forbidden"),
	}
	v := startVoice(t, handlerstest.Setup{Guardrails: &policy.Guardrails{All: all, Join: judge.Join}})
	c := v.talk()
	c.ask("a bomb")
	if e := c.fault(); e.Code != "guardrail_blocked" {
		t.Errorf("%+v", e)
	}
	c.until("response.done") // of what was said before: nothing
	c.ask("Alice and Bob")
	if _, said := c.until("response.done"); said != "You said [REDACTED:words] and [REDACTED:words]" {
		t.Errorf("said %q", said)
	}
	c.ask("what is forbidden to say")
	if e := c.fault(); e.Code != "guardrail_blocked" {
		t.Errorf("%+v", e)
	}
	done, said := c.until("response.done")
	if text, _ := json.Marshal(done); strings.Contains(said+string(text), "forbidden") {
		t.Errorf("%q, %s", said, text)
	}
	if got := v.Got("bomb"); len(got) > 0 {
		t.Errorf("%v", got)
	}
}
