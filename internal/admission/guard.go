package admission

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// webhookRetry is when a caller may try again if the moderator could not be asked.
const webhookRetry = 10 * time.Second

// Guard applies the guardrails of a call.
type Guard struct {
	Set guardrail.Set // nil: there are none

	deps     *Deps
	req      *request.Request
	upstream string
}

// GuardOf returns that of a call, without guardrails. Upstream says what answers the call: "provider".
func GuardOf(d *Deps, q *request.Request, upstream string) Guard {
	return Guard{deps: d, req: q, upstream: upstream}
}

// Request judges a request's body. It returns nil if the body stays as it is.
func (g *Guard) Request(ctx context.Context, body []byte, stream bool) ([]byte, error) {
	if g.Set == nil {
		return nil, nil
	}
	if name, ok := g.Set.WholeOnly(); ok && stream {
		e := apierror.New(apierror.UnsupportedParameter, "the guardrail %q judges whole answers only: a stream is not possible here", name).WithParam("stream")
		e.RefusedBy = policy.RefusedByGuardrail(name)
		return nil, e
	}
	result, err := g.Set.Request(ctx, body)
	var limit *guardrail.LimitError
	if errors.As(err, &limit) {
		return nil, apierror.New(apierror.RequestTooLarge, "the request cannot be judged: it has more %s than a guardrail looks at", limit.What)
	}
	return g.result(ctx, result, err)
}

// Answer judges a provider's whole answer. It returns nil if the answer stays as it is.
func (g *Guard) Answer(ctx context.Context, body []byte) ([]byte, error) {
	if g.Set == nil {
		return nil, nil
	}
	result, err := g.Set.Answer(ctx, body)
	return g.result(ctx, result, err)
}

// Text judges an answer that is plain text, and returns what the client gets.
func (g *Guard) Text(ctx context.Context, text []byte) ([]byte, error) {
	judged, err := g.Answer(ctx, append(jsonscan.AppendString([]byte(`{"text":`), string(text)), '}'))
	if err != nil || judged == nil {
		return text, err
	}
	members := jsonscan.Members(judged, nil)
	edited, _ := jsonscan.String(members[0].Value(judged))
	return []byte(edited), nil
}

func (g *Guard) result(ctx context.Context, result guardrail.Result, err error) ([]byte, error) {
	if err != nil {
		return nil, g.failure(ctx, err)
	}
	if result.Verdict != nil {
		return nil, g.Blocked(result.Verdict)
	}
	for _, name := range result.Unjudged {
		g.deps.Metrics.Guarded(name, metrics.GuardrailUnavailable)
	}
	g.Redacted(result.Redacted)
	return result.Body, nil
}

// failure is the refusal of a body that the guardrails could not judge.
func (g *Guard) failure(ctx context.Context, err error) error {
	var hook *guardrail.WebhookError
	var limit *guardrail.HookLimitError
	switch {
	case ctx.Err() != nil:
		return request.ClientGone(err)
	case errors.As(err, &limit) && limit.Direction == guardrail.Input:
		e := apierror.New(apierror.RequestTooLarge, "the guardrail %q judges at most %d texts with %d bytes in all", limit.Guardrail, guardrail.MaxHookTexts, guardrail.MaxHookText)
		e.RefusedBy = policy.RefusedByGuardrail(limit.Guardrail)
		return e
	case errors.As(err, &hook):
		g.req.Trace.Judged(metrics.GuardrailUnavailable, hook.Guardrail, "")
		e := apierror.New(apierror.GuardrailUnavailable, "the guardrail %q could not be asked", hook.Guardrail).WithCause(err)
		e.RetryAfter, e.RefusedBy = webhookRetry, policy.RefusedByGuardrail(hook.Guardrail)
		g.deps.Metrics.Guarded(hook.Guardrail, metrics.GuardrailUnavailable)
		return e
	}
	name := g.req.Outcome.Record.Provider
	e := apierror.New(apierror.UpstreamError, "%s %q gave an answer that makes no sense", g.upstream, name).WithCause(err)
	e.Provider = name
	return e
}

// Redacted notes what guardrails took out of a request or an answer: each class of each guardrail once.
func (g *Guard) Redacted(found []guardrail.Verdict) {
	for i, v := range found {
		if !slices.ContainsFunc(found[:i], func(other guardrail.Verdict) bool { return other.Guardrail == v.Guardrail }) {
			g.deps.Metrics.Guarded(v.Guardrail, metrics.GuardrailRedact)
		}
	}
	out := &g.req.Outcome
	for _, v := range found {
		g.req.Trace.Judged(metrics.GuardrailRedact, v.Guardrail, v.Class)
		if !slices.Contains(out.Redacted, v.Class) {
			out.Redacted = append(out.Redacted, v.Class)
		}
	}
}

// Blocked is the refusal of a text. It names the guardrail and the class of what was found, and shows
// nothing of the text.
func (g *Guard) Blocked(v *guardrail.Verdict) *apierror.Error {
	g.req.Trace.Judged(metrics.GuardrailDeny, v.Guardrail, v.Class)
	g.deps.Metrics.Guarded(v.Guardrail, metrics.GuardrailDeny)
	e := apierror.New(apierror.GuardrailBlocked, "refused by the guardrail %q: %s", v.Guardrail, v.Class)
	e.Reasons, e.RefusedBy = []string{v.Class}, policy.RefusedByGuardrail(v.Guardrail)+": "+v.Class
	return e
}
