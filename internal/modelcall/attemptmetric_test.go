package modelcall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func TestEachAttemptHasAnOutcome(t *testing.T) {
	prepared := map[metrics.Outcome]bool{}
	for _, a := range UsualAttempts {
		prepared[a.Outcome] = true
	}
	kept := func(code apierror.Code, status int) *apierror.Error {
		e := apierror.New(code, "x")
		e.Status = status
		return e
	}
	redirect := apierror.New(apierror.UpstreamError, "x").WithCause(provider.ErrRedirect)
	for _, c := range []struct {
		failure *apierror.Error
		status  int
		want    metrics.Outcome
	}{
		{nil, 200, metrics.OK},
		{apierror.New(apierror.GuardrailBlocked, "x"), 200, metrics.OK},
		{apierror.New(apierror.GuardrailUnavailable, "x"), 200, metrics.OK},
		{apierror.New(apierror.GatewayBusy, "x"), 200, metrics.OK},
		{apierror.New(apierror.UpstreamRateLimited, "x"), 429, metrics.RateLimited},
		{apierror.New(apierror.UpstreamAuth, "x"), 401, metrics.Auth},
		{apierror.New(apierror.UpstreamQuota, "x"), 402, metrics.Auth},
		{kept(apierror.UpstreamRejected, 404), 404, metrics.BadRequest},
		{apierror.New(apierror.ContextLengthExceeded, "x"), 200, metrics.BadRequest},
		{apierror.New(apierror.ProviderContentPolicy, "x"), 400, metrics.BadRequest},
		{apierror.New(apierror.UpstreamError, "x"), 500, metrics.ServerError},
		{apierror.New(apierror.UpstreamError, "x"), 200, metrics.ServerError},
		{redirect, 0, metrics.ServerError},
		{apierror.New(apierror.UpstreamOverloaded, "x"), 529, metrics.ServerError},
		{apierror.New(apierror.UpstreamTimeout, "x"), 0, metrics.Timeout},
		{apierror.New(apierror.UpstreamTimeout, "x"), 200, metrics.Timeout},
		{apierror.New(apierror.UpstreamError, "x"), 0, metrics.Connection},
		{apierror.New(apierror.ClientGone, "x"), 0, metrics.Canceled},
		{apierror.New(apierror.ShuttingDown, "x"), 200, metrics.Canceled},
	} {
		if got := outcomeOf(c.failure, c.status); got != c.want || !prepared[got] {
			t.Errorf("%v with status %d: %s, want %s; its series exists from the start: %v", c.failure, c.status, got, c.want, prepared[got])
		}
	}
}

// counted makes a rig whose metrics can be read.
func counted(r *rig) {
	zero := func() float64 { return 0 }
	r.Metrics = metrics.New(metrics.Gauges{
		ActivityLost: zero, InFlight: zero, BodyMemory: zero, BodyMemoryLimit: zero, StoreQueue: zero, StoreUp: zero, AnswerMemory: zero, AnswerMemoryLimit: zero, Sessions: zero, HalfOpen: zero,
		Providers: func() []metrics.ProviderUp { return nil }, Credentials: func() []metrics.CredentialLeft { return nil }, Sources: func() map[string]bool { return nil }, Queues: func() map[metrics.Queue]int { return nil },
		CertificateEnds: func() time.Time { return time.Time{} },
		Budgets:         func() []metrics.BudgetSpent { return nil },
	})
}

// counters returns the counters of a name that are not 0.
func (r *rig) counters(t *testing.T, name string) (found []string) {
	t.Helper()
	registry := prometheus.NewRegistry()
	if err := r.Metrics.Register(registry); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() != "gatehouse_"+name || m.GetCounter().GetValue() == 0 {
				continue
			}
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			found = append(found, fmt.Sprintf("%s %g", strings.Join(labels, ","), m.GetCounter().GetValue()))
		}
	}
	return found
}

func TestWhatGuardrailsDoIsCounted(t *testing.T) {
	hook := func(open bool) *judge.Guardrail {
		g, err := judge.Compile(judge.Spec{Name: "hook", On: guardrail.Input, Webhook: &judge.Webhook{
			URL: "https://moderator.example/", FailOpen: open, Transport: answering(500, ""),
		}})
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	said := strings.Replace(hello, "hello", "mellon", 1)
	stream := strings.Replace(said, `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
	answer := strings.Replace(chatAnswerBody, "Hello.", "mellon", 1)
	events := eventsOf(`data: {"choices":[{"index":0,"delta":{"content":"mellon"}}]}` + "\n\n" + doneWord)
	for name, c := range map[string]struct {
		guardrail *judge.Guardrail
		body      string
		transport roundTrip
		want      string
	}{
		"a request is refused":                {words(t, judge.Deny, guardrail.Input), said, answering(200, chatAnswerBody), "action=deny,guardrail=words 1"},
		"a request is changed":                {words(t, judge.Redact, guardrail.Input), said, answering(200, chatAnswerBody), "action=redact,guardrail=words 1"},
		"an answer is refused":                {words(t, judge.Deny, guardrail.Output), hello, answering(200, answer), "action=deny,guardrail=words 1"},
		"a stream is refused":                 {words(t, judge.Deny, guardrail.Output), stream, events, "action=deny,guardrail=words 1"},
		"a stream is changed":                 {words(t, judge.Redact, guardrail.Output), stream, events, "action=redact,guardrail=words 1"},
		"a moderator fails":                   {hook(false), said, answering(200, chatAnswerBody), "action=unavailable,guardrail=hook 1"},
		"a moderator fails, the call goes on": {hook(true), said, answering(200, chatAnswerBody), "action=unavailable,guardrail=hook 1"},
	} {
		r := newRig(t, c.transport, guarded(c.guardrail), counted)
		_, _ = r.serve(t, wire.Chat, c.body)
		if got := r.counters(t, "guardrail_actions_total"); !slices.Equal(got, []string{c.want}) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// failing is a ledger of which nothing can be read or reserved.
type failing struct {
	limits.Ledger
	err error
}

func (f failing) Exhausted(context.Context, time.Time, []limits.Subject) (*limits.Refusal, error) {
	return nil, f.err
}

func (f failing) Reserve(context.Context, limits.ReserveRequest) (*limits.Refusal, error) {
	return nil, f.err
}

func TestFailuresOfTheLedgerAreCounted(t *testing.T) {
	for _, c := range []struct {
		policy policy.FailurePolicy
		err    error
		want   []string
	}{
		{policy.FailOpen, errors.New("the disk is full"), []string{" 2"}}, // the look at the budget, and the reservation
		{policy.FailClosed, errors.New("the disk is full"), []string{" 1"}},
		{policy.FailOpen, limits.ErrInvalid, nil}, // our own mistake
	} {
		r := newRig(t, answering(200, chatAnswerBody), limited(budget(t, "1usd/day")), counted, func(r *rig) {
			r.Ledger, r.Limits.OnStoreFailure = failing{r.Ledger, c.err}, c.policy
		})
		_, _ = r.serve(t, wire.Chat, hello)
		if got := r.counters(t, "ledger_errors_total"); !slices.Equal(got, c.want) {
			t.Errorf("policy %d, %v: %q, want %q", c.policy, c.err, got, c.want)
		}
	}
}
