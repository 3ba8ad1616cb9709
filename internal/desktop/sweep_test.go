package desktop_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestADeadTokenIsRememberedForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil)
		label, _ := issue(t, d, "desk1", desktop.Options{})
		time.Sleep(5 * time.Minute)
		issue(t, d, "desk1", desktop.Options{}) // sweeps
		time.Sleep(24*time.Hour - 1)
		_, err := d.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedExpired)
		time.Sleep(time.Nanosecond)
		_, err = d.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedUnknown)
	})
}

func TestDeadTokensAreBoundedAndTheOldestGoFirst(t *testing.T) {
	state := desktop.NewState(time.Now)
	d := open(t, func(c *desktop.Config) { c.State = state })
	label, _ := issue(t, d, "desk1", desktop.Options{})
	if err := d.Release(t.Context(), "default", "desk1"); err != nil {
		t.Fatal(err)
	}
	state.AddTombstones(desktop.MaxTombstones - 1)
	_, err := d.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedReleased)
	state.AddTombstones(1) // the second death of a hash: never so in life, but it must not unbalance the index
	_, err = d.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUnknown)
}

func TestDeadTokensAreForgottenInTheOrderOfTheirDeath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := desktop.NewState(time.Now)
		d := open(t, func(c *desktop.Config) { c.State = state })
		state.AddTombstones(40)
		time.Sleep(24 * time.Hour)
		state.AddTombstones(100) // forgets the 40, goes round, and grows
		for i := range 100 {
			_, err := d.Find(fmt.Sprintf("%026d", i), viewer.Addr())
			wantRefusal(t, err, desktop.RefusedRevoked)
		}
		time.Sleep(24 * time.Hour)
		state.AddTombstones(1)
		if _, _, _, dead := state.Sizes(); dead != 1 {
			t.Errorf("%d are remembered", dead)
		}
	})
}

func TestExpiredTokensDoNotPileUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds, each = 50, 10
		state := desktop.NewState(time.Now)
		d := open(t, func(c *desktop.Config) {
			c.State, c.VNCAuth = state, true
			for i := range rounds * each {
				c.Workstations = append(c.Workstations, desktop.Spec{
					ID:     desktop.ID{Tenant: "default", Name: fmt.Sprint("once", i)},
					Target: desktop.Target{TestCard: true},
				})
			}
		})
		for i := range rounds * each { // each is asked for once, and never again
			mustIssue(t, d, fmt.Sprint("once", i))
			if i%each == each-1 {
				time.Sleep(5 * time.Minute)
			}
		}
		entries, tokens, prefixes, dead := state.Sizes()
		if tokens > desktop.MinSweep || entries != tokens || prefixes != tokens || dead+tokens != rounds*each {
			t.Errorf("%d entries, %d tokens, %d prefixes and %d dead are kept", entries, tokens, prefixes, dead)
		}
	})
}

// Sweeping its last token forgets a workstation for a moment; what is issued
// then must not be forgotten too.
func TestATokenIssuedAfterTheLastOneExpiredDiesWithARelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, nil)
		mustIssue(t, d, "desk1")
		time.Sleep(5 * time.Minute)
		label := mustIssue(t, d, "desk1")
		x := mustJoin(t, d, label, viewer)
		if err := d.Release(t.Context(), "default", "desk1"); err != nil {
			t.Fatal(err)
		}
		wantEnded(t, x, desktop.ReasonReleased)
		_, err := d.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedReleased)
	})
}
