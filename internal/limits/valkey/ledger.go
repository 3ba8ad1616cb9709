package valkey

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
)

const (
	// durableTimeout bounds a Durable reservation without a Timeout, as limits.ReserveRequest says.
	durableTimeout = time.Minute
	// likelyTimeout bounds any other reservation. Then the call goes on without one.
	likelyTimeout = 100 * time.Millisecond
	// retryPause is the time between two attempts to reserve.
	retryPause = 10 * time.Millisecond
	// stall is how long a Durable reservation waits for an engine that has just begun to miss messages:
	// it is asked again each second, and a machine that stood still for 100 ms is enough to miss some.
	stall = 1500 * time.Millisecond
)

// LedgerConfig is what a Ledger needs.
type LedgerConfig struct {
	Node    *cluster.Node      // has not started
	Writer  Writer             // of the table BookTable
	DB      *postgres.DB       // the book; nil: an engine that has lost everything begins at zero
	Crashed func(limits.Crash) // called for the calls of a node that died; may be nil
	Logger  *zap.Logger
	Now     func() time.Time // the clock of the times in messages, which may be wrong; nil: time.Now
	Likely  time.Duration    // for tests: how long a call waits that can go on without the engine; 0: 100 ms
}

// Writer is a postgres.Writer.
type Writer interface {
	Append(table string, row []byte)
	Flush(ctx context.Context) error
}

// Ledger is the limits.Ledger of a cluster. It is safe for concurrent use.
//
//   - A Durable reservation is made by the engine, or refused with ErrUnavailable and ErrAway: at its
//     Timeout, or at once if no message was answered for 1.5 s. A failover may be under way.
//   - Any other goes on after 100 ms without the engine, or at once. Its settlement says what to charge.
//   - Settle hands over to an outbox, which sends until the engine has answered. When 262,144 settlements
//     wait (the engine was away for minutes), Reserve fails at once with ErrUnavailable and ErrFull.
//   - What the engine has charged is then written to the book, exactly once.
//   - Status, and Exhausted where a budget may be spent, first wait for the settlements of this node.
//     Exhausted believes balances that are at most a second old. Without an answer for 100 ms it says
//     what this node knows: Reserve judges again.
type Ledger struct {
	node     *cluster.Node
	engine   *engine
	now      func() time.Time
	calls    *calls
	outbox   *outbox
	view     *view
	book     *book
	recovery *recovery
	logger   *zap.Logger
	likely   time.Duration
	unfit    atomic.Pointer[error]
}

// NewLedger returns the ledger of a node, which it joins.
func NewLedger(c LedgerConfig) *Ledger {
	if c.Now == nil {
		c.Now = time.Now
	}
	l := &Ledger{
		node: c.Node, engine: &engine{node: c.Node, id: rand.Text(), run: c.Node.Run}, now: c.Now, calls: newCalls(), view: newView(),
		book: &book{writer: c.Writer, db: c.DB}, logger: c.Logger, likely: cmp.Or(c.Likely, likelyTimeout),
	}
	l.outbox = newOutbox(l.settle, l.whole)
	l.recovery = &recovery{engine: l.engine, calls: l.calls, outbox: l.outbox, book: l.book, crashed: c.Crashed, logger: c.Logger}
	c.Node.Join(l.recovery.part())
	return l
}

// Distrust refuses Durable reservations from now on, because the engine may forget what was spent; nil
// ends that.
func (l *Ledger) Distrust(err error) {
	if err == nil {
		l.unfit.Store(nil)
		return
	}
	l.unfit.Store(&err)
}

// Distrusted returns what Distrust was told last.
func (l *Ledger) Distrusted() error {
	if err := l.unfit.Load(); err != nil {
		return *err
	}
	return nil
}

// Outbox returns how many settlements wait to be sent to the engine.
func (l *Ledger) Outbox() int { return l.outbox.length() }

// Restored returns how many settlements the engine had lost, and was told again.
func (l *Ledger) Restored() uint64 { return l.recovery.restored.Load() }

// Close sends the settlements that wait. Those that could not be sent before the context ends are
// charged as reserved when the lease of the node has ended.
func (l *Ledger) Close(ctx context.Context) error {
	err := l.outbox.flush(ctx)
	l.outbox.close()
	if err != nil {
		return fmt.Errorf("%w: sending settlements: %w", limits.ErrUnavailable, err)
	}
	return nil
}

// at returns a time of this gateway as the engine's.
func (l *Ledger) at(t time.Time) time.Time {
	return t.Add(l.node.Now().Sub(l.now()))
}

// Reserve implements limits.Ledger.
func (l *Ledger) Reserve(ctx context.Context, r limits.ReserveRequest) (*limits.Refusal, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if l.outbox.full() {
		return nil, fmt.Errorf("%w: %w", errAway, limits.ErrFull)
	}
	if unfit := l.Distrusted(); unfit != nil && r.Durable {
		return nil, fmt.Errorf("%w: %w", errAway, unfit)
	}
	admitted := r.At
	r.At = l.at(r.At)
	c, q, ok := l.calls.begin(&r, admitted)
	if !ok {
		return nil, fmt.Errorf("%w: %d calls under way", limits.ErrUnavailable, maxUnderWay)
	}
	switch state, held := l.calls.is(c); {
	case state == ended:
		return nil, limits.ErrEnded
	case state == underWay && !held && !r.Durable: // it goes on without a reservation
		return nil, nil
	}
	timeout := l.likely
	if r.Durable {
		timeout = cmp.Or(r.Timeout, durableTimeout)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var clock error // that the engine has answered
	for {
		a, err := l.engine.ask(ctx, c.id, q)
		switch err = lastClock(ctx, err, &clock); {
		case err == nil && a.later != nil:
			q = l.calls.ask(c, a.later)
			continue
		case err == nil && (a.ended || a.short != nil):
			l.calls.drop(c)
			return refusal(&r, q.lines, a)
		case err == nil:
			state, again := l.calls.reserved(c, q)
			if !again {
				return nil, ifEnded(state)
			}
			q = l.calls.ask(c, nil)
			continue
		case errors.Is(err, cluster.ErrClock): // the node measures it again
			if r.At = l.at(admitted); !r.Durable { // it goes on: in a period that has begun
				r.At = earlier(r.At, l.node.Now())
			}
			q = l.calls.ask(c, linesOf(&r))
		case !r.Durable || l.away():
			return nil, l.without(ctx, c, &r, err)
		}
		if l.whole(ctx, err, retryPause) != nil {
			return nil, l.without(ctx, c, &r, err)
		}
	}
}

// away reports whether the engine has missed messages for longer than a stall.
func (l *Ledger) away() bool {
	engine := l.node.Engine().Stats()
	return !engine.Up && time.Since(engine.Since) > stall
}

// without lets a call go on without a reservation, unless it needs one or was given up.
func (l *Ledger) without(ctx context.Context, c *call, r *limits.ReserveRequest, err error) error {
	if r.Durable || errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return ifEnded(l.calls.goOn(c))
}

// errAway is for what may work in a second.
var errAway = fmt.Errorf("%w: %w", limits.ErrUnavailable, limits.ErrAway)

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// whole waits after an error, before another attempt: until the node is whole again, or for a while.
func (l *Ledger) whole(ctx context.Context, err error, pause time.Duration) error {
	if errors.Is(err, cluster.ErrLeaseLost) || errors.Is(err, cluster.ErrFenced) {
		return l.node.Await(ctx)
	}
	return wait(ctx, pause)
}

func ifEnded(s callState) error {
	if s == ended {
		return limits.ErrEnded
	}
	return nil
}

// refusal returns the one of the short budgets that resets last.
func refusal(r *limits.ReserveRequest, lines []line, a answer) (*limits.Refusal, error) {
	if a.ended {
		return nil, limits.ErrEnded
	}
	var worst limits.Balance
	var amount int64
	for _, s := range a.short {
		if s.line >= len(lines) {
			return nil, fmt.Errorf("%w: %w", limits.ErrUnavailable, errAnswer)
		}
		l := &lines[s.line]
		b := l.balance(s.balance)
		if worst.Subject == "" || b.After(worst) {
			worst, amount = b, l.amount
		}
	}
	return worst.Refuse(amount, r.At), nil
}

// Settle implements limits.Ledger.
func (l *Ledger) Settle(_ context.Context, id string, used limits.Amount) error {
	if err := limits.CheckSettle(id, used); err != nil {
		return err
	}
	if l.outbox.full() && !l.calls.knows(id) {
		return nil // Reserve has refused it
	}
	c := l.calls.settle(id, limits.Amount{Nano: min(used.Nano, limits.MaxSharedBudget), Tokens: min(used.Tokens, limits.MaxSharedBudget)})
	if c == nil {
		return nil
	}
	l.view.pend(c, 1)
	l.outbox.add(c)
	return nil
}

// settle sends a message of the outbox and does what its answer asks for.
func (l *Ledger) settle(ctx context.Context, n uint64, batch []*call) error {
	settled, err := l.engine.settle(ctx, strconv.FormatUint(n, 10), batch)
	if errors.Is(err, errAnswer) {
		l.logger.Error("the engine's answer to settlements cannot be read", zap.Error(err))
	}
	if err != nil {
		return err
	}
	for i, c := range batch {
		c.answered, c.era, c.charged = settled.now, settled.era, settled.letters[i] != endedBefore
		c.crashed = settled.letters[i] == afterCrash
		lines := c.lines
		if c.hold == "" {
			lines = settled.lines[i]
		}
		l.book.charge(c, lines)
		if settled.letters[i] == ofDeadNode || c.stated && c.charged && !c.crashed {
			l.book.uncrash(c.id, lines)
		}
	}
	settled.tell(l.view)
	for _, c := range batch {
		l.view.pend(c, -1)
	}
	l.calls.answer(batch, settled.now)
	return nil
}
