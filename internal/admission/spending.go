package admission

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Spending holds a call to the budgets of its key, tenant and gateway: it reserves what the call may
// use, and in the end charges what it used.
type Spending struct {
	deps *Deps
	req  *request.Request
	key  *policy.KeyLimits
	hold *limits.Reservation

	show  bool             // the caller's client shows its person a budget
	shown *apierror.Budget // nil: none
	price int64            // that ReservePrice was called with
}

// SpendingOf returns that of a call with a key, which has reserved nothing yet.
func SpendingOf(d *Deps, q *request.Request, key *policy.KeyLimits) Spending {
	return Spending{deps: d, req: q, key: key}
}

// Show makes the caller see the budget: Shown, and refusals that say to a person what to do.
func (s *Spending) Show() { s.show = true }

// Shown is the caller's own budget of which the most is spent, when the call has reserved what it
// may use. Nil: the caller has none, or does not see it.
func (s *Spending) Shown() *apierror.Budget { return s.shown }

const (
	// reserveTimeout bounds how long a call, with its concurrency slots, waits for its reservation to
	// be on disk: a locked database, a disk that hangs.
	reserveTimeout = 2 * time.Second

	// shownTimeout bounds how long a call waits for what its answer shows of a budget.
	shownTimeout = 100 * time.Millisecond

	// settleTimeout bounds how long the end of a call waits for the ledger.
	settleTimeout = 5 * time.Second

	// awayRetry is the Retry-After of a call that is refused because the ledger of a cluster is away.
	awayRetry = time.Second
)

// Check refuses the call if a budget is used up already.
func (s *Spending) Check(ctx context.Context) error {
	if !s.key.Budgeted() {
		return nil
	}
	refused, err := s.deps.Ledger.Exhausted(ctx, s.req.Outcome.Begun, s.key.Subjects)
	switch {
	case err != nil:
		return s.ledgerFailure(ctx, err)
	case refused != nil:
		return s.refusal(refused)
	}
	return nil
}

func (s *Spending) refusal(r *limits.Refusal) error {
	e := s.deps.Exhausted.Refusal(r)
	if s.show {
		policy.ToPerson(e, r, s.req.Caller.Name)
	}
	return e
}

// Reserve takes from the budgets what the call may use.
func (s *Spending) Reserve(ctx context.Context, most, likely limits.Amount) error {
	return s.reserve(ctx, most, likely, s.key.Subjects)
}

// Owe is Reserve for a call that nobody can refuse any more: no budget does, and it is charged.
func (s *Spending) Owe(ctx context.Context) error {
	subjects := slices.Clone(s.key.Subjects)
	for i := range subjects {
		subjects[i].Budgets = slices.Clone(subjects[i].Budgets)
		for j := range subjects[i].Budgets {
			subjects[i].Budgets[j].Limit = limits.NoLimit
		}
	}
	return s.reserve(ctx, limits.Amount{}, limits.Amount{}, subjects)
}

func (s *Spending) reserve(ctx context.Context, most, likely limits.Amount, subjects []limits.Subject) error {
	if !s.key.Budgeted() {
		return nil
	}
	hold, refused, err := limits.Reserve(ctx, s.deps.Ledger, limits.ReserveRequest{
		Call: s.reservationID(), At: s.req.Outcome.Begun, Most: most, Likely: likely, Subjects: subjects, Durable: s.mustBeRecorded(), Timeout: reserveTimeout,
	})
	switch {
	case err != nil:
		return s.ledgerFailure(ctx, err)
	case refused != nil:
		return s.refusal(refused)
	}
	s.hold = hold
	if s.show {
		s.shown = s.fullest(ctx)
	}
	return nil
}

// fullest reads Shown. What a call has spent is charged all the same if it cannot be read.
func (s *Spending) fullest(ctx context.Context) *apierror.Budget {
	ctx, cancel := context.WithTimeout(ctx, shownTimeout)
	defer cancel()
	own := s.key.Own(s.req.Caller.Name)
	balances, err := s.deps.Ledger.Status(ctx, s.req.Outcome.Begun, own)
	if err != nil {
		return nil
	}
	return policy.ShownBudget(balances)
}

// Settle charges what the call used and gives back the rest of what it reserved.
func (s *Spending) Settle(used limits.Amount) {
	if s.hold == nil {
		return
	}
	ctx := &lazyTimeout{limit: settleTimeout}
	defer ctx.stop()
	if err := s.hold.Settle(ctx, used); err != nil {
		s.deps.Metrics.LedgerFailed()
		s.deps.Logger.Error("what a call has spent was not recorded", zap.String("request_id", s.req.Outcome.Record.RequestID), zap.Error(err))
	}
}

// ReservePrice is Reserve for a call that costs this much, in 1e-9 USD, and uses no tokens.
func (s *Spending) ReservePrice(ctx context.Context, nano int64) error {
	s.price = nano
	price := limits.Amount{Nano: nano}
	return s.Reserve(ctx, price, price)
}

// SettlePrice is Settle for such a call: it costs its price if it was served. It returns what it has cost.
func (s *Spending) SettlePrice(served bool) (nano int64) {
	if served {
		nano = s.price
	}
	s.Settle(limits.Amount{Nano: nano})
	return nano
}

// mustBeRecorded reports whether the reservation must be on disk before the call goes on.
func (s *Spending) mustBeRecorded() bool {
	switch s.deps.Limits.OnStoreFailure {
	case policy.FailOpen:
		return false
	case policy.FailClosed:
		return s.key.BudgetLimited()
	}
	return s.key.HardMoney()
}

// ledgerFailure refuses a call, or lets it go on without a reservation, as the policy says. What the
// ledger refuses as invalid is a bug of the gateway and never lets a call go on: nobody would be
// charged for it. Nor would anybody if too much waits to be charged: only policy.FailOpen accepts that.
func (s *Spending) ledgerFailure(ctx context.Context, err error) error {
	if errors.Is(err, limits.ErrInvalid) {
		return err
	}
	if ctx.Err() != nil {
		return request.ClientGone(err)
	}
	s.deps.Metrics.LedgerFailed()
	if s.mustBeRecorded() || errors.Is(err, limits.ErrFull) && s.deps.Limits.OnStoreFailure != policy.FailOpen {
		e := apierror.New(apierror.LedgerUnavailable, "what this key has spent cannot be recorded now").WithCause(err)
		e.RefusedBy = policy.RefusedBy(policy.GatewaySubject(), "on_store_failure", "")
		if errors.Is(err, limits.ErrAway) {
			e.RetryAfter = awayRetry
		}
		return e
	}
	s.deps.Sampled().Error("a call goes on without a reservation", zap.String("request_id", s.req.Outcome.Record.RequestID), zap.Error(err))
	return nil
}

// reservationID is the call's id in the ledger: "<request>/<tenant>/<key>". After a crash it says
// whose reservation was left behind.
func (s *Spending) reservationID() string {
	r := s.req.Outcome.Record
	return r.RequestID + reservationSeparator + r.Tenant + reservationSeparator + r.Key
}

// ParseReservationID reads what reservationID wrote.
func ParseReservationID(id string) (requestID, tenant, key string) {
	requestID, caller, _ := strings.Cut(id, reservationSeparator)
	tenant, key, _ = strings.Cut(caller, reservationSeparator)
	return requestID, tenant, key
}

const reservationSeparator = "/"
