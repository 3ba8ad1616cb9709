package modelcall

import (
	"context"
	"errors"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// charge holds a call to the caps and budgets of its key and model: it reserves what the call may
// use, and in the end charges what it used.
type charge struct {
	deps   *Deps
	record *activity.Record
	key    *KeyLimits // nil: the key has no limits
	caps   Caps       // of key and model
	target *target    // nil before the model is known

	requested request.RequestedLimits
	output    int64 // the most tokens of a choice; 0: not bounded
	setOutput bool  // the provider must be told output

	account   accountUse
	cacheHour bool // what the call writes to the provider's cache is kept for an hour, unless usage says what of it is

	use   estimate
	grant *limits.Grant       // of the token rates
	hold  *limits.Reservation // of the budgets
}

const (
	// reserveTimeout bounds how long a call, with its concurrency slots, waits for its reservation to
	// be on disk: a locked database, a disk that hangs.
	reserveTimeout = 2 * time.Second

	// settleTimeout bounds how long the end of a call waits for the ledger.
	settleTimeout = 5 * time.Second
)

// setTarget takes the caps of the key and of the model.
func (g *charge) setTarget(t *target) {
	g.target = t
	if g.key != nil {
		g.caps = g.key.Caps
	}
	for _, m := range t.limits {
		g.caps = g.caps.within(m.Caps)
	}
}

// checkSize holds the body to the limit of the model.
func (g *charge) checkSize(bytes int) error {
	most := g.caps.Body
	if most == 0 {
		most = upload.MaxBody
	}
	if int64(bytes) > most {
		return apierror.New(apierror.RequestTooLarge, "the request body has %d bytes; the limit of the model %q is %d bytes", bytes, g.record.Model, most)
	}
	return nil
}

// check holds the request to the caps and decides the bound of the output. List is the field that
// has the messages. Field is the one name of the output limit that the provider knows, "" for any.
func (g *charge) check(requested request.RequestedLimits, tools int, list, field string) error {
	g.requested, g.output = requested, requested.Output
	if most := g.caps.Tools; most > 0 && tools > most {
		return apierror.New(apierror.InvalidValue, "the request declares %d tools; at most %d are allowed here", tools, most).WithParam("tools")
	}
	if most := g.caps.Messages; most > 0 && requested.Messages > most {
		return apierror.New(apierror.InvalidValue, "%q has %d elements; at most %d are allowed here", list, requested.Messages, most).WithParam(list)
	}
	switch most := g.caps.Output; {
	case most == 0:
	case requested.Output == 0:
		g.output, g.setOutput = most, true
	case requested.Output > most && g.caps.Clamp:
		g.output, g.setOutput = most, true
	case requested.Output > most:
		return apierror.New(apierror.InvalidValue, "%q is %d; at most %d is allowed here", requested.Param, requested.Output, most).WithParam(requested.Param)
	}
	if field != "" && g.output > 0 && !requested.SaysOnly(field) {
		g.setOutput = true
	}
	return nil
}

// checkBudgets refuses the call if a budget is used up already.
func (g *charge) checkBudgets(ctx context.Context, at time.Time) error {
	if !g.key.budgeted() {
		return nil
	}
	refused, err := g.deps.Ledger.Exhausted(ctx, at, g.key.Subjects)
	switch {
	case err != nil:
		return g.ledgerFailure(ctx, err)
	case refused != nil:
		return g.deps.Exhausted.refusal(refused)
	}
	return nil
}

// reserve takes from the budgets what the call may use.
func (g *charge) reserve(ctx context.Context, at time.Time) error {
	if !g.key.budgeted() {
		return nil
	}
	bounded, cancel := context.WithTimeout(ctx, reserveTimeout)
	defer cancel()
	hold, refused, err := limits.Reserve(bounded, g.deps.Ledger, limits.ReserveRequest{
		Call: g.reservationID(), At: at, Most: g.use.most, Likely: g.use.likely, Subjects: g.key.Subjects, Durable: g.mustBeRecorded(),
	})
	switch {
	case err != nil:
		return g.ledgerFailure(ctx, err)
	case refused != nil:
		return g.deps.Exhausted.refusal(refused)
	}
	g.hold = hold
	return nil
}

// settle charges what the call used and gives back the rest of what it reserved.
func (g *charge) settle(used limits.Amount) {
	g.grant.Adjust(used.Tokens)
	if g.hold == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	if err := g.hold.Settle(ctx, used); err != nil {
		g.deps.Logger.Error("what a call has spent was not recorded", zap.String("request_id", g.record.RequestID), zap.Error(err))
	}
}

// mustBeRecorded reports whether the reservation must be on disk before the call goes on.
func (g *charge) mustBeRecorded() bool {
	switch g.deps.Limits.OnStoreFailure {
	case FailOpen:
		return false
	case FailClosed:
		return true
	}
	return g.key.hardMoney
}

// ledgerFailure refuses a call, or lets it go on without a reservation, as the policy says. What the
// ledger refuses as invalid is a bug of the gateway and never lets a call go on: nobody would be
// charged for it.
func (g *charge) ledgerFailure(ctx context.Context, err error) error {
	if errors.Is(err, limits.ErrInvalid) {
		return err
	}
	if ctx.Err() != nil {
		return clientGone(err)
	}
	if g.mustBeRecorded() {
		return apierror.New(apierror.LedgerUnavailable, "what this key has spent cannot be recorded now").WithCause(err)
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
func (g *charge) maxPrice() *routerPrice {
	if g.key == nil || !g.key.hardMoney || !g.use.priced || !g.target.provider.Dialect.OpenRouterFields() {
		return nil
	}
	p := g.target.model.Price
	return &routerPrice{p.Prompt.Rate.PerMillion(), p.Completion.Rate.PerMillion()}
}

// routerPrice is the highest price that a router may choose, in USD per million tokens.
type routerPrice struct{ prompt, completion string }

// outputCap returns the output limit that the record shows: one that the caller did not ask for.
func (g *charge) outputCap() int64 {
	if g.setOutput && g.output != g.requested.Output {
		return g.output
	}
	return 0
}
