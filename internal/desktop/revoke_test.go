package desktop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
)

func TestAKeysEndComesForwardForWhatItHasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, func(c *desktop.Config) { c.Policy.OnConflict = desktop.Share })
		state, began := d.State(), time.Now()
		label := mustIssue(t, d, "desk1")
		x, y := mustJoin(t, d, label, viewer), mustJoin(t, d, label, other)
		unused := mustIssue(t, d, "desk2")
		bobs, err := d.Issue(desktop.Issuer{Tenant: "default", Key: "bob"}, "desk2", desktop.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{2 * time.Hour, time.Minute, time.Hour} { // the earliest counts
			state.RevokeAt("default", "dev", began.Add(after))
		}
		state.RevokeAt("other", "dev", began)
		if !x.Until().Equal(began.Add(time.Minute)) {
			t.Errorf("the session ends at %v", x.Until())
		}
		time.Sleep(time.Minute - 1)
		synctest.Wait()
		wantOpen(t, x)
		y.Leave()
		if !d.Live(unused) {
			t.Error("the token is not live before the end")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantEnded(t, x, desktop.ReasonRemoved)
		if d.Live(label) || d.Live(unused) || !d.Live(bobs.URL[:26]) {
			t.Error("live tokens are not those of the other key")
		}
		state.RevokeAt("default", "bob", began)
		if d.Live(bobs.URL[:26]) {
			t.Error("a token is live after an end that has passed")
		}
	})
}

// The end of a key that comes while a session opens counts.
func TestAKeysEndReachesASessionThatOpens(t *testing.T) {
	d := open(t, nil)
	pass, err := d.Find(mustIssue(t, d, "desk1"), viewer.Addr())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	pass.Withdrawn = func() bool {
		d.State().RevokedElsewhere("default", "dev", now, now.Add(time.Hour))
		return false
	}
	x, err := pass.Join(viewer, "x509none")
	if err != nil {
		t.Fatal(err)
	}
	if until := x.Until(); !until.Equal(now.Add(time.Hour)) {
		t.Errorf("the session ends in %v", until.Sub(now))
	}
}

// late is a store of one gateway that misses a deadline.
type late struct {
	*memory.Store
	missed bool
}

func (s *late) Swap(ctx context.Context, c *desktop.Change) (desktop.Outcome, error) {
	if s.missed && ctx.Done() != nil {
		return 0, context.DeadlineExceeded
	}
	return s.Store.Swap(ctx, c)
}

func TestAChangeThatMissedItsDeadlineIsMadeAllTheSame(t *testing.T) {
	for name, end := range map[string]func(d *desktop.Service, x *desktop.Session){
		"a revocation":   func(d *desktop.Service, _ *desktop.Session) { d.State().Revoke("default", "dev") },
		"an end by hand": func(d *desktop.Service, x *desktop.Session) { _ = d.EndSession("default", "desk1", x.ID, "") },
	} {
		t.Run(name, func(t *testing.T) {
			store := &late{Store: memory.New(time.Now)}
			d := open(t, func(c *desktop.Config) { c.State = desktop.NewState(time.Now, store) })
			label := mustIssue(t, d, "desk1")
			x := mustJoin(t, d, label, viewer)
			store.missed = true
			end(d, x)
			_, err := d.Find(label, viewer.Addr())
			wantRefusal(t, err, desktop.RefusedRevoked)
		})
	}
}
