//go:build unix && !race

package clustertest_test

import (
	"database/sql"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// bill is what clients of one gateway were told that their calls cost.
type bill struct {
	told atomic.Int64 // nano-USD
	late atomic.Int64 // of them, since it was set to 0
	last atomic.Int64 // when the last call was answered with 200, in nanoseconds since 1970
}

// billed is paced at one gateway.
func (p *proof) billed(i int, key string, b *bill) func(n int) (clustertest.Answer, error) {
	call := p.paced(key)
	return func(int) (clustertest.Answer, error) {
		a, err := call(i)
		b.told.Add(costOf(a))
		b.late.Add(costOf(a))
		if a.Status == 200 {
			b.last.Store(time.Now().UnixNano())
		}
		return a, err
	}
}

// A gateway dies while the replica takes over, and with it what only this gateway could say again. The
// others go on; of the money at most what its calls had cost since the replica fell behind is missing.
func TestLongAGatewayIsKilledInTheSecondOfAFailover(t *testing.T) {
	eachEngine(t, func(t *testing.T, program string) {
		watched := clustertest.StartSentinels(t, program)
		p := startOn(t, 2, watched.Engines)
		const rounds, workers = 4, 3
		bills := []*bill{{}, {}}
		var most int64 // that may be missing
		for round := range rounds {
			dies, lives := round%2, 1-round%2
			var loads []*load
			for i, b := range bills {
				loads = append(loads, p.load(workers, p.billed(i, "hard", b)))
			}
			p.wait(time.Second)
			master, err := watched.Master()
			if err != nil {
				t.Fatal(err)
			}
			bills[dies].late.Store(0)
			watched.Fronts[master].Hold()
			p.wait(time.Duration(100+p.random.IntN(400)) * time.Millisecond)
			watched.Servers[master].Kill()
			watched.Fronts[master].Cut()
			killed := time.Now()
			after := time.Duration(p.random.IntN(3000)) * time.Millisecond // the promotion takes one to three seconds
			p.wait(after)
			p.Gateways[dies].Kill()
			most += bills[dies].late.Load()
			p.within(sentinelLimit, "a hard budget", func() error { return p.status(200, p.at(lives, "hard"), "metered/quick") })
			admits := time.Since(killed)
			if err := p.Gateways[dies].Start(); err != nil {
				t.Fatal(err)
			}
			p.wait(time.Second)
			for i, l := range loads {
				answers := l.stop()
				if i == lives && !answers.only("200", "503 ledger_unavailable") {
					t.Errorf("%s: %v", p.Gateways[i].Name, answers)
				}
			}
			watched.Servers[master].MustStart(t)
			p.within(sentinelLimit, "the former master as a replica", func() error { return watched.Follows(master) })
			t.Logf("round %d: a gateway was killed %v after the master; the other admits %v after the master", round+1, after, admits.Round(10*time.Millisecond))
		}
		p.settled("hard")
		b, err := p.budget(0, "hard")
		if err != nil {
			t.Fatal(err)
		}
		if other, err := p.budget(1, "hard"); err != nil || other != b {
			t.Errorf("%s says %+v, %s %+v: %v", p.Gateways[1].Name, other, p.Gateways[0].Name, b, err)
		}
		rows, err := p.at(0, "reader").Rows(t.Context(), "key=hard")
		if err != nil {
			t.Fatal(err)
		}
		if booked := p.booked("hard"); b.Spent < booked {
			t.Errorf("%d nano-USD are spent, and the book has %d", b.Spent, booked)
		} else {
			t.Logf("the book has %d nano-USD less than the engine: rows that were not committed", b.Spent-booked)
		}
		told := bills[0].told.Load() + bills[1].told.Load()
		t.Logf("%d nano-USD spent, clients were told of %d, %d rows cost %d; at most %d may be missing", b.Spent, told, len(rows), clustertest.Sum(rows), most)
		if b.Spent < told-most {
			t.Errorf("%d nano-USD of answered calls are not charged, at most %d may be", told-b.Spent, most)
		}
		// A killed gateway leaves a call of each worker; one call a round only asks whether a budget admits.
		if more := b.Spent - told; more > rounds*(workers+1)*reserve {
			t.Errorf("%d nano-USD too many are charged", more)
		}
	})
}

// booked is what the book in PostgreSQL has of the one budget of a key.
func (p *proof) booked(key string) (spent int64) {
	p.t.Helper()
	db, err := sql.Open("pgx", p.Engines.DSN)
	if err != nil {
		p.t.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(p.t.Context(), "SELECT spent FROM ledger WHERE subject = $1", "key:"+key).Scan(&spent); err != nil {
		p.t.Fatal(err)
	}
	return spent
}

// settled waits until nothing of a key is reserved: also what dead gateways held is charged.
func (p *proof) settled(key string) {
	p.t.Helper()
	p.within(leaseEnds+waitLimit, "the end of what dead gateways held", func() error {
		for i := range p.Gateways {
			if b, err := p.budget(i, key); err != nil || b.Reserved != 0 {
				return fmt.Errorf("%s: %d are reserved: %w", p.Gateways[i].Name, b.Reserved, err)
			}
		}
		return nil
	})
}

// A gateway is left with the former master, which Sentinels and the other gateway cannot reach. That
// master takes writes until it has missed its replica for min-replicas-max-lag. When the gateway finds
// the new one, the money is put right.
func TestLongAGatewayIsLeftWithTheFormerMaster(t *testing.T) {
	eachEngine(t, func(t *testing.T, program string) {
		const lag = 2 * time.Second
		watched := clustertest.StartSentinels(t, program)
		path := clustertest.NewFront(t)
		path.Before(watched.Servers[0].Addr)
		watched.Paths = map[string]string{"gw1": "valkey valkey://" + path.Addr}
		for _, setting := range [][]string{{"min-replicas-max-lag", fmt.Sprint(lag.Seconds())}, {"min-replicas-to-write", "1"}} {
			if _, err := clustertest.Redis(watched.Servers[0].Addr, "CONFIG", "SET", setting[0], setting[1]); err != nil {
				t.Fatal(err)
			}
		}
		p := startOn(t, 2, watched.Engines)
		open, _ := p.hold(2, "held", 0)
		left := &bill{}
		loads := []*load{p.load(4, p.billed(0, "hard", left)), p.load(4, p.billed(1, "hard", &bill{}))}
		p.wait(time.Second)

		before := loads[0].of("200")
		watched.Fronts[0].Lose()
		cut := time.Now()
		p.within(sentinelLimit, "a hard budget at the new master", func() error {
			if now, err := watched.Master(); err != nil || now == 0 {
				return fmt.Errorf("the master is server %d: %w", now, err)
			}
			return p.status(200, p.at(1, "hard"), "metered/quick")
		})
		took, refused := time.Since(cut), time.Unix(0, left.last.Load()).Sub(cut)
		wrong := loads[0].of("200") - before
		t.Logf("the new master admits after %v; the former one took %d calls of its gateway, the last after %v",
			took.Round(10*time.Millisecond), wrong, refused.Round(10*time.Millisecond))
		if limit := lag + 2*time.Second; wrong == 0 || refused > limit {
			t.Errorf("the former master took %d calls for %v, want some, for at most %v", wrong, refused, limit)
		}
		p.wait(leaseEnds - time.Since(cut)) // the other takes it for dead
		watched.Fronts[0].Cut()             // it lets through again
		path.Before(watched.Servers[1].Addr)
		path.Cut()
		p.soon("the gateway at the new master", func() error { return p.status(200, p.at(0, "hard"), "metered/quick") })
		for i, l := range loads {
			answers := l.stop()
			if !answers.only("200", "503 ledger_unavailable") {
				t.Errorf("%s: %v", p.Gateways[i].Name, answers)
			}
			t.Logf("%s: %v", p.Gateways[i].Name, answers)
		}
		p.within(sentinelLimit, "the former master as a replica", func() error { return watched.Follows(0) })
		p.books("hard")
		p.Provider.Release()
		leave(open)
		for _, r := range p.books("held") {
			if r.Source == "crashed" {
				t.Errorf("the call %s has ended, and its row says crashed", r.RequestID)
			}
		}
	})
}
