package failover_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/failover"
)

func TestOneCallProbes(t *testing.T) {
	b := newBench(t)
	two := [][]failover.Candidate{group("a"), group("b")}
	b.attempts("a", 3, failure)
	if got := b.order(two...); got[0] != "b" {
		t.Fatalf("while it cools: %v", got)
	}
	b.wait(5 * time.Second)
	if got := b.order(two...); got[0] != "a" {
		t.Fatalf("the first call after: %v", got)
	}
	if got := b.order(two...); got[0] != "b" {
		t.Fatalf("the second call after: %v", got)
	}
	b.wait(5 * time.Second) // the first call never began
	if got := b.order(two...); got[0] != "a" {
		t.Fatalf("after a call that did not begin: %v", got)
	}
	probe := b.Begin("a", false)
	b.wait(time.Minute)
	b.want("a", probing, 0)
	if got := b.order(two...); got[0] != "b" || !probe.Probe() {
		t.Fatalf("during a long probe: %v, %v", got, probe.Probe())
	}
	other := b.Begin("a", false)
	if other.Probe() {
		t.Fatal("two probes at a time")
	}
	other.End(neutral)
	if got := b.order(two...); got[0] != "b" {
		t.Fatalf("another attempt ended the probe: %v", got)
	}
	probe.End(neutral) // the client left
	b.want("a", probing, 0)
	if got := b.order(two...); got[0] != "a" {
		t.Fatalf("after a neutral probe: %v", got)
	}
	probe = b.Begin("a", false)
	probe.End(failure)
	probe.End(success)
	b.want("a", cooling, 10*time.Second)
}

// Other calls need not wait for the end of a long answer.
func TestAProbeSucceedsWithTheFirstContent(t *testing.T) {
	b := newBench(t)
	b.attempts("a", 3, failure)
	b.wait(5 * time.Second)
	probe := b.Begin("a", false)
	probe.FirstContent()
	b.want("a", healthy, 0)
	probe.FirstContent()
	probe.End(failure)
	b.want("a", healthy, 0)
	if s := b.status("a"); s.Attempts != 4 || s.Failures != 4 {
		t.Errorf("record %+v", s)
	}
}

func TestAnAnswerThatHasBegunHoldsUpNoLaterProbe(t *testing.T) {
	for name, recovered := range map[string]func(b *bench){
		"by the answer":    func(*bench) {},
		"by a call before": func(b *bench) { lone := b.Begin("a", true); lone.FirstContent() },
	} {
		b := newBench(t)
		b.attempts("a", 3, failure)
		b.wait(5 * time.Second)
		probe := b.Begin("a", false)
		recovered(b)
		probe.FirstContent()
		b.want("a", healthy, 0)
		b.attempts("a", 3, failure)
		b.wait(10 * time.Second)
		if next := b.Begin("a", false); !next.Probe() {
			t.Errorf("recovered %s: the next probe waits for the end of the answer", name)
		}
	}
}

func TestALoneCallNeedsNoProbe(t *testing.T) {
	b := newBench(t)
	b.attempts("a", 3, failure)
	b.wait(5 * time.Second)
	alone := b.Begin("a", true)
	if alone.Probe() {
		t.Error("a call without another target took the probe")
	}
	if got := b.order(group("a"), group("b")); got[0] != "a" {
		t.Errorf("the probe is not free: %v", got)
	}
	alone.FirstContent()
	b.want("a", healthy, 0)
}
