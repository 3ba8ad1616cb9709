package sqlite_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// model is a simple ledger without locks and disk.
type model struct {
	newest map[[2]string]time.Time // the beginning of the current period of a subject's budget
	spent  map[account]int64
	calls  map[string]modelCall
}

type account struct {
	subject, budget string
	begins          time.Time
}

type modelCall struct {
	r     limits.ReserveRequest
	lines map[account]modelAmount
}

type modelAmount struct {
	unit   limits.Unit
	amount int64
}

func begins(p limits.Period, at time.Time) time.Time {
	day := time.Date(at.Year(), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	switch p {
	case limits.Weekly:
		for day.Weekday() != time.Monday {
			day = day.AddDate(0, 0, -1)
		}
	case limits.Monthly:
		day = day.AddDate(0, 0, 1-day.Day())
	case limits.Total:
		return time.Time{}
	}
	return day
}

func kind(b limits.Budget) string { return b.Unit.String() + "/" + b.Period.String() }

func (m *model) account(subject string, b limits.Budget, at time.Time) account {
	id := [2]string{subject, kind(b)}
	if from := begins(b.Period, at); from.After(m.newest[id]) {
		m.newest[id] = from
	}
	return account{subject, kind(b), m.newest[id]}
}

func (m *model) reserved(a account) (sum int64) {
	for _, call := range m.calls {
		sum += call.lines[a].amount
	}
	return sum
}

func (m *model) reserve(r limits.ReserveRequest) bool {
	lines, fits := map[account]modelAmount{}, true
	for _, s := range r.Subjects {
		for _, b := range s.Budgets {
			amount := r.Most
			if b.Soft {
				amount = r.Likely
			}
			line := modelAmount{b.Unit, part(b.Unit, amount)}
			a := m.account(s.Name, b, r.At)
			fits = fits && m.spent[a] < b.Limit && m.spent[a]+m.reserved(a)+line.amount <= b.Limit
			lines[a] = line
		}
	}
	if fits {
		m.calls[r.Call] = modelCall{r, lines}
	}
	return fits
}

func part(u limits.Unit, a limits.Amount) int64 {
	if u == limits.Money {
		return a.Nano
	}
	return a.Tokens
}

func (m *model) settle(call string, used func(modelAmount) int64) {
	for a, line := range m.calls[call].lines {
		m.spent[a] += used(line)
	}
	delete(m.calls, call)
}

// forget simulates a restart: periods in which nothing was spent are forgotten.
func (m *model) forget() {
	clear(m.newest)
	for a, spent := range m.spent {
		if id := [2]string{a.subject, a.budget}; spent > 0 && a.begins.After(m.newest[id]) {
			m.newest[id] = a.begins
		}
	}
}

// balances is the expected result of Status.
func (m *model) balances(at time.Time, subjects []limits.Subject) []limits.Balance {
	var all []limits.Balance
	for _, s := range subjects {
		for _, b := range s.Budgets {
			a := m.account(s.Name, b, at)
			all = append(all, limits.Balance{Subject: s.Name, Budget: b, Spent: m.spent[a], Reserved: m.reserved(a)})
		}
	}
	return all
}

func budgeted(t testing.TB, name string, words ...string) limits.Subject {
	t.Helper()
	s := limits.Subject{Name: name}
	for _, w := range words {
		b, err := limits.ParseBudget(w)
		if err != nil {
			t.Fatal(err)
		}
		s.Budgets = append(s.Budgets, b)
	}
	return s
}

// After random operations and restarts the ledger agrees with the model, and so does the disk.
func TestLedgerAgreesWithItsModel(t *testing.T) {
	var taken, refused, crashed int
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			a, b, c := againstModel(t, rand.New(rand.NewPCG(seed, 0)), 1200)
			taken, refused, crashed = taken+a, refused+b, crashed+c
		})
	}
	if taken < 500 || refused < 200 || crashed < 20 {
		t.Errorf("%d calls taken, %d refused, %d crashed: too few to tell", taken, refused, crashed)
	}
}

func FuzzLedgerAgreesWithItsModel(f *testing.F) {
	f.Add(uint64(100), uint16(300))
	f.Fuzz(func(t *testing.T, seed uint64, steps uint16) {
		againstModel(t, rand.New(rand.NewPCG(seed, 1)), int(steps%400))
	})
}

func againstModel(t *testing.T, random *rand.Rand, steps int) (taken, refused, crashes int) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{CommitInterval: time.Millisecond})
	l, _ := openLedger(t, st)
	m := &model{map[[2]string]time.Time{}, map[account]int64{}, map[string]modelCall{}}
	everybody := []limits.Subject{
		budgeted(t, "key:a", "0.0000004usd/day", "0.000002usd/month"),
		budgeted(t, "key:b", "0.0000005usd/day soft", "3k tokens/week"),
		budgeted(t, "tenant:a", "0.000001usd/week", "5k tokens/month", "0.00002usd/total"),
	}
	at := time.Date(2026, 12, 20, 23, 0, 0, 0, time.UTC)
	for i := range steps {
		open := slices.Sorted(maps.Keys(m.calls))
		switch what := random.IntN(100); {
		case what < 45:
			r := limits.ReserveRequest{Call: fmt.Sprint("call-", i), At: at, Most: limits.Amount{Nano: random.Int64N(300), Tokens: random.Int64N(800)}}
			r.Likely = limits.Amount{Nano: r.Most.Nano / 3, Tokens: r.Most.Tokens / 3}
			r.Durable = random.IntN(4) == 0
			for _, n := range random.Perm(len(everybody))[:1+random.IntN(len(everybody))] {
				r.Subjects = append(r.Subjects, everybody[n])
			}
			refusal, err := l.Reserve(t.Context(), r)
			if want := m.reserve(r); err != nil || (refusal == nil) != want {
				t.Fatalf("%d: %+v, %v; the model says %v", i, refusal, err, want)
			}
			if refusal == nil {
				taken++
			} else {
				refused++
			}
		case what < 85 && len(open) > 0:
			call := open[random.IntN(len(open))]
			used := limits.Amount{}
			if most := m.calls[call].r.Most; random.IntN(4) > 0 {
				used = limits.Amount{Nano: random.Int64N(most.Nano*5/4 + 1), Tokens: random.Int64N(most.Tokens*5/4 + 1)}
			}
			m.settle(call, func(line modelAmount) int64 { return part(line.unit, used) })
			for range 2 {
				if err := l.Settle(t.Context(), call, used); err != nil {
					t.Fatalf("%d: %v", i, err)
				}
			}
		case what < 97:
			at = at.Add(time.Duration(random.Int64N(int64(15*time.Hour))) - 3*time.Hour)
		case what < 99: // the process ends, with calls under way
			st.Close()
			st = reopen(t, dir)
			var crashed []limits.Crash
			l, crashed = openLedger(t, st)
			crashes += len(crashed)
			if !sameCrashes(crashed, m.calls) {
				t.Fatalf("%d: crashed %+v, the model has %+v", i, crashed, m.calls)
			}
			for _, call := range open {
				m.settle(call, func(line modelAmount) int64 { return line.amount })
			}
			m.forget()
		}
		got, err := l.Status(t.Context(), at, everybody)
		for j, b := range m.balances(at, everybody) {
			if err != nil || got[j].Spent != b.Spent || got[j].Reserved != b.Reserved {
				t.Fatalf("%d: %+v, %v; the model says %+v", i, got[j], err, b)
			}
		}
	}
	for call := range m.calls {
		m.settle(call, func(modelAmount) int64 { return 0 })
		l.Settle(t.Context(), call, limits.Amount{})
	}
	sameOnDisk(t, st, m.spent)
	return taken, refused, crashes
}

func reopen(t *testing.T, dir string) *store.Store {
	return open(t, dir, store.Options{CommitInterval: time.Millisecond})
}

func sameCrashes(crashed []limits.Crash, calls map[string]modelCall) bool {
	if !slices.IsSortedFunc(crashed, func(a, b limits.Crash) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Call, b.Call)) }) {
		return false
	}
	for _, c := range crashed {
		var want limits.Amount
		for _, line := range calls[c.Call].lines {
			if line.unit == limits.Money {
				want.Nano = max(want.Nano, line.amount)
			} else {
				want.Tokens = max(want.Tokens, line.amount)
			}
		}
		if c.Amount != want || !c.At.Equal(calls[c.Call].r.At) {
			return false
		}
	}
	return len(crashed) == len(calls)
}
