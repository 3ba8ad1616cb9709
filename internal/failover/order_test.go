package failover_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

func TestGroupsGoInOrder(t *testing.T) {
	b := newBench(t)
	groups := [][]failover.Candidate{group("a", "b"), {}, group("c"), group("d", "e")}
	for i := range 50 {
		picks := b.Order(nil, groups, fmt.Sprint(i))
		for j, p := range picks {
			if want := []int{0, 0, 2, 3, 3}[j]; p.Group != want {
				t.Fatalf("order %v", picks)
			}
		}
	}
	if got := b.Order([]failover.Pick{{Group: 9}}, [][]failover.Candidate{{}, group("a")}, ""); !slices.Equal(got, []failover.Pick{{Group: 9}, {Group: 1}}) {
		t.Errorf("a lone candidate is not appended: %v", got)
	}
	if got := b.Order(nil, nil, ""); len(got) != 0 {
		t.Errorf("no candidates: %v", got)
	}
}

func TestWeightsAreSharesOfTheSeeds(t *testing.T) {
	h := failover.NewHealth(time.Now, rand.New(rand.NewPCG(1, 2)).Float64, nil)
	groups := [][]failover.Candidate{{{ID: "a", Weight: 6}, {ID: "b", Weight: 3}, {ID: "c"}}}
	for _, seeded := range []bool{true, false} {
		const calls = 20_000
		var first [3]int
		for i := range calls {
			seed := ""
			if seeded {
				seed = fmt.Sprint("session-", i)
			}
			first[h.Order(nil, groups, seed)[0].Index]++
		}
		for i, want := range []float64{0.6, 0.3, 0.1} {
			if got := float64(first[i]) / calls; math.Abs(got-want) > 0.02 {
				t.Errorf("seeded %v: candidate %d has a share of %.3f, want %.1f", seeded, i, got, want)
			}
		}
	}
}

// A session stays where its prompt cache is, also when another target comes or goes.
func TestASeedKeepsItsTarget(t *testing.T) {
	b := newBench(t)
	four := [][]failover.Candidate{group("a", "b", "c", "d")}
	three := [][]failover.Candidate{group("d", "a", "c")}
	first := func(groups [][]failover.Candidate, seed string) string {
		p := b.Order(nil, groups, seed)[0]
		return groups[p.Group][p.Index].ID
	}
	moved := 0
	for i := range 1000 {
		seed := fmt.Sprint(i)
		before := first(four, seed)
		if again := first(four, seed); again != before {
			t.Fatalf("seed %s: %s, then %s", seed, before, again)
		}
		if now := first(three, seed); before != "b" && now != before {
			t.Fatalf("seed %s moved from %s to %s", seed, before, now)
		}
		if before == "b" {
			moved++
		}
	}
	if moved < 200 || moved > 300 {
		t.Errorf("%d of 1000 seeds had the target that went", moved)
	}
}

func TestCoolingTargetsComeLastTheFirstToReturnFirst(t *testing.T) {
	b := newBench(t)
	groups := [][]failover.Candidate{group("a"), group("b"), group("c")}
	b.attempt("a", after(limited, time.Minute))
	b.attempt("b", after(limited, 10*time.Second))
	if got := b.order(groups...); !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("two cooling: %v", got)
	}
	b.attempt("c", after(limited, 30*time.Second))
	if got := b.order(groups...); !slices.Equal(got, []string{"b", "c", "a"}) {
		t.Errorf("all cooling: %v", got)
	}
	b.wait(time.Hour)
	if got := b.order(groups...); got[0] != "a" {
		t.Errorf("all are due: %v", got)
	}
	if got := b.order(groups...); got[0] != "b" {
		t.Errorf("the second call: %v", got)
	}
}

func BenchmarkOrder(b *testing.B) {
	for name, groups := range map[string][][]failover.Candidate{
		"lone":          {group("openai/gpt-x")},
		"three targets": {group("openai/gpt-x", "azure/gpt-x"), group("anthropic/claude-y")},
	} {
		b.Run(name, func(b *testing.B) {
			h := failover.NewHealth(time.Now, rand.Float64, func(failover.Change) {})
			var picks []failover.Pick
			b.ReportAllocs()
			b.RunParallel(func(p *testing.PB) {
				picks := slices.Clone(picks)
				for p.Next() {
					picks = h.Order(picks[:0], groups, "session")
					trial := h.Begin(groups[0][0].ID, len(picks) == 1)
					trial.End(failover.Result{})
				}
			})
		})
	}
}
