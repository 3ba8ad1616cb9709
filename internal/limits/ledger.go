package limits

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrUnavailable is wrapped where the ledger cannot be written or reached. Nothing was reserved. Whether the call goes
	// on without is the policy of its key (on_store_failure).
	ErrUnavailable = errors.New("ledger unavailable")
	// ErrEnded is returned for a Reserve of a call that has already been settled: a message that came late.
	ErrEnded = errors.New("the call has ended")
)

// Ledger keeps what subjects have spent and reserved in the periods of their budgets. [SQLiteLedger] is one on this machine's
// disk; the interface is made so that one behind a network fits: values only, a context, everything of a call in one
// message. Messages may be lost, repeated and late; the id of a call makes them harmless:
//
//	Reserve ──refused──────────────────────────────> ended   (repeated: the same refusal)
//	   └────taken──> reserved ──Settle(actual)─────> ended   (repeated: no effect; a late Reserve: ErrEnded)
//	                    └───────the process died───> ended   (charged as reserved, at the next start)
//
// An ended call is remembered while the next few thousand end, so no id may serve twice. A call belongs to the period in
// which it was admitted, whenever it ends. Periods only move forward: a clock that is set back keeps the period it was
// set back from, and what was spent in it. Conformance is tested by package limitstest.
//
// Money and tokens are never lower than what was settled, except that a Reserve that was not Durable may be lost by a
// kill -9 within the store's commit interval.
type Ledger interface {
	// Reserve takes the amounts of a call from all budgets of its subjects, or from none: then the refusal says which
	// budget lacks them, of several the one that resets last. The sum of spent and reserved never exceeds the limit by a Reserve. After an error nobody
	// knows whether it was taken: repeat it, or Settle with the zero Amount.
	Reserve(ctx context.Context, r Reservation) (*Refusal, error)
	// Settle ends a call: it gives back what was reserved and charges what was used, whether or not that is more. The
	// zero Amount releases. Of a call that is unknown or has ended nothing is charged. After an error repeat it.
	Settle(ctx context.Context, call string, used Amount) error
	// Exhausted is a quick look before the work of a call begins: the first budget of which everything is spent.
	Exhausted(ctx context.Context, at time.Time, subjects []Subject) (*Refusal, error)
	// Status returns one balance for each budget of the subjects, in their order.
	Status(ctx context.Context, at time.Time, subjects []Subject) ([]Balance, error)
	// Subjects are the names, sorted, that have spent something in a period that is not over at that time.
	Subjects(ctx context.Context, at time.Time) ([]string, error)
}

// Reservation is what a call may use.
type Reservation struct {
	Call     string    // its id, never used twice
	At       time.Time // when it was admitted
	Most     Amount    // an upper bound, taken from hard budgets
	Likely   Amount    // an estimate, taken from soft budgets
	Subjects []Subject // whose budgets pay; names differ
	// Durable: return only when the reservation would survive a kill -9, and refuse with ErrUnavailable where that is
	// impossible. Otherwise it is written with the next group, and from memory alone while the store fails.
	Durable bool
}

// Balance is the state of one budget in its current period.
type Balance struct {
	Subject  string
	Budget   Budget
	Spent    int64     // nano-USD or tokens, as the budget counts; may exceed the limit
	Reserved int64     // by calls under way that were admitted in this period
	Begins   time.Time // of the period; zero for Total
	ResetsAt time.Time // the end of the period; zero for Total
}

// Remaining is what can still be reserved, not below 0.
func (b Balance) Remaining() int64 {
	return max(b.Budget.Limit-plus(b.Spent, b.Reserved), 0)
}

// Refusal says which budget does not allow a call.
type Refusal struct {
	Balance
	Amount     int64         // what the call needs of it; 0 from Exhausted
	RetryAfter time.Duration // until ResetsAt; 0 for Total. Where calls under way hold the rest there may be room sooner.
}
