//go:build unix

package valkey_test

import (
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	records "github.com/gatehouse-proxy/gatehouse/internal/desktop/postgres"
	desktops "github.com/gatehouse-proxy/gatehouse/internal/desktop/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// running is a gateway as it runs: leases, beats and events are those of its node. Only the times are
// a tenth.
func running(t *testing.T, addr, dsn, name string) (w *desktop.Service, die func()) {
	t.Helper()
	client := valkey.New(valkey.Config{Addresses: []string{addr}})
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context(), postgres.FeedSchema, records.Schema); err != nil {
		t.Fatal(err)
	}
	node := cluster.New(cluster.Config{
		Name: "life", Node: name, Engine: client, Logger: zap.NewNop(), Lease: 1500 * time.Millisecond, Beat: 200 * time.Millisecond,
	})
	feed := postgres.NewFeed(postgres.FeedConfig{DB: db}) // without events
	state := memory.NewState(time.Now)
	desks := desktops.New(desktops.Config{State: state, Node: node, Feed: feed, Records: records.NewRecords(db, feed, state.Apply)})
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	desks.Start()
	t.Cleanup(func() {
		desks.Close()
		feed.Stop()
		node.Stop()
		db.Close()
		client.Close()
	})
	return service(t, state, ownStorage(), nil), client.Close
}

func TestGatewaysHearOfEachOtherAndOutliveEachOther(t *testing.T) {
	t.Parallel() // it waits for a lease to end
	redis, dsn := enginetest.Redis(t), enginetest.Postgres(t)
	a, _ := running(t, redis.Addr, dsn, "a")
	b, die := running(t, redis.Addr, dsn, "b")
	x := mustJoin(t, b, issue(t, a, "desk1", desktop.Options{}), viewer)
	began := time.Now()
	if err := a.Release(t.Context(), "default", "desk1", desktop.Releaser{}); err != nil {
		t.Fatal(err)
	}
	wantEnded(t, x, desktop.ReasonReleased)
	if took := time.Since(began); took > time.Second {
		t.Errorf("the other gateway heard of the release after %v", took)
	}
	x.Leave()

	label := issue(t, a, "desk2", desktop.Options{})
	held := mustJoin(t, b, label, viewer)
	_, err := join(a, label, other)
	wantRefusal(t, err, desktop.RefusedBusy)
	began = time.Now()
	die()
	var y *desktop.Session
	retry(t, func() (err error) {
		y, err = join(a, label, other)
		return err
	})
	t.Logf("the desktop of the dead gateway was free after %v", time.Since(began))
	if views, err := a.Sessions("default", "desk2"); err != nil || len(views) != 1 || views[0].ID != y.ID || views[0].Node != "a" {
		t.Errorf("%+v, %v", views, err)
	}
	wantOpen(t, held) // there, PostgreSQL still says what is released
}

func TestASessionKeepsItsRulesAtOtherGateways(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(func(p *desktop.Policy) { p.Session.FPS = 30 })
		asked := desktop.SessionRules{NoClipboardOut: true, FPS: 60, MaxGuests: desktop.NoGuests, MaxDuration: time.Minute}
		x := mustJoin(t, g.b, issue(t, g.a, "desk1", desktop.Options{Rules: asked}), viewer)
		if left := x.Until().Sub(g.Now()); left > time.Minute {
			t.Errorf("the session ends in %v", left)
		}
		want := asked
		want.FPS = 30
		for _, w := range []*desktop.Service{g.a, g.b} {
			if open, err := w.Sessions("default", "desk1"); err != nil || len(open) != 1 || open[0].Rules != want {
				t.Errorf("%+v, %v, want the rules %+v", open, err, want)
			}
		}
	})
}

func TestAGuestAtAnotherGatewayEndsWithItsHost(t *testing.T) {
	onBoth(t, func(t *testing.T, open func(func(*desktop.Policy)) pair, _ func(time.Duration)) {
		g := open(nil)
		host := mustJoin(t, g.a, issue(t, g.a, "desk1", desktop.Options{}), viewer)
		label := issue(t, g.b, "desk1", desktop.Options{Guest: desktop.Guest{Host: host.ID, Label: "helpdesk"}})
		guest := mustJoin(t, g.b, label, other)
		if open, err := g.a.Sessions("default", "desk1"); err != nil || len(open) != 2 || open[0].Guests+open[1].Guests != 1 {
			t.Errorf("%+v, %v", open, err)
		}
		host.Leave()
		wantEnded(t, guest, desktop.ReasonHostLeft)
		_, err := join(g.a, label, other)
		wantRefusal(t, err, desktop.RefusedHostLeft)
	})
}
