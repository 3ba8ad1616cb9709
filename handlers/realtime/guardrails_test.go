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

func words(t testing.TB, name string, on guardrail.Direction, action judge.Action, word string) guardrail.Guardrail {
	t.Helper()
	g, err := judge.Compile(judge.Spec{Name: name, On: on, Rules: []judge.Rule{{Detector: "words", Action: action, Words: []string{word}}}})
	handlerstest.Must(t, err)
	return g
}

func guarded(all ...guardrail.Guardrail) *policy.Guardrails {
	return &policy.Guardrails{All: all, Join: judge.Join}
}

// Calls of tools are judged wherever they stand.
func TestGuardrailsReadTheCallsOfTools(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Guardrails: guarded(words(t, "out", guardrail.Output, judge.Redact, "Paris"))})
	c := v.talk()
	c.ask("tool")
	c.until("conversation.item.done") // of the user
	for _, name := range []string{"conversation.item.done", "response.output_item.done", "response.done"} {
		event, _ := c.until(name)
		if text, _ := json.Marshal(event); strings.Contains(string(text), "Paris") || !strings.Contains(string(text), "REDACTED") {
			t.Errorf("%s", text)
		}
	}
}

// Guardrails read what a client writes and what the model answers.
func TestGuardrailsReadASession(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Guardrails: guarded(
		words(t, "in", guardrail.Input, judge.Deny, "bomb"), words(t, "soft", guardrail.Input, judge.Redact, "Alice"),
		words(t, "out", guardrail.Output, judge.Redact, "Bob"), words(t, "stop", guardrail.Output, judge.Deny, "forbidden"),
	)})
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

// What may not be said is taken out of the conversation, and nothing that answers it is heard.
func TestATurnThatMayNotBeSaidIsForgotten(t *testing.T) {
	v := startVoice(t, handlerstest.Setup{Guardrails: guarded(words(t, "in", guardrail.Input, judge.Deny, "secret"))})
	c := v.talk()
	c.say(`{"type":"session.update","session":{"type":"realtime","audio":{"input":{"turn_detection":{"type":"server_vad"},"transcription":{"model":"n"}}}}}`)
	c.say(`{"type":"input_audio_buffer.commit"}`)
	for range 2 { // of the transcript, and of the answer
		if e := c.fault(); e.Code != "guardrail_blocked" {
			t.Errorf("%+v", e)
		}
	}
	done, said := c.until("response.done")
	if output, _ := json.Marshal(member(done, "response", "output")); said != "" || string(output) != "[]" {
		t.Errorf("%q, %v", said, done)
	}
	c.ask("hello") // what is written is answered, and no error of the gateway's own events comes
	if _, said := c.until("response.done"); said != "You said hello" {
		t.Errorf("%q", said)
	}
	item := member(v.sent("conversation.item.delete"), "item_id")
	if committed := v.Got("response.cancel"); item == nil || item == "" || len(committed) != 1 {
		t.Errorf("%v, %v", item, committed)
	}
}
