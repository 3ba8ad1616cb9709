package limitstest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// Crashing is a ledger of several processes. Messages go to one of them.
type Crashing struct {
	limits.Ledger
	// Crash takes that process for dead: its calls under way are charged as reserved, and returned.
	// In truth it was cut off, and goes on.
	Crash func() []limits.Crash
}

// RunCrashes runs the tests of a ledger whose calls may be settled after their process was taken for
// dead. Those of a ledger of one process are not.
func RunCrashes(t *testing.T, open func(*testing.T) Crashing) {
	for _, tt := range []struct {
		name string
		test func(*testing.T, *client, func() []limits.Crash)
	}{
		{"CrashIsChargedAsReservedOnce", crashed},
		{"LateSettlePutsTheChargeRight", lateSettle},
		{"LateSettleOfAnEndedPeriod", lateSettleOfAnEndedPeriod},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := open(t)
			tt.test(t, &client{t, l.Ledger}, l.Crash)
		})
	}
}

func crashed(t *testing.T, c *client, crash func() []limits.Crash) {
	s := subject("key:a", money(100, limits.Daily), tokens(1000, limits.Total))
	c.take(reservation("1", 10, 100, s))
	c.take(reservation("2", 20, 0, s))
	c.settle("2", 5, 7)
	c.take(reservation("3", 0, 0, s))
	c.status(Noon, []limits.Subject{s}, 5, 10, 7, 100) // it was settled before the crash
	got := crash()
	slices.SortFunc(got, func(a, b limits.Crash) int { return len(a.Call) - len(b.Call) + int(a.Amount.Nano-b.Amount.Nano) })
	want := []limits.Crash{{Call: "3", At: Noon}, {Call: "1", At: Noon, Amount: limits.Amount{Nano: 10, Tokens: 100}}}
	if !slices.EqualFunc(got, want, func(a, b limits.Crash) bool {
		return a.Call == b.Call && a.At.Equal(b.At) && a.Amount == b.Amount
	}) {
		t.Errorf("crashed are %+v, want %+v", got, want)
	}
	c.status(Noon, []limits.Subject{s}, 15, 0, 107, 0)
	if again := crash(); len(again) > 0 {
		t.Errorf("crashed again: %+v", again)
	}
	c.status(Noon, []limits.Subject{s}, 15, 0, 107, 0)
}

func lateSettle(t *testing.T, c *client, crash func() []limits.Crash) {
	s := subject("key:a", money(100, limits.Daily), tokens(1000, limits.Total))
	for _, call := range []string{"less", "more", "nothing"} {
		c.take(reservation(call, 10, 100, s))
	}
	crash()
	c.status(Noon, []limits.Subject{s}, 30, 0, 300, 0)
	for range 2 { // once
		c.settle("less", 4, 40)
		c.status(Noon, []limits.Subject{s}, 24, 0, 240, 0)
	}
	c.settle("more", 25, 100)
	c.status(Noon, []limits.Subject{s}, 39, 0, 240, 0)
	c.settle("nothing", 0, 0)
	c.status(Noon, []limits.Subject{s}, 29, 0, 140, 0)
	for _, call := range []string{"less", "nothing"} {
		if refusal, err := c.ask(reservation(call, 10, 100, s)); refusal != nil || !errors.Is(err, limits.ErrEnded) {
			t.Errorf("reserving %q again: %+v, %v", call, refusal, err)
		}
	}
	if err := try(func() error { return c.Settle(context.Background(), "less", limits.Amount{Nano: 90}) }); err != nil {
		t.Error(err)
	}
	c.status(Noon, []limits.Subject{s}, 29, 0, 140, 0)
}

func lateSettleOfAnEndedPeriod(_ *testing.T, c *client, crash func() []limits.Crash) {
	s := subject("key:a", money(100, limits.Daily), money(1000, limits.Total))
	tomorrow := Noon.Add(24 * time.Hour)
	c.take(reservation("1", 10, 0, s))
	c.take(at(reservation("2", 20, 0, s), tomorrow))
	crash()
	c.status(tomorrow, []limits.Subject{s}, 20, 0, 30, 0)
	c.settle("1", 1, 0)
	c.status(tomorrow, []limits.Subject{s}, 20, 0, 21, 0)
	c.settle("2", 2, 0)
	c.status(tomorrow, []limits.Subject{s}, 2, 0, 3, 0)
}
