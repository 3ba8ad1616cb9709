package limits

import (
	"context"
	"errors"
	"time"
)

var (
	// ErrUnavailable is wrapped if the ledger cannot be written or reached. Nothing was reserved.
	// The policy of the key (on_store_failure) says whether the call goes on without a reservation.
	ErrUnavailable = errors.New("ledger unavailable")
	// ErrAway is wrapped besides ErrUnavailable if the ledger is behind a network and does not answer,
	// or is being put right. That often takes less than a second.
	ErrAway = errors.New("it is away")
	// ErrFull is wrapped besides ErrUnavailable if so much waits to be charged that this call never
	// would be.
	ErrFull = errors.New("too many settlements wait")
	// ErrEnded is returned for a Reserve that arrives after its call was settled.
	ErrEnded = errors.New("the call has ended")
)

// Ledger keeps what subjects have spent and reserved in the periods of their budgets.
// Package sqlite has one on this machine's disk. The interface also fits a ledger behind a network:
// it passes only values, a context, and everything about a call in one message. Messages may be
// lost, repeated and late; the ID of the call makes them harmless:
//
//	Reserve ──refused──────────────────────────────> ended   (repeated: the same refusal)
//	   └────taken──> reserved ──Settle(actual)─────> ended   (repeated: no effect; a late Reserve: ErrEnded)
//	                    └───────the process died───> crashed (charged as reserved)
//	                                                    └──Settle(actual)──> ended (the charge is put right, once)
//
// A process that is alone finds its crashed calls at its next start (sqlite.OpenLedger returns them),
// and nobody settles those any more. Among several processes another one finds them, at any time, and
// tells it with a callback. The process may have been paused or cut off: its Settle comes late, and
// from then on the call is charged what it used.
//
// An ended call is remembered until a few thousand others have ended, so an ID must never be used
// twice. A call belongs to the period in which it was admitted, whenever it ends. Periods only move
// forward: if the clock is set back, the current period and its amounts stay. Package limitstest
// tests conformance.
//
// Counted money and tokens are never lower than what was settled. There is one exception: a kill -9
// may lose a Reserve that was not Durable if it came within the store's commit interval, or while the
// ledger could not be reached.
type Ledger interface {
	// Reserve takes the amounts of a call from all budgets of its subjects or from none. The
	// refusal names the budget that is short; of several, the one that resets last. A Reserve never
	// raises spent plus reserved above the limit. After an error the outcome is unknown: repeat it,
	// or Settle with the zero Amount.
	Reserve(ctx context.Context, r ReserveRequest) (*Refusal, error)
	// Settle ends a call: it gives back what was reserved and charges what was used, even if that
	// is more. The zero Amount releases the reservation. An unknown or ended call is charged
	// nothing. After an error repeat it. A ledger behind a network may answer before the charge is
	// made; the messages that follow from the same process find it made.
	Settle(ctx context.Context, call string, used Amount) error
	// Exhausted is a cheap check before the work of a call begins. It returns the first budget that
	// is spent completely.
	Exhausted(ctx context.Context, at time.Time, subjects []Subject) (*Refusal, error)
	// Status returns one balance for each budget of the subjects, in their order.
	Status(ctx context.Context, at time.Time, subjects []Subject) ([]Balance, error)
	// Subjects returns the sorted names of all subjects that have spent something in a period that
	// has not ended at that time.
	Subjects(ctx context.Context, at time.Time) ([]string, error)
}

// ReserveRequest is what a call asks a Ledger to reserve.
type ReserveRequest struct {
	Call     string    // its ID, never used twice
	At       time.Time // when it was admitted
	Most     Amount    // an upper bound, taken from hard budgets
	Likely   Amount    // an estimate, taken from soft budgets
	Subjects []Subject // whose budgets are charged; names differ
	// Durable makes Reserve return only when the reservation would survive a kill -9, and refuse
	// with ErrUnavailable if that is impossible. Otherwise the reservation is written with the next
	// group, and kept only in memory while the store fails.
	Durable bool
	// Timeout bounds the wait of a Durable reservation, instead of a context's deadline: a timer
	// that every call needs should be cheap. Default: a minute.
	Timeout time.Duration
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

// Remaining is how much can still be reserved, at least 0.
func (b Balance) Remaining() int64 {
	return max(b.Budget.Limit-Plus(b.Spent, b.Reserved), 0)
}

// Refusal names the budget that does not allow a call.
type Refusal struct {
	Balance
	Amount     int64         // how much the call needs; 0 from Exhausted
	RetryAfter time.Duration // until ResetsAt; 0 for Total. The budget may have enough sooner if calls under way use less than they reserved.
}

// Crash is a call that was under way when its process died. It has been charged as reserved.
type Crash struct {
	Call   string
	At     time.Time // when it was admitted
	Amount Amount    // what it was charged
}

// Charge adds what the call was charged in one of its budgets: its amount is the most of any.
func (c *Crash) Charge(u Unit, amount int64) {
	if u == Money {
		c.Amount.Nano = max(c.Amount.Nano, amount)
	} else {
		c.Amount.Tokens = max(c.Amount.Tokens, amount)
	}
}
