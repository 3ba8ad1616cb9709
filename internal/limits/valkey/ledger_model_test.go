package valkey_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// oracle is a simple ledger. It knows calls by what they reserve in the periods of their admission.
type oracle struct {
	newest map[[2]string]time.Time // the beginning of the current period of a budget
	spent  map[[3]string]int64     // of subject, budget, period
	held   map[string]oracleCall
}

type oracleCall struct {
	lines   map[[3]string]int64
	gateway int
	crashed bool // charged as reserved
}

func newOracle() *oracle {
	return &oracle{map[[2]string]time.Time{}, map[[3]string]int64{}, map[string]oracleCall{}}
}

// key returns the account that is current at a time.
func (o *oracle) key(subject string, b limits.Budget, at time.Time) [3]string {
	begins, _ := b.Period.Span(at)
	if newest := o.newest[[2]string{subject, b.Name()}]; newest.After(begins) {
		begins = newest
	}
	return [3]string{subject, b.Name(), b.Period.Name(begins)}
}

func (o *oracle) reserved(key [3]string) (sum int64) {
	for _, c := range o.held {
		if !c.crashed {
			sum += c.lines[key]
		}
	}
	return sum
}

func (o *oracle) reserve(r *limits.ReserveRequest, gateway int) bool {
	lines := map[[3]string]int64{}
	for _, s := range r.Subjects {
		for _, b := range s.Budgets {
			key := o.key(s.Name, b, r.At)
			if o.spent[key] >= b.Limit || o.spent[key]+o.reserved(key)+r.Amount(b) > b.Limit {
				return false
			}
			lines[key] = r.Amount(b)
		}
	}
	for _, s := range r.Subjects {
		for _, b := range s.Budgets {
			begins, _ := b.Period.Span(r.At)
			if id := [2]string{s.Name, b.Name()}; begins.After(o.newest[id]) {
				o.newest[id] = begins
			}
		}
	}
	o.held[r.Call] = oracleCall{lines: lines, gateway: gateway}
	return true
}

func (o *oracle) settle(call string, used limits.Amount) {
	c := o.held[call]
	for key, amount := range c.lines {
		unit, _, _ := limits.ParseBudgetName(key[1])
		o.spent[key] += used.Of(unit)
		if c.crashed {
			o.spent[key] -= amount
		}
	}
	delete(o.held, call)
}

// crash charges the calls of a gateway.
func (o *oracle) crash(gateway int) {
	for id, c := range o.held {
		if c.gateway != gateway || c.crashed {
			continue
		}
		for key, amount := range c.lines {
			o.spent[key] += amount
		}
		c.crashed = true
		o.held[id] = c
	}
}

// check compares the engine and the book with the oracle.
func (o *oracle) check(t *testing.T, step int, g gateway, book *memory, at time.Time, subjects []limits.Subject) {
	t.Helper()
	balances, err := g.Status(t.Context(), at, subjects)
	for range 50 {
		if err == nil {
			break
		}
		balances, err = g.Status(t.Context(), at, subjects)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range balances {
		key := o.key(b.Subject, b.Budget, at)
		if b.Spent != o.spent[key] || b.Reserved != o.reserved(key) {
			t.Fatalf("step %d: %v has %d spent and %d reserved, want %d and %d", step, key, b.Spent, b.Reserved, o.spent[key], o.reserved(key))
		}
	}
	for key, spent := range o.spent {
		if got := book.of(key[0], key[1], key[2]); got != spent {
			t.Fatalf("step %d: the book has %d of %v, want %d", step, got, key, spent)
		}
	}
}

func budget(t testing.TB, words string) limits.Budget {
	t.Helper()
	b, err := limits.ParseBudget(words)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Three gateways lose a sixth of their messages and answers. After every operation the engine and the
// book agree with the oracle.
func TestLedgersAgreeWithTheirModel(t *testing.T) {
	var taken, refused, late int
	addr := enginetest.Redis(t).Addr
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			flush(t, addr)
			a, b, c := againstOracle(t, addr, rand.New(rand.NewPCG(seed, 0)), 300)
			taken, refused, late = taken+a, refused+b, late+c
		})
	}
	if taken < 150 || refused < 100 || late < 5 {
		t.Errorf("%d calls taken, %d refused, %d settled late: too few to tell", taken, refused, late)
	}
}

func againstOracle(t *testing.T, addr string, random *rand.Rand, steps int) (taken, refused, late int) {
	now, book, o := noon(), newMemory(), newOracle()
	var gateways []gateway
	for i := range 3 {
		g := join(t, addr, fmt.Sprint("gw-", i), now, valkey.LedgerConfig{Writer: book})
		g.LoseMessages(faults(random.Uint64()))
		gateways = append(gateways, g)
	}
	everybody := []limits.Subject{
		{Name: "key:a", Budgets: []limits.Budget{budget(t, "0.000002usd/day"), budget(t, "0.000008usd/month")}},
		{Name: "key:b/c", Budgets: []limits.Budget{budget(t, "0.0000005usd/day soft"), budget(t, "12k tokens/week")}},
		{Name: "tenant:a", Budgets: []limits.Budget{budget(t, "0.000004usd/week"), budget(t, "40k tokens/month"), budget(t, "0.0002usd/total")}},
	}
	at := now.Now()
	for i := range steps {
		n := random.IntN(len(gateways))
		switch what := random.IntN(100); {
		case what < 50:
			r := limits.ReserveRequest{Call: fmt.Sprint("call-", i), At: at, Durable: true, Timeout: time.Minute,
				Most: limits.Amount{Nano: random.Int64N(300), Tokens: random.Int64N(800)}}
			r.Likely = limits.Amount{Nano: r.Most.Nano / 3, Tokens: r.Most.Tokens / 3}
			r.Subjects = everybody[random.IntN(2):]
			if random.IntN(10) == 0 {
				r.At = at.Add(-time.Duration(random.IntN(48)) * time.Hour) // its clock is behind
			}
			got, err := gateways[n].Reserve(t.Context(), r)
			if want := o.reserve(&r, n); err != nil || (got == nil) != want {
				t.Fatalf("step %d: %+v, %v; want it taken: %v", i, got, err, want)
			}
			if got == nil {
				taken++
			} else {
				refused++
			}
		case what < 85:
			var open []string
			for id := range o.held {
				open = append(open, id)
			}
			if len(open) == 0 {
				continue
			}
			slices.Sort(open)
			id := open[random.IntN(len(open))]
			n = o.held[id].gateway
			if o.held[id].crashed {
				late++
			}
			used := limits.Amount{Nano: random.Int64N(300), Tokens: random.Int64N(900)}
			if err := gateways[n].Settle(t.Context(), id, used); err != nil {
				t.Fatal(err)
			}
			o.settle(id, used)
		case what < 90:
			bury(t, gateways[n])
			for gateways[(n+1)%3].Reap(t.Context(), gateways[n].node.ID()) != nil {
			}
			o.crash(n)
			_, _ = gateways[n].Reserve(t.Context(), limits.ReserveRequest{ // it finds out, and goes on with a new ID
				Call: fmt.Sprint("nothing-", i), At: at, Durable: true, Subjects: []limits.Subject{{Name: "key:nobody"}},
			})
		default:
			at = at.Add(time.Duration(random.IntN(20)) * time.Hour)
			now.AtLeast(at)
		}
		o.check(t, i, gateways[n], book, at, everybody)
	}
	return taken, refused, late
}

// faults lose a message or an answer in six.
func faults(seed uint64) func() (bool, bool) {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 1))
	return func() (bool, bool) {
		mu.Lock()
		defer mu.Unlock()
		return random.IntN(12) == 0, random.IntN(12) == 0
	}
}
