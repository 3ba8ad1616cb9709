//go:build unix && !race

package clustertest_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// The harness of the failovers: what a front holds is lost with the master, and the former master
// follows the new one.
func TestLongAFrontLosesWhatItHolds(t *testing.T) {
	eachEngine(t, func(t *testing.T, program string) {
		watched := clustertest.StartSentinels(t, program)
		watched.Endure(t, 6*time.Second) // this test is about data, not about time
		p := newProof(t, &clustertest.Cluster{})
		t.Cleanup(func() {
			if t.Failed() {
				watched.ShowLogs(os.Stderr)
			}
			for i, server := range watched.Servers {
				if text, err := clustertest.Redis(server.Addr, "INFO", "replication"); t.Failed() {
					t.Logf("server %d says %s: %v", i, text, err)
				}
			}
		})
		value := func(i int, want string) {
			p.within(sentinelLimit, "the value", func() error {
				got, err := clustertest.Redis(watched.Servers[i].Addr, "GET", "k")
				if err == nil && got != want {
					err = fmt.Errorf("server %d has %q, want %q", i, got, want)
				}
				return err
			})
		}
		for round := range 2 {
			master := 0 // on a busy machine the Sentinels may have changed it by themselves
			p.within(sentinelLimit, "a master and its replica", func() (err error) {
				if master, err = watched.Master(); err == nil {
					err = watched.Follows(1 - master)
				}
				return err
			})
			kept, lost := fmt.Sprint("kept", round), fmt.Sprint("lost", round)
			for i, v := range []string{kept, lost} {
				if i == 1 {
					value(1-master, kept)
					watched.Fronts[master].Hold()
				}
				if _, err := clustertest.Redis(watched.Fronts[master].Addr, "SET", "k", v); err != nil {
					t.Fatal(err)
				}
			}
			watched.Servers[master].Kill()
			watched.Fronts[master].Cut()
			took := p.within(sentinelLimit, "the failover", func() error {
				now, err := watched.Master()
				if err == nil && now == master {
					err = fmt.Errorf("server %d is still the master", now)
				}
				return err
			})
			value(1-master, kept)
			watched.Servers[master].MustStart(t)
			value(master, kept)
			t.Logf("the replica is the master after %v", took)
		}
	})
}
