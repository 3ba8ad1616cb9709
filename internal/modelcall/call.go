// Package modelcall is one model call: [call.run] has its steps in their order.
//
//	handlers --Begin--> Request --Serve--> call.run --> provider
//	                       |                  |
//	                    Outcome   admission charge guard upstream meter
//
// An [Operation] is an API that callers use: chat completions, Responses, Anthropic's Messages and
// its count of tokens, embeddings. It encodes a request for a provider that has the same API or
// another one. If a call has several targets they are asked in turn until one begins to answer. What
// a call holds is released in [Request.Finish], which runs once however the call ends.
package modelcall

import (
	"context"
	"errors"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// call is a model call: its steps, and a part for each subject that does the work.
type call struct {
	*Request
	op  Operation
	api API

	admission admission
	body      jsonscan.Body
	asked     params.Request // what the body says of model and stream
	routed                   // where the call can be sent; empty before route
	charge    charge
	guard     guard
	state     storedState
	sealed    sealed
	tried     *tried // nil: nobody asks
	attempts  attempts
	upstream  *upstream // the attempt under way or the last; nil before
	meter     meter
}

// run takes the steps of a call. After a refusal nothing later runs. An error is what the client must
// still be told; it is nil if an answer was written, which may be a failure in a stream.
func (c *call) run(ctx context.Context) error {
	if err := c.enter(); err != nil { // 429: rates and concurrency of key, tenant and gateway
		return err
	}
	if err := c.read(); err != nil { // 400 413 415 429: the body, its time and memory
		return err
	}
	if err := c.parse(); err != nil { // 400
		return err
	}
	if err := c.route(ctx); err != nil { // 404 413 503
		return err
	}
	if err := c.check(ctx); err != nil { // 400 402 429 503: caps, limits of the model, used-up budgets
		return err
	}
	if err := c.judge(ctx); err != nil { // 400 413 422 429 503: guardrails
		return err
	}
	if err := c.checkState(ctx); err != nil { // 400 403 503: hosted tools, stored state
		return err
	}
	if err := c.reserve(ctx); err != nil { // 400 402 429 503: token rates and budgets
		return err
	}
	return c.dispatch(ctx) // 400 422 429 502 503, a 4xx of a provider, or the answer
}

func (c *call) enter() error {
	return c.admission.enter(c.r, c.charge.key.Subjects, &c.Upload, c.maxBody())
}

func (c *call) maxBody() int64 { return c.deps.Limits.Readable(c.charge.key) }

// read reads the body and walks it.
func (c *call) read() error {
	data, err := c.readBody(c.maxBody())
	if err != nil {
		return policy.TooLarge(err, c.Record.Key, c.charge.key)
	}
	return invalidJSON(c.body.Parse(data))
}

// invalidJSON is the refusal of a body that jsonscan refused, nil for a nil error.
func invalidJSON(err error) error {
	if err == nil {
		return nil
	}
	refusal := apierror.New(apierror.InvalidJSON, "the request body is not acceptable JSON: %v", err)
	var syntax *jsonscan.SyntaxError
	if errors.As(err, &syntax) {
		refusal.Param = syntax.Key
	}
	return refusal
}

func (c *call) parse() (err error) {
	if c.asked, err = c.op.parse(&c.body, c.r.Header); err != nil {
		return err
	}
	c.Record.Stream = c.asked.Stream
	c.trace.asked(&c.body, c.asked.Stream)
	return nil
}

// route finds the targets of the name in the request and notes it in the record.
func (c *call) route(ctx context.Context) error {
	name := c.asked.Model
	routing, err := openrouter.ParseRouting(&c.body, c.op.kind() == provider.Messages)
	if err == nil {
		c.routed, err = findTargets(ctx, c.deps, c.Credential.Key, c.op.kind(), name, routing)
	}
	if c.Record.Model, err = recordedName(name, c.Secret, c.known, err); err != nil {
		return err
	}
	t := c.targets[0]
	c.sealed.several, c.charge.named = len(c.targets) > 1, c.limits
	c.knownModel = c.known
	c.setTarget(t)
	c.charge.cacheHour = slices.ContainsFunc(c.targets, keepsLong) && params.AsksHourCache(c.body.Data())
	if t.provider.BuiltIn && !onLoopback(c.r) {
		c.deps.WarnOfDemo("the test provider")
	}
	return c.keep(func(t *target) error {
		t.caps = c.charge.capsOf(c.limits, t.own)
		return c.charge.checkSize(t, len(c.body.Data()))
	})
}

// setTarget notes the target that the call is about to use.
func (c *call) setTarget(t *target) {
	c.Record.Provider, c.Record.UpstreamModel = t.provider.Name, t.model.Name
	c.charge.target = t
}

// keepsLong reports whether the price of a target has a rate for what is kept in its cache for an hour.
func keepsLong(t *target) bool { return t.model.Price != nil && t.model.Price.CacheHour.Known }

// keep drops the targets that refuse the call, and fails if all do.
func (c *call) keep(refuse func(*target) error) (err error) {
	c.targets, err = keep(c.targets, refuse)
	return err
}

// check holds the request to its caps and to the limits of the model.
func (c *call) check(ctx context.Context) error {
	if !c.limited() {
		return nil
	}
	requested, err := c.op.requestedLimits(&c.body)
	if err != nil {
		return err
	}
	c.charge.requested = requested
	tools := func() int { return c.state.tools(&c.body).Count }
	if err := c.keep(func(t *target) error { return c.charge.check(t, tools, c.op.messages()) }); err != nil {
		return err
	}
	if err := c.admission.enterModel(ctx, c.limits); err != nil {
		return err
	}
	return c.charge.checkBudgets(ctx, c.begun)
}

// limited reports whether any limit depends on how much the request asks for.
func (c *call) limited() bool {
	return len(c.limits) > 0 || len(c.charge.key.Subjects) > 0 || slices.ContainsFunc(c.targets, func(t *target) bool {
		return len(t.own) > 0 || t.caps != (policy.Caps{}) || t.outputField() != ""
	})
}

// judge has the guardrails judge the request. If they take something out of it, the edited body
// replaces the one that was read.
func (c *call) judge(ctx context.Context) error {
	c.guard.deps, c.guard.outcome = c.deps, &c.Outcome
	if !c.deps.Guardrails.Empty() {
		c.guard.set = c.deps.Guardrails.Of(c.Credential.Name, c.names()...)
	}
	redacted, err := c.guard.request(ctx, c.body.Data(), c.asked.Stream)
	if err != nil || redacted == nil {
		return err
	}
	c.state.forget()
	if err := c.Upload.Reserve(cap(redacted)); err != nil { // the first body stays until the call is sent
		return err
	}
	return c.body.Parse(redacted) // its members are the same in number and order
}

// checkState checks what the request asks of the provider's account.
func (c *call) checkState(ctx context.Context) error {
	defer c.state.forget()
	c.sealed.read(ctx, &c.body)
	err := c.keep(func(t *target) (err error) {
		t.account, err = c.state.check(ctx, &c.body, t)
		return err
	})
	c.targets = c.state.keepers(ctx, c.targets)
	return err
}

// reserve takes what the call may use from token rates and budgets: what the dearest of its targets
// would use.
func (c *call) reserve(ctx context.Context) error {
	key := c.charge.key
	rated := key.Rated() || slices.ContainsFunc(c.limits, (*policy.ModelLimits).Rated)
	if !rated && !key.Budgeted() && !slices.ContainsFunc(c.targets, (*target).rated) {
		return nil
	}
	content := contentOf(c)
	if err := c.keep(func(t *target) error { return c.charge.estimateUse(t, int64(len(c.body.Data())), content) }); err != nil {
		return err
	}
	most, likely := reservation(c.targets)
	if rated {
		if err := c.admission.takeTokens(ctx, 0, likely.Tokens, c.rateSubjects()); err != nil {
			return err
		}
	}
	return c.charge.reserve(ctx, c.begun, most, likely)
}

// rateSubjects returns all subjects whose token rates the call counts against.
func (c *call) rateSubjects() []limits.Subject {
	subjects := slices.Clip(c.charge.key.Subjects) // the key's own are not changed
	for _, m := range c.limits {
		subjects = append(subjects, m.Subject)
	}
	return subjects
}

// encode writes the request for a target.
func (c *call) encode(t *target) (*sending, error) {
	r := c.Record
	c.body.ClearEdits()
	owner := ownership{c.deps, t.accountName(), r.Tenant, r.RequestID}
	e := encoding{
		body: &c.body, inbound: c.r.Header, query: c.r.URL.RawQuery, asked: c.asked, requested: c.charge.requested,
		target: t, maxPrice: c.charge.maxPrice(t), api: c.api, pricer: &c.charge, ids: responseIDs{r.RequestID, r.CreatedAt.Unix()}, sealed: &c.sealed,
		answer: openai.Call{
			Model: c.answersAs(t, c.asked.Model), ID: r.ID, Created: r.CreatedAt.Unix(), Provider: t.provider.Name, RequestID: r.RequestID,
			IncludeUsage: c.asked.IncludeUsage, Redact: c.shown(t.endpoint), OnID: owner.record, OnSealed: c.sealed.recorder(t), Metadata: c.tried.writer(),
			Estimate: func() openai.Usage { return c.charge.estimated(&c.meter) },
		},
	}
	if t.setOutput {
		e.output = t.output
	}
	if c.limit != nil {
		e.routing = c.routing
	}
	return c.op.encode(e)
}

// settle ends what the call holds: its upstream request, its reservation and its concurrency slots.
func (c *call) settle() {
	c.upstream.close()
	c.upstream.commit()
	used := c.charge.used(&c.meter, c.upstream.mayHaveBeenServed())
	c.admission.settle(used.Tokens)
	c.charge.settle(used)
	c.body.Release()
}
