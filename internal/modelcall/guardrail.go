package modelcall

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// webhookRetry is when a caller may try again if the moderator could not be asked.
const webhookRetry = 10 * time.Second

// Guardrails are those of a configuration, and what they apply to.
type Guardrails struct {
	Keys   map[string][]*guardrail.Guardrail // by name of key
	Models []ModelGuardrails
	All    []*guardrail.Guardrail // every model call

	sets sync.Map // *guardrail.Set by the names of its guardrails: one for each combination in use
}

// ModelGuardrails are the guardrails of the models of a pattern.
type ModelGuardrails struct {
	Pattern    string
	Guardrails []*guardrail.Guardrail
}

// Check refuses patterns that are not valid.
func (g *Guardrails) Check() error {
	for _, m := range g.Models {
		if err := pattern.Valid(m.Pattern); err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
	}
	return nil
}

// of joins the guardrails of a key, of models and of the gateway, each once, in this order. It returns
// nil if there are none.
func (g *Guardrails) of(key string, models ...string) *guardrail.Set {
	var usual [8]*guardrail.Guardrail
	list := append(usual[:0], g.Keys[key]...)
	for _, m := range g.Models {
		if slices.ContainsFunc(models, func(model string) bool { return pattern.Match(m.Pattern, model) }) {
			list = append(list, m.Guardrails...)
		}
	}
	list = append(list, g.All...)
	if len(list) == 0 {
		return nil
	}
	var names strings.Builder
	for i, r := range list {
		if slices.Contains(list[:i], r) {
			list[i] = nil // Join leaves it out
			continue
		}
		names.WriteString(r.Name())
		names.WriteByte('/') // no name has it
	}
	if set, ok := g.sets.Load(names.String()); ok {
		return set.(*guardrail.Set)
	}
	set, _ := g.sets.LoadOrStore(names.String(), guardrail.Join(list...))
	return set.(*guardrail.Set)
}

// Names returns the names of all guardrails, each once, sorted.
func (g *Guardrails) Names() []string {
	var names []string
	add := func(list []*guardrail.Guardrail) {
		for _, r := range list {
			names = append(names, r.Name())
		}
	}
	add(g.All)
	for _, m := range g.Models {
		add(m.Guardrails)
	}
	for _, list := range g.Keys {
		add(list)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (g *Guardrails) empty() bool { return len(g.Keys)+len(g.Models)+len(g.All) == 0 }

// guard applies the guardrails of a call.
type guard struct {
	deps    *Deps
	set     *guardrail.Set // nil: there are none
	outcome *Outcome
}

// request judges a request's body. It returns nil if the body stays as it is.
func (g *guard) request(ctx context.Context, body []byte, stream bool) ([]byte, error) {
	if g.set == nil {
		return nil, nil
	}
	if name, ok := g.set.WholeOnly(); ok && stream {
		e := apierror.New(apierror.UnsupportedParameter, "the guardrail %q judges whole answers only: a stream is not possible here", name).WithParam("stream")
		e.RefusedBy = refusedByGuardrail(name)
		return nil, e
	}
	result, err := g.set.Request(ctx, body)
	var limit *guardrail.LimitError
	if errors.As(err, &limit) {
		return nil, apierror.New(apierror.RequestTooLarge, "the request cannot be judged: it has more %s than a guardrail looks at", limit.What)
	}
	return g.result(ctx, result, err)
}

// answer judges a provider's whole answer. It returns nil if the answer stays as it is.
func (g *guard) answer(ctx context.Context, body []byte) ([]byte, error) {
	if g.set == nil {
		return nil, nil
	}
	result, err := g.set.Answer(ctx, body)
	return g.result(ctx, result, err)
}

func (g *guard) result(ctx context.Context, result guardrail.Result, err error) ([]byte, error) {
	if err != nil {
		return nil, g.failure(ctx, err)
	}
	if result.Verdict != nil {
		return nil, g.blocked(result.Verdict)
	}
	g.redacted(result.Redacted)
	return result.Body, nil
}

// failure is the refusal of a body that the guardrails could not judge.
func (g *guard) failure(ctx context.Context, err error) error {
	var twice *guardrail.DuplicateError
	var hook *guardrail.WebhookError
	var limit *guardrail.HookLimitError
	switch {
	case ctx.Err() != nil:
		return clientGone(err)
	case errors.As(err, &twice):
		return apierror.New(apierror.InvalidJSON, "the request body is not acceptable JSON: an object in %q has the key %q twice", twice.Param, twice.Key).WithParam(twice.Param)
	case errors.As(err, &limit) && limit.Direction == guardrail.Input:
		e := apierror.New(apierror.RequestTooLarge, "the guardrail %q judges at most %d texts with %d bytes in all", limit.Guardrail, guardrail.MaxHookTexts, guardrail.MaxHookText)
		e.RefusedBy = refusedByGuardrail(limit.Guardrail)
		return e
	case errors.As(err, &hook):
		g.outcome.trace.judged(actionUnavailable, guardrail.Verdict{Guardrail: hook.Guardrail})
		e := apierror.New(apierror.GuardrailUnavailable, "the guardrail %q could not be asked", hook.Guardrail).WithCause(err)
		e.RetryAfter, e.RefusedBy = webhookRetry, refusedByGuardrail(hook.Guardrail)
		g.deps.Metrics.Guarded(hook.Guardrail, metrics.GuardrailUnavailable)
		return e
	}
	return nonsense(g.outcome.Record.Provider, err)
}

// redacted notes what guardrails took out of a request or an answer: each class of each guardrail once.
func (g *guard) redacted(found []guardrail.Verdict) {
	for i, v := range found {
		if !slices.ContainsFunc(found[:i], func(other guardrail.Verdict) bool { return other.Guardrail == v.Guardrail }) {
			g.deps.Metrics.Guarded(v.Guardrail, metrics.GuardrailRedact)
		}
	}
	g.outcome.noteRedacted(found)
}

// blocked is the refusal of a text. It names the guardrail and the class of what was found, and shows
// nothing of the text.
func (g *guard) blocked(v *guardrail.Verdict) *apierror.Error {
	g.outcome.trace.judged(actionDeny, *v)
	g.deps.Metrics.Guarded(v.Guardrail, metrics.GuardrailDeny)
	e := apierror.New(apierror.GuardrailBlocked, "refused by the guardrail %q: %s", v.Guardrail, v.Class)
	e.Reasons, e.RefusedBy = []string{v.Class}, refusedByGuardrail(v.Guardrail)+": "+v.Class
	return e
}
