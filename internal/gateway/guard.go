package gateway

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
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// webhookRetry is when a caller may try again whose request no moderator
// judged.
const webhookRetry = 10 * time.Second

// Guards are the guardrails of a configuration, and what they apply to.
type Guards struct {
	Keys   map[string][]*guardrail.Guardrail // by name of key
	Models []ModelGuards
	All    []*guardrail.Guardrail // every model call
}

// ModelGuards are the guardrails of the models of a pattern.
type ModelGuards struct {
	Pattern    string
	Guardrails []*guardrail.Guardrail
}

func (g *Guards) check() error {
	for _, m := range g.Models {
		if err := pattern.Valid(m.Pattern); err != nil {
			return fmt.Errorf("model %q: %w", m.Pattern, err)
		}
	}
	return nil
}

// sets are the guardrails put together, by their names: there are as many as
// the configuration has ways to combine its blocks.
type sets struct{ byNames sync.Map }

// of joins the guardrails of a key, of a model and of the gateway, each once,
// in this order.
func (s *sets) of(g *Guards, key, model string) *guardrail.Set {
	if len(g.Keys)+len(g.Models)+len(g.All) == 0 {
		return nil
	}
	var room [8]*guardrail.Guardrail
	list := append(room[:0], g.Keys[key]...)
	for _, m := range g.Models {
		if pattern.Match(m.Pattern, model) {
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
		names.WriteByte('/') // in no name
	}
	if set, ok := s.byNames.Load(names.String()); ok {
		return set.(*guardrail.Set)
	}
	set, _ := s.byNames.LoadOrStore(names.String(), guardrail.Join(list...))
	return set.(*guardrail.Set)
}

// AdmitText has the guardrails of the admitted call judge its request. It
// returns the body to go on with, nil for the one it was given.
func (c *Call) AdmitText(ctx context.Context, body []byte) ([]byte, error) {
	c.guards = c.gateway.sets.of(&c.gateway.guards, c.Credential.Name, c.asked)
	if c.guards == nil {
		return nil, nil
	}
	if name, ok := c.guards.WholeOnly(); ok && c.Record.Stream {
		return nil, apierror.New(apierror.UnsupportedParameter, "the guardrail %q judges whole answers only: a stream is not possible here", name).WithParam("stream")
	}
	result, err := c.guards.Request(ctx, body)
	var limit *guardrail.LimitError
	if errors.As(err, &limit) {
		return nil, apierror.New(apierror.RequestTooLarge, "the request cannot be judged: it has more %s than a guardrail looks at", limit.What)
	}
	redacted, err := c.judged(ctx, result, err)
	if redacted != nil {
		c.refs = readRefs{} // the body to go on with is another
	}
	if redacted != nil && !c.takeMemory(cap(redacted)) { // a second body: the first stays until the call is sent
		return nil, busy()
	}
	return redacted, err
}

// JudgeAnswer has the guardrails judge a provider's whole answer. It returns
// the body to go on with, nil for the one it was given.
func (c *Call) JudgeAnswer(ctx context.Context, body []byte) ([]byte, error) {
	if c.guards == nil {
		return nil, nil
	}
	result, err := c.guards.Answer(ctx, body)
	return c.judged(ctx, result, err)
}

// JudgeStream returns the judge of the provider's stream, nil where nothing
// reads it.
func (c *Call) JudgeStream(wire guardrail.Wire) *guardrail.Stream { return c.guards.Stream(wire) }

func (c *Call) judged(ctx context.Context, result guardrail.Result, err error) ([]byte, error) {
	if err != nil {
		return nil, c.unjudged(ctx, err)
	}
	if result.Verdict != nil {
		return nil, Blocked(result.Verdict)
	}
	c.NoteRedacted(result.Redacted)
	return result.Body, nil
}

// unjudged is why the guardrails could not judge a body.
func (c *Call) unjudged(ctx context.Context, err error) error {
	var twice *guardrail.DuplicateError
	var hook *guardrail.WebhookError
	var limit *guardrail.HookLimitError
	switch {
	case ctx.Err() != nil:
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	case errors.As(err, &twice):
		return apierror.New(apierror.InvalidJSON, "the request body is not acceptable JSON: an object in %q has the key %q twice", twice.Param, twice.Key).WithParam(twice.Param)
	case errors.As(err, &limit) && limit.Direction == guardrail.Input:
		return apierror.New(apierror.RequestTooLarge, "the guardrail %q judges at most %d texts with %d bytes in all", limit.Guardrail, guardrail.MaxHookTexts, guardrail.MaxHookText)
	case errors.As(err, &hook):
		e := apierror.New(apierror.GuardrailUnavailable, "the guardrail %q could not be asked", hook.Guardrail).WithCause(err)
		e.RetryAfter = webhookRetry
		return e
	}
	return upstreamFault(apierror.UpstreamError, c.provider.Name, err, "provider %q gave an answer that makes no sense", c.provider.Name)
}

// Blocked is the refusal of a text: it names the guardrail and the class of
// what was found, and nothing of the text.
func Blocked(v *guardrail.Verdict) *apierror.Error {
	e := apierror.New(apierror.GuardrailBlocked, "refused by the guardrail %q: %s", v.Guardrail, v.Class)
	e.Reasons = []string{v.Class}
	return e
}

// NoteRedacted notes for the log what was taken out of the call's texts.
func (c *Call) NoteRedacted(found []guardrail.Verdict) {
	for _, v := range found {
		if !slices.Contains(c.redacted, v.Class) {
			c.redacted = append(c.redacted, v.Class)
		}
	}
}
