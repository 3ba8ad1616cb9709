package shared_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/limitstest"
)

func TestGatewaysKeepTheContractOfConcurrency(t *testing.T) {
	e := enginetest.Redis(t)
	for _, n := range []int{1, 3} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			limitstest.RunConcurrency(t, func(t *testing.T) (all []limitstest.Gateway) {
				for i := range n {
					g := started(t, e, string(rune('a'+i)), nil)
					all = append(all, limitstest.Gateway{Limiter: g.limiter, Rates: g})
				}
				return all
			})
		})
	}
}

// slowPlaces delays messages, so that later ones overtake them, and loses answers.
type slowPlaces struct {
	limits.Places
	mu     sync.Mutex
	random *rand.Rand
}

func (p *slowPlaces) roll(n int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.random.IntN(n)
}

func (p *slowPlaces) Enter(ctx context.Context, subjects []limits.Subject, wants []limits.Want) (limits.Reading, *limits.RateRefusal, []limits.Share, error) {
	time.Sleep(time.Duration(p.roll(3000)) * time.Microsecond)
	reading, refusal, shares, err := p.Places.Enter(ctx, subjects, wants)
	time.Sleep(time.Duration(p.roll(3000)) * time.Microsecond)
	if p.roll(10) == 0 {
		for i := range shares {
			shares[i].Number = 0
		}
	}
	return reading, refusal, shares, err
}

func TestGatewaysShareSlotsOnABadNetwork(t *testing.T) {
	e := enginetest.Redis(t)
	limitstest.RunConcurrency(t, func(t *testing.T) (all []limitstest.Gateway) {
		for i := range 3 {
			g := startedAt(t, e.Addr, cluster.Config{Node: string(rune('a' + i)), Beat: 100 * time.Millisecond})
			g.limiter.Share(&slowPlaces{Places: g, random: rand.New(rand.NewPCG(1, uint64(i)))})
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
	eventually(t, "nothing is left", func() bool {
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
