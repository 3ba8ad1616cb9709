package modelcall

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// charge holds a call to the caps and budgets of its key and model: it reserves what the call may
// use, and in the end charges what it used.
type charge struct {
	deps   *Deps
	record *activity.Record
	key    *policy.KeyLimits
	named  []*policy.ModelLimits // of the name in the request
	target *target               // the one that is asked, or will be; nil before the model is known

	requested params.RequestedLimits
	cacheHour bool                // what the call writes to the provider's cache is kept for an hour, unless usage says how long
	hold      *limits.Reservation // of the budgets
	free      bool                // nothing is charged
}

const (
	// reserveTimeout bounds how long a call, with its concurrency slots, waits for its reservation to
	// be on disk: a locked database, a disk that hangs.
	reserveTimeout = 2 * time.Second

	// settleTimeout bounds how long the end of a call waits for the ledger.
	settleTimeout = 5 * time.Second

	// awayRetry is the Retry-After of a call that is refused because the ledger of a cluster is away.
	awayRetry = time.Second
)

// capsOf returns the caps that the key and all of the limits set.
func (g *charge) capsOf(limits ...[]*policy.ModelLimits) (caps policy.Caps) {
	caps = g.key.Caps
	for _, list := range limits {
		for _, m := range list {
			caps = caps.Within(m.Caps)
		}
	}
	return caps
}

// checkSize holds the body to the limit of the model.
func (g *charge) checkSize(t *target, bytes int) error {
	most := t.allowed.caps.Body
	if most == 0 {
		most = upload.MaxBody
	}
	if int64(bytes) > most {
		return g.capRefusal(t, policy.CapBody, apierror.New(apierror.RequestTooLarge,
			"the request body has %d bytes; the limit of the model %q is %d bytes", bytes, g.record.Model, most))
	}
	return nil
}

// capRefusal adds to the refusal by a cap of a target whose cap it is.
func (g *charge) capRefusal(t *target, option policy.Cap, e *apierror.Error) *apierror.Error {
	return policy.CapRefusal(e, option, t.allowed.caps, g.record.Key, g.key, g.named, t.own)
}

// check holds the request to the caps of a target and decides the bound of the output there. Tools
// counts those of the request. List is the field that has the messages.
func (g *charge) check(t *target, tools func() int, list string) error {
	requested, caps := &g.requested, &t.allowed.caps
	t.allowed.output, t.allowed.setOutput = requested.Output, false
	if caps.Tools > 0 {
		if n := tools(); n > caps.Tools {
			return g.capRefusal(t, policy.CapTools, apierror.New(apierror.InvalidValue,
				"the request declares %d tools; at most %d are allowed here", n, caps.Tools).WithParam("tools"))
		}
	}
	if most := caps.Messages; most > 0 && requested.Messages > most {
		return g.capRefusal(t, policy.CapMessages, apierror.New(apierror.InvalidValue,
			"%q has %d elements; at most %d are allowed here", list, requested.Messages, most).WithParam(list))
	}
	switch most := caps.Output; {
	case most == 0 || !t.op.Generates || t.op.Compacts && policy.Lesser(t.model.MaxOutput, most) == t.model.MaxOutput:
	case t.op.Compacts:
		return g.capRefusal(t, policy.CapOutput, apierror.New(apierror.InvalidValue,
			"a compaction may have as many tokens as the model writes; at most %d are allowed here", most))
	case requested.Other != "":
		return g.capRefusal(t, policy.CapOutput, apierror.New(apierror.InvalidValue,
			"%q is not possible where the output is limited; use %q", requested.Other, requested.Param).WithParam(requested.Other))
	case requested.Output == 0:
		t.allowed.output, t.allowed.setOutput = most, true
	case requested.Output > most && caps.Clamp:
		t.allowed.output, t.allowed.setOutput = most, true
	case requested.Output > most:
		return g.capRefusal(t, policy.CapOutput, apierror.New(apierror.InvalidValue,
			"%q is %d; at most %d is allowed here", requested.Param, requested.Output, most).WithParam(requested.Param))
	}
	if field := t.outputField(); field != "" && t.allowed.output > 0 && !requested.SaysOnly(field) {
		t.allowed.setOutput = true
	}
	return nil
}

// checkBudgets refuses the call if a budget is used up already.
func (g *charge) checkBudgets(ctx context.Context, at time.Time) error {
	if !g.key.Budgeted() {
		return nil
	}
	refused, err := g.deps.Ledger.Exhausted(ctx, at, g.key.Subjects)
	switch {
	case err != nil:
		return g.ledgerFailure(ctx, err)
	case refused != nil:
		return g.deps.Exhausted.Refusal(refused)
	}
	return nil
}

// reservation returns what a call takes that may be sent to any of the targets: the most of each.
func reservation(targets []*target) (most, likely limits.Amount) {
	for _, t := range targets {
		most = limits.Amount{Nano: max(most.Nano, t.allowed.use.most.Nano), Tokens: max(most.Tokens, t.allowed.use.most.Tokens)}
		likely = limits.Amount{Nano: max(likely.Nano, t.allowed.use.likely.Nano), Tokens: max(likely.Tokens, t.allowed.use.likely.Tokens)}
	}
	return most, likely
}

// reserve takes from the budgets what the call may use.
func (g *charge) reserve(ctx context.Context, at time.Time, most, likely limits.Amount) error {
	if !g.key.Budgeted() {
		return nil
	}
	hold, refused, err := limits.Reserve(ctx, g.deps.Ledger, limits.ReserveRequest{
		Call: g.reservationID(), At: at, Most: most, Likely: likely, Subjects: g.key.Subjects, Durable: g.mustBeRecorded(), Timeout: reserveTimeout,
	})
	switch {
	case err != nil:
		return g.ledgerFailure(ctx, err)
	case refused != nil:
		return g.deps.Exhausted.Refusal(refused)
	}
	g.hold = hold
	return nil
}

// settle charges what the call used and gives back the rest of what it reserved.
func (g *charge) settle(used limits.Amount) {
	if g.hold == nil {
		return
	}
	ctx := &lazyTimeout{limit: settleTimeout}
	defer ctx.stop()
	if err := g.hold.Settle(ctx, used); err != nil {
		g.deps.Metrics.LedgerFailed()
		g.deps.Logger.Error("what a call has spent was not recorded", zap.String("request_id", g.record.RequestID), zap.Error(err))
	}
}

// mustBeRecorded reports whether the reservation must be on disk before the call goes on.
func (g *charge) mustBeRecorded() bool {
	switch g.deps.Limits.OnStoreFailure {
	case policy.FailOpen:
		return false
	case policy.FailClosed:
		return g.key.BudgetLimited()
	}
	return g.key.HardMoney()
}

// ledgerFailure refuses a call, or lets it go on without a reservation, as the policy says. What the
// ledger refuses as invalid is a bug of the gateway and never lets a call go on: nobody would be
// charged for it. Nor would anybody if too much waits to be charged: only policy.FailOpen accepts that.
func (g *charge) ledgerFailure(ctx context.Context, err error) error {
	if errors.Is(err, limits.ErrInvalid) {
		return err
	}
	if ctx.Err() != nil {
		return clientGone(err)
	}
	g.deps.Metrics.LedgerFailed()
	if g.mustBeRecorded() || errors.Is(err, limits.ErrFull) && g.deps.Limits.OnStoreFailure != policy.FailOpen {
		e := apierror.New(apierror.LedgerUnavailable, "what this key has spent cannot be recorded now").WithCause(err)
		e.RefusedBy = policy.RefusedBy(policy.GatewaySubject(), "on_store_failure", "")
		if errors.Is(err, limits.ErrAway) {
			e.RetryAfter = awayRetry
		}
		return e
	}
	g.deps.Sampled().Error("a call goes on without a reservation", zap.String("request_id", g.record.RequestID), zap.Error(err))
	return nil
}

// reservationID is the call's id in the ledger: "<request>/<tenant>/<key>". After a crash it says
// whose reservation was left behind.
func (g *charge) reservationID() string {
	return g.record.RequestID + reservationSeparator + g.record.Tenant + reservationSeparator + g.record.Key
}

// ParseReservationID reads what reservationID wrote.
func ParseReservationID(id string) (requestID, tenant, key string) {
	requestID, caller, _ := strings.Cut(id, reservationSeparator)
	tenant, key, _ = strings.Cut(caller, reservationSeparator)
	return requestID, tenant, key
}

const reservationSeparator = "/"

// maxPrice returns the price that was reserved for, if the provider is a router that could choose a
// dearer upstream and must be told. Otherwise it returns nil.
func (g *charge) maxPrice(t *target) *wire.MaxPrice {
	if !g.key.HardMoney() || !t.allowed.use.priced || !t.provider.Dialect.OpenRouterFields() {
		return nil
	}
	p := t.model.Price
	return &wire.MaxPrice{Prompt: p.Prompt.Rate.PerMillion(), Completion: p.Completion.Rate.PerMillion()}
}

// outputCap returns the output limit that the record shows: one that the caller did not ask for.
func (g *charge) outputCap(t *target) int64 {
	if t.allowed.setOutput && t.allowed.output != g.requested.Output {
		return t.allowed.output
	}
	return 0
}
