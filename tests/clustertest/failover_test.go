//go:build unix && !race

package clustertest_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// sentinelLimit is how long a test waits for what Sentinels do. One that a busy machine has not run for
// two seconds does nothing for thirty (TILT).
const sentinelLimit = 90 * time.Second

// eachEngine runs a test with Redis, and with Valkey where it is installed.
func eachEngine(t *testing.T, test func(t *testing.T, program string)) {
	t.Helper()
	programs := clustertest.EnginePrograms()
	if len(programs) == 0 {
		t.Fatal("neither redis-server nor valkey-server is installed")
	}
	if len(programs) == 1 {
		t.Logf("%s alone: the other engine is not installed", filepath.Base(programs[0]))
	}
	for _, program := range programs {
		t.Run(filepath.Base(program), func(t *testing.T) { test(t, program) })
	}
}

// The master is killed while its last writes are on their way to the replica. Sentinels promote the
// replica; nothing of the money is lost, and no call goes beyond the budget.
func TestLongAMasterIsKilledWithItsLastWrites(t *testing.T) {
	eachEngine(t, func(t *testing.T, program string) {
		watched := clustertest.StartSentinels(t, program)
		p := startOn(t, 2, watched.Engines)
		open, _ := p.hold(3, "held", 0, 1)
		for round := range 2 { // the second time back to the first server
			master, err := watched.Master()
			if err != nil {
				t.Fatal(err)
			}
			l := p.load(6, p.paced("hard"))
			c := p.load(2, p.paced("crowd"))
			p.wait(time.Second)
			held := l.of("200")
			watched.Fronts[master].Hold()
			p.wait(time.Duration(100+p.random.IntN(700)) * time.Millisecond)
			lost := l.of("200") - held
			watched.Servers[master].Kill()
			watched.Fronts[master].Cut()
			killed := time.Now()
			p.within(sentinelLimit, "a hard budget", func() error { return p.status(200, p.at(0, "hard"), "metered/quick") })
			t.Logf("round %d: the master was killed with about %d calls that its replica had not heard of; a hard budget admits again after %v",
				round+1, lost, time.Since(killed).Round(10*time.Millisecond))
			p.wait(2 * time.Second)
			for key, answers := range map[string]*tally{"hard": l.stop(), "crowd": c.stop()} {
				if !answers.only("200", "503 ledger_unavailable", "402 budget_exceeded") || answers.slowest > hardDeadline {
					t.Errorf("key %s: %v", key, answers)
				}
				t.Logf("key %s: %v", key, answers)
			}
			p.books("hard")
			p.books("crowd")
			watched.Servers[master].MustStart(t)
			p.within(sentinelLimit, "the former master as a replica", func() error { return watched.Follows(master) })
		}
		p.crowd(2000, 16)
		p.Provider.Release()
		leave(open)
		p.books("held")
	})
}
