package valkey

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// errAnswer is for an answer that no script of this package gives.
var errAnswer = errors.New("unknown answer of a script")

// told is the balance of an account in an answer.
type told struct{ begins, spent, reserved int64 }

// short is a line whose account has not enough.
type short struct {
	line    int
	balance told
}

// answer is that of the script reserve. Its zero value is a reservation that was made.
type answer struct {
	ended bool
	short []short
	later []line // the lines in the periods that have begun
}

// engine is where the scripts of the ledger run.
type engine struct {
	node *cluster.Node
	id   string // of the outbox, of no other process
	// run runs a script: Node.Run, or a bad network in tests.
	run func(context.Context, *valkey.Script, ...string) (valkey.Reply, error)
}

// ask sends a reservation once.
func (e *engine) ask(ctx context.Context, id string, q question) (a answer, err error) {
	lines := q.lines
	args := make([]string, 0, 2+len(lines))
	args = append(args, id, q.hold)
	for i := range lines {
		args = append(args, lines[i].limit())
	}
	reply, err := e.run(ctx, reserveScript, args...)
	if err != nil {
		return a, err
	}
	words, err := reply.AsStrSlice()
	if err != nil || len(words) == 0 {
		return a, errAnswer
	}
	kind, words := words[0], words[1:]
	switch {
	case kind == "T":
		return a, nil
	case kind == "E":
		return answer{ended: true}, nil
	case kind == "R" && len(words) > 0 && len(words)%4 == 0:
		for ; len(words) > 0; words = words[4:] {
			s := short{}
			if s.line, err = strconv.Atoi(words[0]); err != nil || s.line < 1 {
				return a, errAnswer
			}
			s.line--
			if s.balance, err = parseTold(words[1], words[2], words[3]); err != nil {
				return a, err
			}
			a.short = append(a.short, s)
		}
		return a, nil
	case kind == "P" && len(words) > 0 && len(words)%2 == 0:
		a.later = append(a.later, lines...)
		for ; len(words) > 0; words = words[2:] {
			i, err := strconv.Atoi(words[0])
			begins, err2 := strconv.ParseInt(words[1], 10, 64)
			if errors.Join(err, err2) != nil || i < 1 || i > len(lines) {
				return a, errAnswer
			}
			a.later[i-1].begins, a.later[i-1].ends = periodAt(a.later[i-1].budget.Period, begins)
		}
		return a, nil
	}
	return a, errAnswer
}

func parseTold(begins, spent, reserved string) (t told, err error) {
	var errs [3]error
	t.begins, errs[0] = strconv.ParseInt(begins, 10, 64)
	t.spent, errs[1] = strconv.ParseInt(spent, 10, 64)
	t.reserved, errs[2] = strconv.ParseInt(reserved, 10, 64)
	return t, errors.Join(errs[:]...)
}

// balance is the balance of the line's period, or of a later one that has begun.
func (l *line) balance(t told) limits.Balance {
	if t.begins < seconds(l.begins) {
		return limits.Balance{Subject: l.subject, Budget: l.budget, Begins: l.begins, ResetsAt: l.ends}
	}
	balance := limits.Balance{Subject: l.subject, Budget: l.budget, Spent: t.spent, Reserved: t.reserved}
	balance.Begins, balance.ResetsAt = periodAt(l.budget.Period, t.begins)
	return balance
}

// What the script settle says of a call.
const (
	ofDeadNode  = 'L'
	endedBefore = 'D'
	afterCrash  = 'C'
)

// settled is the answer of the script settle.
type settled struct {
	now      int64          // the engine's time, microseconds
	letters  string         // one for each call
	lines    map[int][]line // of calls that this node did not know
	accounts []string       // name, beginning of the period, spent
	era      int64          // when the balances were loaded from the book last, microseconds; 0: never
}

// settle sends settlements. Those without a number are said again.
func (e *engine) settle(ctx context.Context, n string, batch []*call) (settled, error) {
	args := []string{e.id, n}
	for _, c := range batch {
		answered := ""
		if n == "" {
			answered = number(c.answered)
		}
		args = append(args, c.id, number(c.used.Nano), number(c.used.Tokens), c.hold, answered)
	}
	reply, err := e.run(ctx, settleScript, args...)
	if err != nil {
		return settled{}, err
	}
	s, err := parseSettled(reply, len(batch))
	if err != nil && !errors.Is(err, errAnswer) {
		err = errors.Join(errAnswer, err)
	}
	return s, err
}

func parseSettled(reply valkey.Reply, calls int) (s settled, err error) {
	parts, err := reply.ToArray()
	if err != nil || len(parts) != 5 {
		return s, errAnswer
	}
	now, err1 := parts[0].ToString()
	s.letters, err = parts[1].ToString()
	unknown, err2 := parts[2].AsStrSlice()
	accounts, err3 := parts[3].AsStrSlice()
	s.accounts = accounts
	era, err4 := parts[4].ToString()
	if err = errors.Join(err, err1, err2, err3, err4); err != nil {
		return s, err
	}
	if s.now, err = strconv.ParseInt(now, 10, 64); err != nil || len(s.letters) != calls || len(unknown)%2 != 0 || len(accounts)%3 != 0 {
		return s, errAnswer
	}
	if s.era, err = parseEra(era); err != nil {
		return s, err
	}
	s.lines = make(map[int][]line, len(unknown)/2)
	for ; len(unknown) > 0; unknown = unknown[2:] {
		i, err := strconv.Atoi(unknown[0])
		if err != nil {
			return s, errAnswer
		}
		if _, s.lines[i-1], err = parseHold(unknown[1]); err != nil {
			return s, err
		}
	}
	return s, nil
}

// parseEra reads T era: a replication ID and a time in microseconds; "" or 0 for none.
func parseEra(text string) (int64, error) {
	if text == "" || text == "0" {
		return 0, nil
	}
	_, at, _ := strings.Cut(text, " ")
	era, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return 0, errAnswer
	}
	return era, nil
}

// tell notes the balances. What is reserved is not among them: nobody is refused for that by the view.
func (s *settled) tell(v *view) {
	for a := s.accounts; len(a) > 0; a = a[3:] {
		if t, err := parseTold(a[1], a[2], "0"); err == nil {
			v.told(a[0], t.begins, t.spent, t.reserved)
		}
	}
}

// look asks for the balances of accounts; those that nothing was taken from are zero. It tells the view.
func (e *engine) look(ctx context.Context, accounts []string, v *view) ([]told, error) {
	if len(accounts) == 0 {
		return nil, nil
	}
	reply, err := e.run(ctx, lookScript, accounts...)
	if err != nil {
		return nil, err
	}
	words, err := reply.AsStrSlice()
	if err != nil || len(words) != 3*len(accounts) {
		return nil, errAnswer
	}
	all := make([]told, len(accounts))
	for i := range all {
		w := words[3*i:]
		if w[0] == "" {
			w = []string{"0", "0", "0"}
		}
		if all[i], err = parseTold(w[0], w[1], w[2]); err != nil {
			return nil, err
		}
		v.told(accounts[i], all[i].begins, all[i].spent, all[i].reserved)
	}
	return all, nil
}

// lastClock returns err, or the last answer of the engine about the clock if the time ended while it was
// asked once more. It keeps such an answer in last.
func lastClock(ctx context.Context, err error, last *error) error {
	switch {
	case errors.Is(err, cluster.ErrClock):
		*last = err
	case err != nil && *last != nil && ctx.Err() != nil:
		return *last
	}
	return err
}
