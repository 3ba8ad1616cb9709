package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
)

// quota is what a call has of its limits. The zero value is a call without any.
type quota struct {
	key    *KeyLimits     // nil: no limits
	models []*ModelLimits // that hold for the model
	caps   Caps

	requests, tokens limits.Reading    // the rates with the least remaining
	permits          [2]*limits.Permit // from before the body was read, and after
	grant            *limits.Grant
	hold             *limits.Hold

	demand  request.RequestedLimits
	output  int64        // the most tokens of a choice, 0 = not bounded
	splice  bool         // the provider has to be told
	input   int64        // what the prompt will likely have, in tokens; 0 where nothing asks
	builtIn int64        // tools that the provider describes to the model
	bound   catalog.Most // what the call can use at most, under a hard budget
	most    limits.Amount
	likely  limits.Amount
	priced  bool // most is an upper bound of money
}

// longRate is the longest window whose refusal an SDK may wait out inside its
// call.
const longRate = time.Minute

// AdmitCaller counts a model call against the request rates of its key, its
// tenant and the gateway, and takes a place among their calls at once, waiting
// in their queue where there is one. It is to be called before the body is read,
// and reads it where it has to wait and the body is small.
func (c *Call) AdmitCaller(w http.ResponseWriter, r *http.Request) error {
	q := &c.quota
	q.key = c.gateway.limits.of(c.Credential.Name)
	if q.key == nil || len(q.key.Subjects) == 0 {
		return nil
	}
	if err := c.countRequest(q.key.Subjects); err != nil {
		return err
	}
	permit, busy := c.gateway.state.Concurrency.Acquire(q.key.Subjects, nil)
	if busy != nil {
		return concurrencyRefusal(busy)
	}
	q.permits[0] = permit
	if permit.Waiting() {
		if err := c.readAhead(w, r, permit); err != nil {
			return err
		}
	}
	return wait(r.Context(), permit)
}

func (c *Call) countRequest(subjects []limits.Subject) error {
	reading, refused := c.gateway.rates.Request(subjects)
	if refused != nil {
		c.quota.requests = refused.Reading
		return rateRefusal(refused)
	}
	c.quota.requests = tighter(c.quota.requests, reading)
	return nil
}

// wait returns when the permit has its places.
func wait(ctx context.Context, permit *limits.Permit) error {
	busy, err := permit.Wait(ctx)
	switch {
	case busy != nil:
		return concurrencyRefusal(busy)
	case err != nil:
		return apierror.New(apierror.ClientGone, "the client left").WithCause(err)
	}
	return nil
}

func concurrencyRefusal(busy *limits.Busy) error {
	e := apierror.New(apierror.ConcurrencyLimitExceeded, "%s has %d calls under way, which is its limit; try again when one of them has ended", busy.Subject, busy.InUse)
	e.RetryAfter, e.LimitSource = busy.RetryAfter, busy.Subject
	return e
}

// tighter is the reading with less remaining; the zero reading is none.
func tighter(a, b limits.Reading) limits.Reading {
	if a.Rate.Limit == 0 || b.Rate.Limit > 0 && b.Remaining < a.Remaining {
		return b
	}
	return a
}

func rateRefusal(r *limits.RateRefusal) *apierror.Error {
	var e *apierror.Error
	if r.Never {
		e = apierror.New(apierror.RateLimitExceeded, "this call alone needs more than the limit of %s, %s, allows at all", r.Subject, r.Rate)
		e.RetryAfter = r.Rate.Window // for who retries all the same: without a time some do at once
	} else {
		e = apierror.New(apierror.RateLimitExceeded, "the limit of %s, %s, is used up; there is room in %s", r.Subject, r.Rate, r.RetryAfter.Round(time.Millisecond))
		e.RetryAfter = r.RetryAfter
	}
	e.LimitSource = r.Subject
	e.NoRetry = r.Never || r.Rate.Window > longRate
	e.Rate = rateOf(r.Reading)
	return e
}

// rateOf is the reading as headers tell it, nil for none.
func rateOf(r limits.Reading) *apierror.Rate {
	if r.Rate.Limit == 0 {
		return nil
	}
	return &apierror.Rate{Limit: r.Rate.Limit, Remaining: r.Remaining, Reset: r.Reset, Tokens: r.Rate.Unit == limits.Tokens}
}

// Rates are the states of the call's tightest rates, nil where none applies.
func (c *Call) Rates() (requests, tokens *apierror.Rate) {
	return rateOf(c.quota.requests), rateOf(c.quota.tokens)
}

// limit notes the limits of the call's model.
func (q *quota) limit(models []*ModelLimits) {
	q.models = models
	if q.key != nil {
		q.caps = q.key.Caps
	}
	for _, m := range q.models {
		q.caps = q.caps.within(m.Caps)
	}
}

// NeedsDemand tells whether anything depends on how much the admitted request
// asks for: AdmitDemand and Reserve follow.
func (c *Call) NeedsDemand() bool {
	q := &c.quota
	return len(q.models) > 0 || q.caps != (Caps{}) || q.key != nil && len(q.key.Subjects) > 0 || c.limitField() != ""
}

// AdmitDemand checks what the request asks for against the caps of its key and
// model, counts it against the model's rates, and refuses it where a budget is
// spent already.
func (c *Call) AdmitDemand(ctx context.Context, d request.RequestedLimits, list string) error {
	q := &c.quota
	q.demand = d
	if err := c.admitModel(ctx); err != nil {
		return err
	}
	if err := q.cap(list); err != nil {
		return err
	}
	if field := c.limitField(); field != "" && q.output > 0 && !d.SaysOnly(field) {
		q.splice = true
	}
	if q.key == nil || !q.key.budgeted() {
		return nil
	}
	refused, err := c.gateway.ledger.Exhausted(ctx, c.begun, q.key.Subjects)
	if err != nil {
		return c.ledgerFailure(ctx, err)
	}
	if refused != nil {
		return c.budgetRefusal(refused)
	}
	return nil
}

// AdmitTools holds the tools that the request declares, wherever it does so, to
// the cap of its key and model.
func (c *Call) AdmitTools(b *jsonscan.Body) error {
	most := c.quota.caps.Tools
	if most == 0 {
		return nil
	}
	refs, _ := c.references(b) // what is wrong with a reference is refused with the state
	if n := refs.Tools.Count; n > most {
		return apierror.New(apierror.InvalidValue, "the request declares %d tools; at most %d are allowed here", n, most).WithParam("tools")
	}
	return nil
}

// admitModel does for the call's model what AdmitCaller did for its key. While
// it waits for a place there it holds none elsewhere.
func (c *Call) admitModel(ctx context.Context) error {
	q := &c.quota
	if len(q.models) == 0 {
		return nil
	}
	subjects := make([]limits.Subject, len(q.models))
	for i, m := range q.models {
		subjects[i] = m.Subject
	}
	if err := c.countRequest(subjects); err != nil {
		return err
	}
	permit, busy := c.gateway.state.Concurrency.Acquire(subjects, q.permits[0])
	if busy != nil {
		return concurrencyRefusal(busy)
	}
	q.permits[1] = permit
	return wait(ctx, permit)
}

func (k *KeyLimits) budgeted() bool { return k.hardMoney || k.hardTokens || k.soft }
func (k *KeyLimits) hard() bool     { return k.hardMoney || k.hardTokens }

// cap holds the request to the caps and decides the output's bound.
func (q *quota) cap(list string) error {
	d, caps := q.demand, q.caps
	if caps.Messages > 0 && d.Messages > caps.Messages {
		return apierror.New(apierror.InvalidValue, "%q has %d elements; at most %d are allowed here", list, d.Messages, caps.Messages).WithParam(list)
	}
	q.output = d.Output
	switch {
	case caps.Output == 0:
	case d.Output == 0:
		q.output, q.splice = caps.Output, true
	case d.Output > caps.Output && caps.Clamp:
		q.output, q.splice = caps.Output, true
	case d.Output > caps.Output:
		return apierror.New(apierror.InvalidValue, "%q is %d; at most %d is allowed here", d.Param, d.Output, caps.Output).WithParam(d.Param)
	}
	return nil
}
