package valkey

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// BelieveNothing makes Exhausted ask the engine always.
func (l *Ledger) BelieveNothing() { l.view.fresh = 0 * time.Second }

// BookLine is what a row adds to the book.
type BookLine struct {
	Subject, Budget, Period string
	Spent, Calls            int64
}

// ParseRow reads a row of the book.
func ParseRow(row []byte) (crash string, lines []BookLine, err error) {
	r, err := parseRow(row)
	for _, l := range r.lines {
		lines = append(lines, BookLine{l.subject, l.budget, l.period, l.spent, l.calls})
	}
	return r.crash, lines, err
}

// RowAgain reads a row of the book, and writes it again.
func RowAgain(row []byte) ([]byte, error) {
	r, err := parseRow(row)
	if err != nil {
		return nil, err
	}
	return appendRow(nil, &r), nil
}

// AppendReceipt writes the row of a settlement.
func AppendReceipt(call string, used limits.Amount, answered int64, all []BookLine) []byte {
	r := bookRow{receipt: receipt{call, used, answered, answered - 1}}
	for _, l := range all {
		r.lines = append(r.lines, bookLine{l.Subject, l.Budget, l.Period, l.Spent, l.Calls})
	}
	return appendRow(nil, &r)
}

// Reap charges the calls of a node.
func (l *Ledger) Reap(ctx context.Context, dead string) error { return l.recovery.reap(ctx, dead) }

// LoseMessages loses messages to the engine (lost), and answers, as said before each. It must be called
// before the first message.
func (l *Ledger) LoseMessages(faults func() (lost, unanswered bool)) {
	run := l.engine.run
	l.engine.run = func(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error) {
		lost, unanswered := faults()
		if lost {
			return valkey.Reply{}, valkey.ErrUnavailable
		}
		reply, err := run(ctx, s, args...)
		if unanswered {
			return valkey.Reply{}, valkey.ErrUnavailable
		}
		return reply, err
	}
}

// AfterReserving calls f between the engine's answer to the first reservation and its arrival.
func (l *Ledger) AfterReserving(f func()) {
	run := l.engine.run
	l.engine.run = func(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error) {
		reply, err := run(ctx, s, args...)
		if s == reserveScript {
			l.engine.run = run
			f()
		}
		return reply, err
	}
}

// Replay says again what the engine may have lost.
func (l *Ledger) Replay(ctx context.Context) error { return l.recovery.replay(ctx, false) }

// Prune deletes old rows of the book.
func (l *Ledger) Prune(ctx context.Context, now time.Time) error { return l.book.prune(ctx, now) }

// Line is what a call takes from an account.
type Line struct {
	Subject string
	Budget  limits.Budget
	Amount  int64
}

// AppendHold writes what a call reserves at that time as the engine keeps it.
func AppendHold(at time.Time, all []Line) string {
	var lines []line
	for _, one := range all {
		l := line{subject: one.Subject, budget: one.Budget, account: accountOf(one.Subject, one.Budget), amount: one.Amount}
		l.begins, l.ends = l.budget.Period.Span(at)
		lines = append(lines, l)
	}
	return string(appendHold(nil, at, lines))
}

// ParseHold reads what AppendHold wrote.
func ParseHold(hold string) (at time.Time, all []Line, err error) {
	at, lines, err := parseHold(hold)
	for _, l := range lines {
		all = append(all, Line{l.subject, l.budget, l.amount})
	}
	return at, all, err
}

// AppendRow writes a row of the book.
func AppendRow(crash string, all []BookLine) []byte {
	var lines []bookLine
	for _, l := range all {
		lines = append(lines, bookLine{l.Subject, l.Budget, l.Period, l.Spent, l.Calls})
	}
	return appendRow(nil, &bookRow{crash: crash, lines: lines})
}

// Reap frees the slots of a node.
func (a *Rates) Reap(ctx context.Context, dead string) error { return a.reap(ctx, dead) }

// MostCorrections is how many corrections wait at most.
const MostCorrections = maxCorrections

// Correct adds corrections of a rate, one for each of so many calls.
func (a *Rates) Correct(s limits.Subject, calls int) {
	for range calls {
		r := ratedSubject{s.Name, s.Rates[0]}
		a.correctLater([]correction{{window: r.window(), seconds: r.seconds()}}, 1)
	}
}

// Of receipts, how many rows are deleted and read at once.
const (
	ReceiptsBatch = receiptsBatch
	ReceiptsRows  = receiptsRows
)

// Want is a statement of slots, Granted its answer.
type (
	Want    = want
	Granted = granted
)

// State states slots of subjects.
func (a *Rates) State(ctx context.Context, wants ...Want) ([]Granted, error) {
	_, _, answers, err := a.enter(ctx, nil, wants)
	return answers, err
}

// RestateAll states all subjects again, as after a loss.
func (a *Rates) RestateAll(lost bool) { a.slots.restateAll(lost) }

// Rechecked states all subjects again, and counts gateways that share them.
func (a *Rates) Rechecked(nodes int) {
	a.slots.restateAll(true)
	a.slots.recheck("key:a")
	a.slots.setNodes(nodes, false)
}

// Slow delays messages of calls, so that later ones overtake them, and makes answers void.
func (a *Rates) Slow(delay func(), void func() bool) {
	ask := a.ask
	a.ask = func(ctx context.Context, subjects []limits.Subject, wants []want) (limits.Reading, *limits.RateRefusal, []granted, error) {
		delay()
		reading, refusal, answers, err := ask(ctx, subjects, wants)
		delay()
		if void() {
			for i := range answers {
				answers[i].Number = 0
			}
		}
		return reading, refusal, answers, err
	}
}
