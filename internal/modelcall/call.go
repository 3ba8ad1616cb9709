// Package modelcall is one model call: [call.run] has its steps in their order.
//
//	handlers --Serve--> call.run --> provider
//	                       |
//	      permits charge guard attempts attempt meter
//
// What callers and providers speak is in package wire. If a call has several targets they are asked in
// turn until one begins to answer. What a call holds is released in Settle, which runs once however the
// call ends.
package modelcall

import (
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// call is a model call: its steps, and a part for each subject that does the work. No part knows the
// call.
type call struct {
	deps *Deps
	req  *request.Request
	op   *wire.Operation
	api  wire.API

	permits admission.Permits
	body    jsonscan.Body
	asked   params.Request // what the body says of model and stream
	to      routed         // where the call can be sent; empty before route
	charge  charge
	guard   admission.Guard
	state   storedState
	sealed  sealed
	tried   *tried // nil: the caller does not ask for it
	trace   *callTrace
	attempt *attempt // that is under way, or the last; nil before
}

// run takes the steps of a call. After a refusal nothing later runs. An error is what the client must
// still be told; it is nil if an answer was written, which may be a failure in a stream.
func (c *call) run(ctx context.Context) error {
	if err := c.enter(); err != nil { // 429: rates and concurrency of key, tenant and gateway
		return err
	}
	if err := look(ctx, c, enterNamed); err != nil {
		return err
	}
	if err := c.reserve(ctx); err != nil { // 400 402 429 503: token rates and budgets
		return err
	}
	return c.dispatch(ctx) // 400 422 429 502 503, a 4xx of a provider, or the answer
}

// look takes the steps that look at what is asked for. Only enter takes something of limits.
func look(ctx context.Context, c *call, enter func(context.Context, *call) error) error {
	if err := c.read(); err != nil { // 400 413 415 429: the body, its time and memory
		return err
	}
	if err := c.parse(); err != nil { // 400
		return err
	}
	if err := c.route(ctx); err != nil { // 404 413 503
		return err
	}
	if err := c.check(ctx, enter); err != nil { // 400 402 429 503: caps, limits of the model, used-up budgets
		return err
	}
	if err := c.judge(ctx); err != nil { // 400 413 422 429 503: guardrails
		return err
	}
	return c.checkState(ctx) // 400 403 503: hosted tools, stored state
}

func (c *call) enter() error {
	return c.permits.Enter(c.charge.key.Subjects, c.maxBody())
}

func (c *call) maxBody() int64 { return c.deps.Limits.Readable(c.charge.key) }

// read reads the body and walks it.
func (c *call) read() error {
	data, err := c.req.ReadBody(c.maxBody())
	if err != nil {
		return policy.TooLarge(err, c.req.Caller.Name, c.charge.key)
	}
	form, err := c.op.ReadForm(data, c.req.HTTP.Header)
	if err != nil {
		return err
	}
	if c.asked.Form = form; form != nil {
		data = form.View
		if err := c.req.Upload.Reserve(cap(data)); err != nil {
			return err
		}
	}
	return request.InvalidJSON(c.body.Parse(data))
}

func (c *call) parse() (err error) {
	form := c.asked.Form
	if c.asked, err = c.op.Parse(&c.body, c.req.HTTP.Header, c.asked); err != nil {
		return err
	}
	c.asked.Form = form
	c.req.Outcome.Record.Stream = c.asked.Stream
	c.trace.asked(&c.body, c.asked.Stream)
	if c.deps.Guardrails.Empty() { // else when they have judged it
		noteCaller(c)
	}
	return nil
}

// route finds the targets of the name in the request and notes it in the record.
func (c *call) route(ctx context.Context) error {
	name, out := c.asked.Model, &c.req.Outcome
	routing, err := openrouter.ParseRouting(&c.body, c.op.Fallbacks)
	if err == nil {
		c.to, err = findTargets(ctx, c.deps, c.req.Caller.Key, c.op, name, routing)
	}
	c.to.several = c.to.several || c.to.listed || len(c.to.targets)+len(c.to.skipped) > 1
	if out.Record.Model, err = recordedName(name, c.req.Caller.Secret, c.to.known, err); err != nil {
		return err
	}
	t := c.to.targets[0]
	c.sealed.several, c.charge.named = len(c.to.targets) > 1, c.to.limits
	out.KnownModel = c.to.known
	c.setTarget(t)
	c.charge.cacheHour = slices.ContainsFunc(c.to.targets, keepsLong) && params.AsksHourCache(c.body.Data())
	if t.provider.BuiltIn && !request.OnLoopback(c.req.HTTP) {
		c.deps.WarnOfDemo("the test provider")
	}
	return c.to.keep(func(t *target) error {
		t.allowed.caps = c.charge.capsOf(c.to.limits, t.own)
		return c.charge.checkSize(t, c.req.Upload.Len())
	})
}

// setTarget notes the target that the call is about to use.
func (c *call) setTarget(t *target) {
	r := c.req.Outcome.Record
	r.Provider, r.UpstreamModel = t.provider.Name, t.model.Name
	c.charge.target = t
}

// keepsLong reports whether the price of a target has a rate for what is kept in its cache for an hour.
func keepsLong(t *target) bool { return t.model.Price != nil && t.model.Price.CacheHour.Known }

// check holds the request to its caps, and by enter to the limits of the model.
func (c *call) check(ctx context.Context, enter func(context.Context, *call) error) error {
	if !c.limited() {
		return nil
	}
	requested, err := c.op.Limits(&c.body)
	if err != nil {
		return err
	}
	requested.Measure(c.asked.Form)
	c.charge.requested = requested
	tools := func() int { return c.state.tools(&c.body).Count }
	if err := c.to.keep(func(t *target) error { return c.charge.check(t, tools, c.op.List) }); err != nil {
		return err
	}
	return enter(ctx, c)
}

// enterNamed takes a request of the model's rate, and a slot of its concurrency.
func enterNamed(ctx context.Context, c *call) error {
	if err := c.permits.EnterNamed(ctx, subjectsOf(c.to.limits)...); err != nil {
		return err
	}
	return withinBudgets(ctx, c)
}

// withinBudgets refuses the call if a budget is used up already.
func withinBudgets(ctx context.Context, c *call) error { return c.charge.spending.Check(ctx) }

// limited reports whether any limit depends on how much the request asks for.
func (c *call) limited() bool {
	return c.op.Units || len(c.to.limits) > 0 || len(c.charge.key.Subjects) > 0 || slices.ContainsFunc(c.to.targets, func(t *target) bool {
		return len(t.own) > 0 || t.allowed.caps != (policy.Caps{}) || t.outputField() != ""
	})
}

// judge has the guardrails judge the request. If they take something out of it, the edited body
// replaces the one that was read.
func (c *call) judge(ctx context.Context) error {
	if !c.deps.Guardrails.Empty() {
		c.guard.Set = c.deps.Guardrails.Of(c.req.Caller.Configured(), c.to.names()...)
	}
	redacted, err := c.guard.Request(ctx, c.body.Data(), c.asked.Stream)
	if err != nil {
		return err
	}
	if !c.deps.Guardrails.Empty() {
		defer noteCaller(c)
	}
	if redacted == nil {
		return nil
	}
	c.state.forget()
	if err := c.req.Upload.Reserve(cap(redacted)); err != nil { // the first body stays until the call is sent
		return err
	}
	c.body.Own = true
	return c.body.Parse(redacted) // its members are the same in number and order
}

// checkState checks what the request asks of the provider's account.
func (c *call) checkState(ctx context.Context) error {
	defer c.state.forget()
	c.sealed.read(ctx, &c.body)
	err := c.to.keep(func(t *target) (err error) {
		t.allowed.account, err = c.state.check(ctx, &c.body, t)
		return err
	})
	c.state.preferKeepers(ctx, &c.to)
	return err
}

// reserve takes what the call may use from token rates and budgets: what the dearest of its targets
// would use.
func (c *call) reserve(ctx context.Context) error {
	key := c.charge.key
	rated := key.Rated() || slices.ContainsFunc(c.to.limits, (*policy.ModelLimits).Rated)
	if !rated && !key.Budgeted() && !slices.ContainsFunc(c.to.targets, (*target).rated) {
		return nil
	}
	content := c.op.Content(&c.body, c.req.HTTP.Header)
	content.Unpriced = cmp.Or(content.Unpriced, c.op.Fields.Unknown(&c.body))
	if err := c.to.keep(func(t *target) error { return c.charge.estimateUse(t, int64(len(c.body.Data())), content) }); err != nil {
		return err
	}
	most, likely := reservation(c.to.targets)
	if rated {
		if err := c.permits.TakeTokens(ctx, 0, likely.Tokens, c.rateSubjects()); err != nil {
			return err
		}
	}
	return c.charge.spending.Reserve(ctx, most, likely)
}

// rateSubjects returns all subjects whose token rates the call counts against.
func (c *call) rateSubjects() []limits.Subject {
	subjects := slices.Clip(c.charge.key.Subjects) // the key's own are not changed
	for _, m := range c.to.limits {
		subjects = append(subjects, m.Subject)
	}
	return subjects
}

// encode writes the request for a target.
func (c *call) encode(t *target) (*wire.Sending, error) {
	r := c.req.Outcome.Record
	c.body.ClearEdits()
	c.sealed.target = t
	owner := ownership{c.deps, t.accountName(), r.Tenant, r.RequestID, c.state.refs.Given}
	e := wire.Encoding{
		Body: &c.body, Caller: c.req.HTTP, Asked: c.asked, Requested: c.charge.requested, Model: t.model, Provider: t.provider,
		MaxPrice: c.charge.maxPrice(t), API: c.api, Pricer: &c.charge, IDs: wire.IDs{RequestID: r.RequestID, Created: r.CreatedAt.Unix()}, Sealed: &c.sealed,
		Answer: openai.Call{
			Model: c.to.answersAs(t, c.asked.Model), ID: r.ID, Created: r.CreatedAt.Unix(), Provider: t.provider.Name, RequestID: r.RequestID,
			IncludeUsage: c.asked.IncludeUsage, Redact: shown(c.req, t), OnID: owner.record, OnSealed: c.sealed.recorder(t), Metadata: c.tried.writer(),
			Estimate: func() openai.Usage { return c.charge.estimated(&c.attempt.upstream.meter) },
		},
		RefusesStreamOptions: c.asked.Stream && t.endpoint.RefusesStreamOptions(t.model.Name),
	}
	if c.op.Deletes {
		e.Answer.OnID = owner.forget
	}
	if t.allowed.setOutput {
		e.Output = t.allowed.output
	}
	if c.to.limit != nil {
		e.Routed, e.Forward = true, c.to.routing.Forward
	}
	return t.route.Encode(e)
}
