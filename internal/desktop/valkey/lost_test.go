//go:build unix

package valkey_test

import (
	"errors"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// The engine has lost everything. What the gateways still know comes back; tokens that only the engine
// knew are gone.
func TestAnEmptyEngineGetsSessionsAndNewTokensBack(t *testing.T) {
	e, a, b := two(t, nil)
	old := issue(t, a.Service, "desk2", desktop.Options{})
	e.Move(3 * time.Minute)
	a.beat(t)
	b.beat(t)
	label, fresh := issue(t, a.Service, "desk1", desktop.Options{}), issue(t, a.Service, "desk2", desktop.Options{})
	x := mustJoin(t, b.Service, label, viewer)
	bobs, err := a.Issue(desktop.Issuer{Tenant: "default", Key: "bob"}, "desk2", desktop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.state.Revoke("default", "bob")
	e.redis.Kill()
	e.redis.MustStart(t)
	for _, g := range []*gateway{a, b} {
		g.renew(t)
		if err := g.node.part.Replay(t.Context(), true); err != nil {
			t.Fatal(err)
		}
	}
	wantOpen(t, x)
	if _, err := a.Find(fresh, viewer.Addr()); err != nil {
		t.Error(err)
	}
	for _, gone := range []string{old, bobs.URL[:26]} {
		_, err = a.Find(gone, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedUnknown)
	}
	_, err = join(a.Service, issue(t, a.Service, "desk1", desktop.Options{}), other)
	wantRefusal(t, err, desktop.RefusedBusy)
	x.Leave()
	mustJoin(t, a.Service, label, viewer)
}

// A token that belongs to its first client still does.
func TestAnEmptyEngineGetsTheClientOfATokenBack(t *testing.T) {
	e, a, b := two(t, func(p *desktop.Policy) { p.PinClient = true })
	label := issue(t, a.Service, "desk1", desktop.Options{})
	mustJoin(t, b.Service, label, viewer)
	e.redis.Kill()
	e.redis.MustStart(t)
	b.renew(t)
	if err := b.node.part.Replay(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	_, err := a.Find(label, other.Addr())
	wantRefusal(t, err, desktop.RefusedPinned)
}

// retry is for an engine that has just started.
func retry(t testing.TB, f func() error) {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for err := f(); err != nil; err = f() {
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond)
	}
}

func TestWithoutTheEngineNobodyNewComesIn(t *testing.T) {
	e, a, b := two(t, nil)
	label := issue(t, a.Service, "desk1", desktop.Options{})
	x := mustJoin(t, b.Service, label, viewer)
	e.redis.Kill()
	_, err := b.Find(label, viewer.Addr())
	wantRefusal(t, err, desktop.RefusedUnavailable)
	if b.Live(label) {
		t.Error("a token is live though nobody knows")
	}
	_, err = a.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.StorageUnavailable)
	if views := all(b); len(views) != 1 || views[0].ID != x.ID {
		t.Errorf("%+v", views)
	}
	// PostgreSQL still says what is released.
	e.Move(time.Minute)
	b.look(t)
	b.desktops.Poll()
	wantOpen(t, x)
	release(t, a, "desk1")
	b.look(t)
	wantEnded(t, x, desktop.ReasonReleased)
	x.Leave()
}

func TestSessionsEndWithoutBothEngines(t *testing.T) {
	for _, keepOpen := range []bool{false, true} {
		e, _, b := two(t, nil)
		b.desktops.KeepOpen(keepOpen)
		x := mustJoin(t, b.Service, issue(t, b.Service, "desk1", desktop.Options{}), viewer)
		b.db.Close()
		if b.feed.CatchUp(t.Context()) == nil {
			t.Fatal("PostgreSQL answers")
		}
		e.Move(time.Minute)
		b.desktops.Poll() // the engine answers
		e.redis.Kill()
		e.Move(30*time.Second - 1) // counted from the last answer: a look at a server that hangs takes long
		b.desktops.Poll()
		wantOpen(t, x)
		e.Move(1)
		b.desktops.Poll()
		if keepOpen {
			wantOpen(t, x)
		} else {
			wantEnded(t, x, desktop.ReasonEngineLost)
		}
	}
}

// A revocation is sent again when the engine is back, and so is the end of a token by hand.
func TestWhatTheEngineWasNotToldIsToldLater(t *testing.T) {
	_, a, b := two(t, nil)
	label := issue(t, b.Service, "desk1", desktop.Options{})
	x := mustJoin(t, b.Service, label, viewer)
	unused, err := a.Issue(desktop.Issuer{Tenant: "default", Key: "bob"}, "desk2", desktop.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.node.before = func(string) error { return errors.New("away") }
	b.state.Revoke("default", "bob")
	if err := b.EndSession("default", "desk1", x.ID, ""); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, x, desktop.ReasonEnded)
	x.Leave()
	b.node.before = nil
	b.beat(t)
	for _, label := range []string{label, unused.URL[:26]} {
		_, err := a.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedRevoked)
	}
}

// What a beat cannot make either keeps nothing else from being mended, and is made by a later one.
func TestABeatTriesAgainWhatHasFailed(t *testing.T) {
	e, a, b := two(t, nil)
	x := mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
	unused := make(map[string]string)
	for _, key := range []string{"bob", "carol"} {
		issued, err := a.Issue(desktop.Issuer{Tenant: "default", Key: key}, "desk2", desktop.Options{})
		if err != nil {
			t.Fatal(err)
		}
		unused[key] = issued.URL[:26]
	}
	e.bus.hold()
	if err := a.EndSession("default", "desk1", x.ID, ""); err != nil {
		t.Fatal(err)
	}
	b.node.before = func(script string) error {
		if script == "desktop swap" {
			return errors.New("away")
		}
		return nil
	}
	for key := range unused {
		b.state.Revoke("default", key)
	}
	b.renew(t)
	if b.node.part.Beat(t.Context()) == nil {
		t.Error("a beat that fails succeeds")
	}
	wantEnded(t, x, desktop.ReasonEnded)
	x.Leave()
	for key, label := range unused {
		if _, err := a.Find(label, viewer.Addr()); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	b.node.before = nil
	b.beat(t)
	for _, label := range unused {
		_, err := a.Find(label, viewer.Addr())
		wantRefusal(t, err, desktop.RefusedRevoked)
	}
}

// A gateway that has read the records goes on with them after a reload. One that has not knows of no
// release, so nothing opens.
func TestAReloadWithoutPostgreSQLKeepsTheWorkstations(t *testing.T) {
	_, a, b := two(t, nil)
	x := mustJoin(t, b.Service, issue(t, b.Service, "desk1", desktop.Options{}), viewer)
	release(t, a, "desk2")
	b.look(t)
	b.db.Close()
	reloaded := service(t, b.state, ownStorage(), func(p *desktop.Policy) { p.OnConflict = desktop.Replace })
	desktop.Commit(b.state, reloaded, nil)
	wantOpen(t, x)
	y := mustJoin(t, reloaded, issue(t, reloaded, "desk1", desktop.Options{}), other)
	wantEnded(t, x, desktop.ReasonReplaced)
	wantOpen(t, y)
	_, err := reloaded.Issue(dev, "desk2", desktop.Options{})
	wantFault(t, err, apierror.NotFound)
}

func TestWithoutPostgreSQLAGatewayThatHasReadNothingOpensNothing(t *testing.T) {
	e := newEngines(t)
	g := e.node(t, "a")
	g.db.Close()
	w := unstarted(t, g.state, ownStorage(), nil)
	if err := w.Start(t.Context()); !errors.Is(err, desktop.ErrAway) {
		t.Errorf("the start returns %v", err)
	}
	_, err := w.Issue(dev, "desk1", desktop.Options{})
	wantFault(t, err, apierror.StorageUnavailable)
}
