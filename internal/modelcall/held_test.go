package modelcall

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// However a call ends, it holds nothing afterwards: no memory, no concurrency slot of its key or its
// model, no reservation. It has one record.
func TestACallThatHasEndedHoldsNothing(t *testing.T) {
	const model, text = `{"model":"acme/m","max_tokens":100,`, `"messages":[{"role":"user","content":"hello"}]`
	replies := map[string]roundTrip{
		"answer": answering(200, chatAnswerBody), "status": answering(500, "{}"), "nonsense": answering(200, "<html>"), "cut": breaking(`{"id":`),
		"stream": eventsOf(firstWord + lastWord + usageWord + doneWord), "cut stream": eventsOf(firstWord), "failed stream": eventsOf(`data: {"error":{"message":"no"}}` + "\n\n"),
		"panic": func(*http.Request) (*http.Response, error) { panic("a bug") },
	}
	reply := ""
	r := newRig(t, roundTrip(func(request *http.Request) (*http.Response, error) { return replies[reply](request) }), func(r *rig) {
		k := budget(t, "1usd/day")
		k.Subjects[0].Rates = []limits.Rate{{Unit: limits.Requests, Limit: 1000, Window: 60e9}, {Unit: limits.Tokens, Limit: 1 << 30, Window: 60e9}}
		k.Subjects[0].Concurrency = limits.Concurrency{Limit: 5}
		k.Caps = policy.Caps{Messages: 1, Body: 1000}
		limited(k)(r)
		r.Limits.Models = []policy.ModelLimits{{Pattern: "acme/*", Subject: limits.Subject{Name: "model:acme/*", Concurrency: limits.Concurrency{Limit: 5}}}}
		guarded(words(t, judge.Deny, guardrail.Input))(r)
	})
	for i, c := range []struct {
		name, body, reply string
		code              apierror.Code
	}{
		{name: "answer", body: model + text + `}`, reply: "answer"},
		{name: "stream", body: model + text + `,"stream":true}`, reply: "stream"},
		{name: "too large", body: strings.Repeat(" ", 1<<20), code: apierror.RequestTooLarge},
		{name: "no JSON", body: `{`, code: apierror.InvalidJSON},
		{name: "no messages", body: model + `"n":1}`, code: apierror.MissingParameter},
		{name: "unknown model", body: `{"model":"other/m",` + text + `}`, code: apierror.ModelNotFound},
		{name: "capped", body: model + `"messages":["a","b"]}`, code: apierror.InvalidValue},
		{name: "denied", body: model + strings.Replace(text, "hello", "mellon", 1) + `}`, code: apierror.GuardrailBlocked},
		{name: "hosted tool", body: model + text + `,"web_search_options":{}}`, code: apierror.InsufficientScope},
		{name: "background", body: model + text + `,"background":true}`, code: apierror.UnsupportedParameter},
		{name: "over the budget", body: strings.Replace(model, "100", "2000000", 1) + text + `}`, code: apierror.BudgetExceeded},
		{name: "not encoded", body: model + text + `,"preset":"x"}`, code: apierror.UnsupportedParameter},
		{name: "status", body: model + text + `}`, reply: "status", code: apierror.UpstreamError},
		{name: "nonsense", body: model + text + `}`, reply: "nonsense", code: apierror.UpstreamError},
		{name: "cut", body: model + text + `}`, reply: "cut", code: apierror.UpstreamError},
		{name: "cut stream", body: model + text + `,"stream":true}`, reply: "cut stream", code: apierror.UpstreamError},
		{name: "failed stream", body: model + text + `,"stream":true}`, reply: "failed stream", code: apierror.UpstreamError},
		{name: "panic", body: model + text + `}`, reply: "panic", code: apierror.Internal},
		{name: "panic in a stream", body: model + text + `,"stream":true}`, reply: "panic", code: apierror.Internal},
	} {
		reply = c.reply
		func() {
			defer func() { _ = recover() }()
			r.serveTo(t, httptest.NewRecorder(), post(strings.NewReader(c.body), int64(len(c.body))), wire.Chat)
		}()
		rows := r.rows(t)
		if len(rows) != i+1 || rows[0].Code != string(c.code) {
			t.Fatalf("%s: %d records, the last has %q, want %q", c.name, len(rows), rows[0].Code, c.code)
		}
		ofKey, _ := r.Concurrency.InUse("key:dev")
		ofModel, _ := r.Concurrency.InUse("model:acme/*")
		if b := r.balance(t); r.memory.Used() != 0 || ofKey+ofModel != 0 || b.Reserved != 0 || r.calls.Len() != 0 {
			t.Errorf("%s: %d bytes, %d slots of the key and %d of the model, %d nano-USD, %d calls under way", c.name,
				r.memory.Used(), ofKey, ofModel, b.Reserved, r.calls.Len())
		}
	}
}
