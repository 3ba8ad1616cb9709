package valkey_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/limitstest"
)

func TestGatewaysKeepTheContractOfConcurrency(t *testing.T) {
	e := enginetest.Redis(t)
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			limitstest.RunConcurrency(t, func(t *testing.T) (all []limitstest.Gateway) {
				for i := range n {
					g := startedAt(t, e.Addr, still(string(rune('a'+i))))
					all = append(all, limitstest.Gateway{Limiter: g.limiter, Rates: g})
				}
				return all
			})
		})
	}
}

// dice is safe for concurrent use.
type dice struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (d *dice) roll(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.random.IntN(n)
}

func TestGatewaysShareSlotsOnABadNetwork(t *testing.T) {
	e := enginetest.Redis(t)
	limitstest.RunConcurrency(t, func(t *testing.T) (all []limitstest.Gateway) {
		for i := range 3 {
			g := startedAt(t, e.Addr, cluster.Config{Node: string(rune('a' + i)), Beat: 100 * time.Millisecond})
			d := &dice{random: rand.New(rand.NewPCG(1, uint64(i)))}
			delay := func() { <-time.After(time.Duration(d.roll(1000)) * time.Microsecond) }
			g.Slow(delay, func() bool { return d.roll(10) == 0 })
			all = append(all, limitstest.Gateway{Limiter: g.limiter, Rates: g})
		}
		return all
	})
}

// What the engine keeps of slots is consistent under load, and nothing is left after it.
func TestNothingIsLeftOfSlotsThatAreFree(t *testing.T) {
	e := enginetest.Redis(t)
	var all []*peer
	for i := range 3 {
		all = append(all, started(t, e, string(rune('a'+i)), nil))
	}
	s := slots("key:a", 4, 10)
	key := all[0].node.Key("g:key:a")
	var wg sync.WaitGroup
	for _, g := range all {
		for range 6 {
			wg.Go(func() {
				for range 50 {
					p := enter(t, g, s).Permit
					_, _ = p.Wait(t.Context())
					p.Release()
				}
			})
		}
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		case <-time.After(time.Millisecond):
		}
		reply, err := all[0].engine.Do(t.Context(), "HGETALL", key)
		if err != nil {
			t.Fatal(err)
		}
		fields, err := reply.AsStrMap()
		if err != nil {
			t.Fatal(err)
		}
		held, needed, nodes := 0, 0, 0
		for field, value := range fields {
			if !strings.Contains(field, ".") {
				continue
			}
			var number, h, n int
			if _, err := fmt.Sscan(value, &number, &h, &n); err != nil || h > n || h > 4 {
				t.Fatalf("%s: %q, %v", field, value, err)
			}
			held, needed, nodes = held+h, needed+n, nodes+1
		}
		want := fmt.Sprint(held, needed, nodes)
		if got := strings.Join([]string{fields["p"], fields["d"], fields["n"]}, " "); len(fields) > 0 && got != want || held > 4 {
			t.Fatalf("the sums are %s, want %s: %v", got, want, fields)
		}
	}
	enginetest.Within(t, patience, "nothing is left", func() bool {
		left := int64(0)
		for _, key := range []string{key, all[0].node.Key("gn:" + all[0].node.ID()), all[0].node.Key("gn:" + all[2].node.ID())} {
			reply, err := all[0].engine.Do(t.Context(), "EXISTS", key)
			if err != nil {
				t.Fatal(err)
			}
			n, _ := reply.AsInt64()
			left += n
		}
		return left == 0
	})
}

func TestStatements(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedAt(t, e.Addr, still("a")), startedAt(t, e.Addr, still("b"))
	for _, step := range []struct {
		what string
		by   *peer
		say  valkey.Want
		want valkey.Granted
	}{
		{"it gets what it wants", a, valkey.Want{Number: 5, Slots: 2}, valkey.Granted{Number: 5, Slots: 2, Held: 2}},
		{"a late one is void", a, valkey.Want{Number: 4, Slots: 1, Gives: true}, valkey.Granted{}},
		{"the same again is void", a, valkey.Want{Number: 5, Slots: 3}, valkey.Granted{}},
		{"others get the rest", b, valkey.Want{Number: 1, Slots: 3}, valkey.Granted{Number: 1, Slots: 1, Held: 1}},
		{"its calls wait", b, valkey.Want{Number: 2, Held: 1, Slots: 3, Queued: 1}, valkey.Granted{Number: 2, Slots: 1, Held: 1, Waiting: 1}},
		{"no more than its part, but it may use what it was answered", a, valkey.Want{Number: 6, Held: 1, Slots: 3},
			valkey.Granted{Number: 6, Slots: 1, Held: 2, Crowded: true}},
		{"it gives the other one back", a, valkey.Want{Number: 7, Held: 1, Slots: 3, Gives: true}, valkey.Granted{Number: 7, Slots: 1, Held: 1, Crowded: true}},
		{"a gateway that waits gets it", b, valkey.Want{Number: 3, Held: 1, Slots: 2, Queued: 1}, valkey.Granted{Number: 3, Slots: 2, Held: 2}},
		{"what is in use counts, above the limit too", a, valkey.Want{Number: 8, Held: 5, Slots: 5}, valkey.Granted{Number: 8, Slots: 1, Held: 5}},
		{"nothing is left", b, valkey.Want{Number: 4, Held: 1, Slots: 2, Gives: true}, valkey.Granted{Number: 4, Slots: 0, Held: 1}},
		{"it gives all back", a, valkey.Want{Number: 9, Gives: true}, valkey.Granted{Number: 9}},
		{"now there is room", b, valkey.Want{Number: 5, Held: 1, Slots: 9}, valkey.Granted{Number: 5, Slots: 3, Held: 3}},
	} {
		step.say.Subject, step.say.Limit = "key:a", 3
		if step.want.Subject = "key:a"; step.want.Number == 0 {
			step.want = valkey.Granted{Subject: "key:a"}
		}
		shares, err := step.by.State(t.Context(), step.say)
		if err != nil || len(shares) != 1 || shares[0] != step.want {
			t.Errorf("%s: %+v, %v, want %+v", step.what, shares, err, step.want)
		}
	}
}
