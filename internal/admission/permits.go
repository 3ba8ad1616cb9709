package admission

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// Permits counts a call against the request rates and holds its concurrency slots: first those of
// its key, tenant and gateway, then those of what it names, its model or its MCP server.
type Permits struct {
	deps *Deps
	req  *request.Request

	requests limits.Reading    // the request rate with the least remaining
	tokens   limits.Reading    // the token rate with the least remaining
	permits  [3]*limits.Permit // of the key, of the name in the request, of the model that an alias led to
	grants   [2]*limits.Grant  // of the token rates of the first two, of the third
	target   []limits.Subject  // of the third
	slotless bool
	rateless bool
}

// PermitsOf returns those of a call, which has none yet.
func PermitsOf(d *Deps, q *request.Request) Permits { return Permits{deps: d, req: q} }

// CountOnly makes the call count against rates, and take no slots.
func (a *Permits) CountOnly() { a.slotless = true }

// SlotsOnly makes the call take slots, and count against no rate of requests.
func (a *Permits) SlotsOnly() { a.rateless = true }

// longRate is the longest window that an SDK may wait for inside its call.
const longRate = time.Minute

// Enter admits the call by the limits of its key, tenant and gateway. It waits in their queue if
// there is one. It runs before the body is read, and reads a small one while it waits, of at most
// maxBody bytes.
func (a *Permits) Enter(subjects []limits.Subject, maxBody int64) error {
	if len(subjects) == 0 {
		return nil
	}
	r, body := a.req.HTTP, &a.req.Upload
	permit, err := a.admit(r.Context(), 0, subjects, nil)
	if err != nil {
		return err
	}
	queued := a.queue(permit)
	if permit.Waiting() && r.ProtoMajor == 1 && body.SmallAndComing() {
		if err := readAhead(permit, body, maxBody); err != nil {
			return queued.end(err)
		}
	}
	return queued.end(wait(r.Context(), permit))
}

// EnterNamed does for what the call names what Enter did for its key. While it waits there, it holds
// no slot elsewhere.
func (a *Permits) EnterNamed(ctx context.Context, subjects ...limits.Subject) error {
	if len(subjects) == 0 {
		return nil
	}
	permit, err := a.admit(ctx, 1, subjects, a.permits[0])
	if err != nil {
		return err
	}
	queued := a.queue(permit)
	return queued.end(wait(ctx, permit))
}

// EnterTarget counts an attempt against the limits of a model that an alias led to; those of the
// attempt before are over. It does not wait: another target may be free. After a refusal the attempt
// before may have been the last one: what it used still counts, and no answer shows the rate that
// refused. It may change the subjects.
func (a *Permits) EnterTarget(ctx context.Context, subjects []limits.Subject, tokens int64) error {
	a.leaveTarget(0)
	shownRequests, shownTokens := a.requests, a.tokens
	err := a.admitTarget(ctx, subjects, tokens)
	if err != nil {
		a.leaveTarget(0)
		a.requests, a.tokens = shownRequests, shownTokens
		_, a.grants[1], _, _ = a.deps.Rates.Tokens(ctx, 1, a.target) // adjusted to what that attempt used
		return err
	}
	a.target = subjects
	return nil
}

func (a *Permits) admitTarget(ctx context.Context, subjects []limits.Subject, tokens int64) error {
	if len(subjects) == 0 {
		return nil
	}
	for i := range subjects {
		subjects[i].Concurrency.Queue = 0
	}
	if _, err := a.admit(ctx, 2, subjects, nil); err != nil {
		return err
	}
	if tokens == 0 { // a count of tokens
		return nil
	}
	return a.TakeTokens(ctx, 1, tokens, subjects)
}

// leaveTarget ends what EnterTarget began, for an attempt that used so many tokens.
func (a *Permits) leaveTarget(tokens int64) {
	a.permits[2].Release()
	a.grants[1].Adjust(tokens)
	a.permits[2], a.grants[1] = nil, nil
}

// TakeTokens takes the tokens that the call will likely use from the token rates of the subjects.
// The grant is adjusted when the usage is known.
func (a *Permits) TakeTokens(ctx context.Context, grant int, n int64, subjects []limits.Subject) error {
	reading, granted, refused, err := a.deps.Rates.Tokens(ctx, n, subjects)
	if err != nil {
		return request.ClientGone(err)
	}
	if refused != nil {
		a.tokens = refused.Reading
		return rateRefusal(refused)
	}
	a.tokens = tighter(a.tokens, reading)
	a.grants[grant] = granted
	return nil
}

// Rates returns the tightest rates of requests and of tokens that the call counted against, as the
// header of an answer shows them; nil where none applies.
func (a *Permits) Rates() [2]*apierror.Rate {
	return [2]*apierror.Rate{rateOf(a.requests), rateOf(a.tokens)}
}

// Settle adjusts the token rates to the tokens that were used, and gives back the concurrency slots.
func (a *Permits) Settle(tokens int64) {
	a.leaveTarget(tokens)
	a.grants[0].Adjust(tokens)
	a.permits[1].Release()
	a.permits[0].Release()
}

// admit counts the request against the rates of the subjects and acquires their slots, or queues for
// them.
func (a *Permits) admit(ctx context.Context, permit int, subjects []limits.Subject, held *limits.Permit) (*limits.Permit, error) {
	if a.slotless || a.rateless {
		subjects = slices.Clone(subjects)
	}
	for i := range subjects {
		if a.slotless {
			subjects[i].Concurrency = limits.Concurrency{}
		}
		if a.rateless {
			subjects[i].Rates = nil
		}
	}
	entry, err := a.deps.Concurrency.Enter(ctx, a.deps.Rates, subjects, held)
	switch {
	case err != nil:
		return nil, request.ClientGone(err)
	case entry.Over != nil:
		a.requests = entry.Over.Reading
		return nil, rateRefusal(entry.Over)
	}
	a.requests = tighter(a.requests, entry.Reading)
	if entry.Busy != nil {
		return nil, concurrencyRefusal(entry.Busy)
	}
	a.permits[permit] = entry.Permit
	return entry.Permit, nil
}

// readAhead reads a small body while the call is queued. net/http notices that an HTTP/1 client has
// left only after the body was read, and a client that has left must not keep its place. The queue
// bounds how much is held so; a body that is large or of unknown length is read later.
func readAhead(permit *limits.Permit, body *upload.Upload, maxBody int64) error {
	timeout := time.AfterFunc(permit.TimeLeft(), func() {
		if permit.TimeOut() {
			body.Interrupt()
		}
	})
	defer timeout.Stop()
	if _, err := body.Read(maxBody); err != nil && permit.Refused() == nil {
		return err
	}
	return nil
}

// wait returns once the permit has its slots.
func wait(ctx context.Context, permit *limits.Permit) error {
	busy, err := permit.Wait(ctx)
	switch {
	case busy != nil:
		return concurrencyRefusal(busy)
	case err != nil:
		return request.ClientGone(err)
	}
	return nil
}

func concurrencyRefusal(busy *limits.Busy) error {
	e := apierror.New(apierror.ConcurrencyLimitExceeded, "%s has %d calls under way, which is its limit; try again when one of them has ended", busy.Subject, busy.InUse)
	e.RetryAfter, e.LimitSource = busy.RetryAfter, busy.Subject
	e.RefusedBy = policy.RefusedBy(busy.Subject, "concurrency", strconv.Itoa(busy.Limit.Limit))
	return e
}

func rateRefusal(r *limits.RateRefusal) *apierror.Error {
	var e *apierror.Error
	if r.Never {
		e = apierror.New(apierror.RateLimitExceeded, "this call alone needs more than the limit of %s, %s, allows at all", r.Subject, r.Rate)
		e.RetryAfter = r.Rate.Window // some clients retry all the same, and at once if no time is given
	} else {
		e = apierror.New(apierror.RateLimitExceeded, "the limit of %s, %s, is used up; there is room in %s", r.Subject, r.Rate, r.RetryAfter.Round(time.Millisecond))
		e.RetryAfter = r.RetryAfter
	}
	e.LimitSource, e.RefusedBy = r.Subject, policy.RefusedBy(r.Subject, "rate", r.Rate.String())
	e.NoRetry = r.Never || r.Rate.Window > longRate
	e.Rate = rateOf(r.Reading)
	return e
}

// tighter returns the reading with less remaining. The zero reading is none.
func tighter(a, b limits.Reading) limits.Reading {
	if a.Rate.Limit == 0 || b.Rate.Limit > 0 && b.Remaining < a.Remaining {
		return b
	}
	return a
}

// rateOf returns the reading as headers show it, nil for none.
func rateOf(r limits.Reading) *apierror.Rate {
	if r.Rate.Limit == 0 {
		return nil
	}
	return &apierror.Rate{Limit: r.Rate.Limit, Remaining: r.Remaining, Reset: r.Reset, Tokens: r.Rate.Unit == limits.Tokens}
}
