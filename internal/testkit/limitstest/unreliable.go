package limitstest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// ErrLost is returned by Unreliable if a message or its answer was lost.
var ErrLost = errors.New("no answer")

// maxLate bounds the copies of messages under way.
const maxLate = 64

// Unreliable is a Ledger behind a bad network. A message takes time. It may be lost, its answer may
// be lost, it may arrive twice, and once more much later, after other messages were answered.
type Unreliable struct {
	ledger limits.Ledger
	pause  func()

	mu   sync.Mutex // guards the following
	rand *rand.Rand
	late []func()
}

// NewUnreliable returns l behind a network with faults chosen by the seed. pause is the delay of a
// message; nil yields to other goroutines.
func NewUnreliable(l limits.Ledger, seed uint64, pause func()) *Unreliable {
	if pause == nil {
		pause = runtime.Gosched
	}
	return &Unreliable{ledger: l, pause: pause, rand: rand.New(rand.NewPCG(seed, 0))}
}

// messageFaults are the faults of one message.
type messageFaults struct {
	lost, unanswered, twice, late bool
	pauses                        int
	stale                         func() // an earlier message that arrives now
}

func (u *Unreliable) draw() messageFaults {
	u.mu.Lock()
	defer u.mu.Unlock()
	f := messageFaults{
		lost: u.rand.IntN(5) == 0, unanswered: u.rand.IntN(5) == 0, twice: u.rand.IntN(3) == 0, late: u.rand.IntN(3) == 0,
		pauses: u.rand.IntN(4),
	}
	if n := len(u.late); n > 0 && u.rand.IntN(2) == 0 {
		i := u.rand.IntN(n)
		f.stale = u.late[i]
		u.late[i] = u.late[n-1]
		u.late = u.late[:n-1]
	}
	return f
}

// send delivers a message to the ledger, or not. Only writes are kept to arrive again: a repeated
// read changes nothing.
func (u *Unreliable) send(ctx context.Context, write bool, message func(context.Context) error) error {
	f := u.draw()
	for range f.pauses {
		u.pause()
	}
	if f.stale != nil {
		f.stale()
	}
	if f.lost {
		return ErrLost
	}
	err := message(ctx)
	if write && f.twice {
		again := message(ctx)
		if err == nil {
			err = again
		}
	}
	if write && f.late {
		u.mu.Lock()
		if len(u.late) < maxLate {
			u.late = append(u.late, func() { _ = message(context.WithoutCancel(ctx)) }) // its answer is dropped
		}
		u.mu.Unlock()
	}
	for range f.pauses {
		u.pause()
	}
	if f.unanswered {
		return ErrLost
	}
	return err
}

// Reserve implements limits.Ledger.
func (u *Unreliable) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	answer := make(chan *limits.Refusal, 3) // of the first arrival, the second and a late one
	err := u.send(ctx, true, func(ctx context.Context) error {
		refusal, err := u.ledger.Reserve(ctx, r)
		answer <- refusal
		return err
	})
	if err != nil {
		return nil, err
	}
	return <-answer, nil
}

// Settle implements limits.Ledger.
func (u *Unreliable) Settle(ctx context.Context, call string, used limits.Amount) error {
	return u.send(ctx, true, func(ctx context.Context) error { return u.ledger.Settle(ctx, call, used) })
}

// Exhausted implements limits.Ledger.
func (u *Unreliable) Exhausted(ctx context.Context, at time.Time, subjects []limits.Subject) (refusal *limits.Refusal, err error) {
	err = u.send(ctx, false, func(ctx context.Context) (err error) {
		refusal, err = u.ledger.Exhausted(ctx, at, subjects)
		return err
	})
	if err != nil {
		return nil, err
	}
	return refusal, nil
}

// Status implements limits.Ledger.
func (u *Unreliable) Status(ctx context.Context, at time.Time, subjects []limits.Subject) (balances []limits.Balance, err error) {
	err = u.send(ctx, false, func(ctx context.Context) (err error) {
		balances, err = u.ledger.Status(ctx, at, subjects)
		return err
	})
	if err != nil {
		return nil, err
	}
	return balances, nil
}

// Subjects implements limits.Ledger.
func (u *Unreliable) Subjects(ctx context.Context, at time.Time) (names []string, err error) {
	err = u.send(ctx, false, func(ctx context.Context) (err error) {
		names, err = u.ledger.Subjects(ctx, at)
		return err
	})
	if err != nil {
		return nil, err
	}
	return names, nil
}
