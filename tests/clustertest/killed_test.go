//go:build unix && !race

package clustertest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// leaseEnds is the longest time until what a dead gateway held is free: a lease of 15 seconds, a beat
// of another gateway, and slack for a busy machine.
const leaseEnds = 17*time.Second + 5*time.Second

// A killed gateway had calls under way and a viewer. Its places and its session become free, and its
// calls are charged what they had reserved.
func TestAKilledGatewayGivesBackWhatItHeld(t *testing.T) {
	p := start(t, 2)
	const held = 3
	open, refused := p.hold(held, "held", 0)
	defer leave(open)
	if refused > 0 {
		t.Fatalf("%d calls were refused", refused)
	}
	reserved, err := p.budget(1, "held")
	if err != nil {
		t.Fatal(err)
	}
	if reserved.Reserved == 0 {
		t.Errorf("the other gateway sees no reservation: %+v", reserved)
	}
	host, err := p.at(0, "desk").Issue(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.View(t.Context(), p.Gateways[0].VNC, host); err != nil {
		t.Fatal(err)
	}
	p.Gateways[0].Kill()
	killed := time.Now()

	one, refused := p.hold(2, "held", 1, 1)
	if len(one) != 1 || refused != 1 {
		t.Errorf("%d of 2 calls were let in at once after the kill, of one free place", len(one))
	}
	leave(one)
	p.placesFree(leaseEnds - time.Since(killed))
	places := time.Since(killed)
	p.within(leaseEnds-time.Since(killed), "the desktop", func() error {
		v, err := p.View(t.Context(), p.Gateways[1].VNC, host)
		if err != nil {
			return err
		}
		v.Close()
		return nil
	})
	t.Logf("killed: all places are free after %v, the desktop after %v", places.Round(10*time.Millisecond), time.Since(killed).Round(10*time.Millisecond))

	alone := newProof(t, &clustertest.Cluster{Provider: p.Provider, Gateways: p.Gateways[1:]})
	if cost := p.crashed(held, waitLimit); cost != reserved.Reserved {
		t.Errorf("the crashed calls cost %d nano-USD, %d were reserved", cost, reserved.Reserved)
	}
	alone.books("held")
	if err := p.Gateways[0].Start(); err != nil {
		t.Fatal(err)
	}
	p.books("held")
}

// placesFree waits until all places of the key held are free at the second gateway.
func (p *proof) placesFree(limit time.Duration) {
	p.t.Helper()
	p.within(limit, "the places", func() error {
		all, _ := p.hold(4, "held", 1)
		leave(all)
		if len(all) != 4 {
			return fmt.Errorf("%d of 4 are free", len(all))
		}
		return nil
	})
}

// crashed waits until the second gateway has so many rows of crashed calls of the key held, and returns
// what they cost.
func (p *proof) crashed(n int, limit time.Duration) (cost int64) {
	p.t.Helper()
	p.within(limit, "rows of the killed calls", func() error {
		rows, err := p.at(1, "reader").Rows(p.t.Context(), "key=held")
		if err != nil {
			return err
		}
		found := 0
		cost = 0
		for _, r := range rows {
			if r.Source == "crashed" {
				found++
				cost += clustertest.Sum([]clustertest.Row{r})
			}
		}
		if found != n {
			return fmt.Errorf("%d rows are of crashed calls, want %d", found, n)
		}
		return nil
	})
	return cost
}

// Without PostgreSQL the calls of a killed gateway cannot be written, but its places become free.
func TestLongPlacesBecomeFreeWithoutPostgres(t *testing.T) {
	p := start(t, 2)
	const held = 3
	open, _ := p.hold(held, "held", 0)
	defer leave(open)
	p.Engines.Postgres.Kill()
	p.Gateways[0].Kill()
	killed := time.Now()
	p.placesFree(leaseEnds)
	t.Logf("killed without PostgreSQL: all places are free after %v", time.Since(killed).Round(10*time.Millisecond))
	if err := p.Engines.Postgres.Restart(); err != nil {
		t.Fatal(err)
	}
	p.crashed(held, 2*leaseEnds+waitLimit) // another attempt comes after one and a half leases at most
	if err := p.Gateways[0].Start(); err != nil {
		t.Fatal(err)
	}
	p.books("held")
}

// A gateway that was stopped for longer than its lease finds others in its place when it goes on.
func TestLongAPausedGatewayGoesOn(t *testing.T) {
	p := start(t, 2)
	open, _ := p.hold(3, "held", 0)
	host, err := p.at(0, "desk").Issue(t.Context(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	viewer, err := p.View(t.Context(), p.Gateways[0].VNC, host)
	if err != nil {
		t.Fatal(err)
	}
	p.Gateways[0].Pause()
	paused := time.Now()
	p.placesFree(leaseEnds)
	var newcomer *clustertest.Viewer
	p.within(leaseEnds-time.Since(paused), "the desktop", func() (err error) {
		newcomer, err = p.View(t.Context(), p.Gateways[1].VNC, host)
		return err
	})
	t.Logf("paused: places and desktop are free after %v", time.Since(paused).Round(10*time.Millisecond))
	p.wait(30*time.Second - time.Since(paused))
	p.Gateways[0].Resume()
	woke := time.Now()
	end, err := viewer.Ended(waitLimit)
	if took := end.Sub(woke); err != nil || took > 3*time.Second {
		t.Errorf("the older viewer is open %v after the gateway went on: %v", took, err)
	}
	t.Logf("the session of the paused gateway ended %v after it went on", end.Sub(woke).Round(time.Millisecond))
	if _, err := newcomer.Ended(time.Second); err == nil {
		t.Error("the newcomer's session has ended")
	}
	p.Provider.Release()
	leave(open)
	p.soon("calls at the gateway that was paused", func() error { return p.status(200, p.at(0, "held"), "metered/quick") })
	p.books("held") // the charges of the three calls are corrected
	for _, r := range p.books("held") {
		if r.Source == "crashed" {
			t.Errorf("the call %s has ended, and its row says crashed", r.RequestID)
		}
	}
}

// wait lets time pass.
func (p *proof) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-p.t.Context().Done():
	}
}
