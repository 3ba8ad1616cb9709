//go:build unix

package valkey_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/netip"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	records "github.com/gatehouse-proxy/gatehouse/internal/desktop/postgres"
	desktops "github.com/gatehouse-proxy/gatehouse/internal/desktop/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

var (
	dev = desktop.Issuer{Tenant: "default", Key: "dev", KeyHash: "11"}

	viewer, other         = desktoptest.Viewer, desktoptest.Other
	join, mustJoin        = desktoptest.Join, desktoptest.MustJoin
	wantRefusal, wantOpen = desktoptest.WantRefusal, desktoptest.WantOpen
)

// engines are what the gateways of a test share.
type engines struct {
	*enginetest.Clock
	redis   *enginetest.Engine
	cluster string
	dsn     string
	bus     *bus
}

func newEngines(t testing.TB) *engines {
	t.Helper()
	return &engines{
		Clock: enginetest.NewClock(time.Now()), redis: enginetest.Redis(t), cluster: "test", dsn: enginetest.Postgres(t), bus: &bus{handlers: map[string][]func(string){}},
	}
}

// gateway is one of several.
type gateway struct {
	*desktop.Service
	state    *desktop.State
	desktops *desktops.Desktops
	records  desktop.Records
	feed     *postgres.Feed
	node     *node
	db       *postgres.DB
	close    func()
}

// gateway starts one. The clock of its node is the test's.
func (e *engines) gateway(t testing.TB, name string, change func(*desktop.Policy)) *gateway {
	t.Helper()
	g := e.node(t, name)
	g.Service = service(t, g.state, ownStorage(), change)
	return g
}

// node is a gateway without a configuration.
func (e *engines) node(t testing.TB, name string) *gateway {
	t.Helper()
	client := valkey.New(valkey.Config{Addresses: []string{e.redis.Addr}})
	db, err := postgres.Open(e.dsn)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Migrate(t.Context(), postgres.FeedSchema, records.Schema); err != nil {
		t.Fatal(err)
	}
	g := &gateway{state: memory.NewState(e.Now), db: db}
	g.node = &node{bus: e.bus, Node: cluster.New(cluster.Config{
		Name: e.cluster, Node: name, Engine: client, Logger: zap.NewNop(), Now: e.Now, Beat: time.Hour, // the test renews the lease
	})}
	g.feed = postgres.NewFeed(postgres.FeedConfig{DB: db, Publish: func(ctx context.Context) error { return g.node.Publish(ctx, "feed", "") }})
	g.node.On("feed", func(string) { g.feed.Wake() })
	g.records = records.NewRecords(db, g.feed, g.state.Apply)
	g.desktops = desktops.New(desktops.Config{State: g.state, Node: g.node, Feed: g.feed, Now: e.Now, Records: g.records})
	e.bus.settle = append(e.bus.settle, g.desktops.AwaitNews)
	if err := g.node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	g.close = sync.OnceFunc(func() {
		g.desktops.Close()
		g.feed.Stop()
		g.node.Stop()
		db.Close()
		client.Close()
	})
	t.Cleanup(g.close)
	return g
}

func service(t testing.TB, state *desktop.State, storage desktop.Storage, change func(*desktop.Policy)) *desktop.Service {
	t.Helper()
	w := unstarted(t, state, storage, change)
	if err := w.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

func unstarted(t testing.TB, state *desktop.State, storage desktop.Storage, change func(*desktop.Policy)) *desktop.Service {
	t.Helper()
	c := desktop.Config{
		Policy: desktop.Policy{Domain: "vnc.example.com", Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}},
		State:  state, Storage: storage, Random: rand.Reader,
	}
	for _, name := range []string{"desk1", "desk2"} {
		c.Workstations = append(c.Workstations, desktop.Spec{ID: desktop.ID{Tenant: "default", Name: name}, Target: desktop.Target{TestCard: testcard.Serve}})
	}
	if change != nil {
		change(&c.Policy)
	}
	w, err := desktop.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var renewScript = cluster.NewScript("renew", "return lease() or redis.call('ZADD', T .. 'nodes', now + 15e6, node)")

// renew renews the lease, or waits until the node has got another.
func (g *gateway) renew(t testing.TB) {
	t.Helper()
	retry(t, func() error {
		_, err := g.node.Run(t.Context(), renewScript)
		return err
	})
}

// look reads the records that have changed.
func (g *gateway) look(t testing.TB) {
	t.Helper()
	if err := g.feed.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (g *gateway) beat(t testing.TB) {
	t.Helper()
	g.renew(t)
	if err := g.node.part.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// ownStorage is that of a gateway alone. Several must not use it.
func ownStorage() *desktoptest.Storage {
	s := new(desktoptest.Storage)
	s.FailWith(errors.New("the storage of a single gateway was used"))
	return s
}

func issue(t testing.TB, w *desktop.Service, name string, o desktop.Options) string {
	t.Helper()
	return desktoptest.Issue(t, w, dev, name, o)
}

func wantFault(t testing.TB, err error, code apierror.Code) {
	t.Helper()
	var e *apierror.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got %v, want %s", err, code)
	}
}

// wantEnded waits for the end of a session.
func wantEnded(t testing.TB, x *desktop.Session, why desktop.Reason) {
	t.Helper()
	select {
	case <-x.Ended():
	case <-time.After(5 * time.Second):
	}
	desktoptest.WantEnded(t, x, why)
}
