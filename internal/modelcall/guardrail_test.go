package modelcall

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

func words(t *testing.T, action judge.Action, on guardrail.Direction) *judge.Guardrail {
	t.Helper()
	g, err := judge.Compile(judge.Spec{Name: "words", On: on, Rules: []judge.Rule{
		{Action: action, Detector: judge.Words, Words: []string{"mellon"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func guarded(all ...guardrail.Guardrail) func(*rig) {
	return func(r *rig) { r.Guardrails.All = all }
}

// A body that something was taken out of is a second one beside the first.
func TestARedactedBodyCountsAsMemory(t *testing.T) {
	body := `{"model":"acme/m","messages":[{"role":"user","content":"mellon ` + strings.Repeat("x", 600<<10) + `"}]}`
	for limit, code := range map[int64]apierror.Code{64 << 20: "", 1600 << 10: apierror.GatewayBusy} {
		r := newRig(t, answering(200, chatAnswerBody), guarded(words(t, judge.Redact, guardrail.Input)))
		r.memory.SetLimit(limit)
		c := r.begin(t, body)
		err := c.admit(t.Context())
		if code != "" {
			wantRefusal(t, err, code, "")
		} else if err != nil || strings.Contains(string(c.body.Data()), "mellon") || r.memory.Used() < 2*600<<10 {
			t.Errorf("%v: %d bytes are counted", err, r.memory.Used())
		}
		c.req.Finish()
		if used := r.memory.Used(); used != 0 {
			t.Errorf("limit %d: %d bytes were not given back", limit, used)
		}
	}
}

// A text that no moderator judged is the caller's mistake, also if calls go on while the moderator
// fails.
func TestATextTooLongForAWebhookIsTooLarge(t *testing.T) {
	hook, err := judge.Compile(judge.Spec{Name: "hook", On: guardrail.Input, Webhook: &judge.Webhook{
		URL: "https://moderator.example/", FailOpen: true, Transport: answering(200, `{"action":"allow"}`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, answering(200, chatAnswerBody), guarded(hook))
	_, refusal := r.serve(t, wire.Chat, `{"model":"acme/m","messages":[`+strings.Repeat(`"x",`, guardrail.MaxHookTexts)+`"x"]}`)
	wantRefusal(t, refusal, apierror.RequestTooLarge, "10000 texts")
}

func TestADeniedTextIsNotSentOrShown(t *testing.T) {
	denied := strings.Replace(hello, "hello", "mellon", 1)
	r := newRig(t, roundTrip(nil), guarded(words(t, judge.Deny, guardrail.Input)))
	_, refusal := r.serve(t, wire.Chat, denied)
	wantRefusal(t, refusal, apierror.GuardrailBlocked, `refused by the guardrail "words": words`)
	if len(refusal.Reasons) != 1 || refusal.Reasons[0] != "words" {
		t.Errorf("reasons %q", refusal.Reasons)
	}

	r = newRig(t, answering(200, strings.Replace(chatAnswerBody, "Hello.", "mellon", 1)), guarded(words(t, judge.Deny, guardrail.Output)))
	w, refusal := r.serve(t, wire.Chat, hello)
	if wantRefusal(t, refusal, apierror.GuardrailBlocked, "words"); w.Body.Len() > 0 {
		t.Errorf("shown: %s", w.Body)
	}
	if row := r.rows(t)[0]; row.CompletionTokens != 4 || row.UsageSource != "provider" {
		t.Errorf("the usage of a refused answer is real: %+v", row)
	}
}
