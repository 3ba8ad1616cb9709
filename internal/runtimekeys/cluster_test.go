package runtimekeys_test

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/runtimekeys"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// node is a gateway of a cluster, as far as its keys go.
type node struct {
	*runtimekeys.Keys
	feed  *postgres.Feed
	table *runtimekeys.PostgresTable
	logs  *observer.ObservedLogs
	clock *clock
	close func()

	mu      sync.Mutex
	changes []string // "new NAME", "changed NAME", "deleted NAME"
}

// peers are the feeds that an event of one wakes.
type peers struct {
	mu    sync.Mutex
	feeds []*postgres.Feed
}

func (p *peers) publish(context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.feeds {
		f.Wake()
	}
	return nil
}

// join opens the keys of a database for a node that has its own data in dir. Events reach the nodes
// of the same peers; nil: there are none.
func join(t testing.TB, dsn, dir string, events *peers) (*node, error) {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{runtimekeys.Schema, runtimekeys.SnapshotSchema}})
	if err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.InfoLevel)
	n := &node{logs: logs, clock: &clock{noon}}
	config := postgres.FeedConfig{DB: db, Logger: zap.New(core)}
	if events != nil {
		config.Publish = events.publish
	}
	n.feed = postgres.NewFeed(config)
	if events != nil {
		events.mu.Lock()
		events.feeds = append(events.feeds, n.feed)
		events.mu.Unlock()
	}
	n.table = runtimekeys.NewPostgresTable(runtimekeys.PostgresConfig{
		DB: db, Feed: n.feed, Store: st, Now: n.clock.now, Logger: zap.New(core), Changed: n.changed,
	})
	n.close = sync.OnceFunc(func() {
		n.feed.Stop()
		db.Close()
		st.Close()
	})
	t.Cleanup(n.close)
	n.Keys = runtimekeys.New(n.clock.now, rand.Reader)
	if err := n.Open(t.Context(), n.table); err != nil {
		return nil, err
	}
	n.feed.Start(t.Context())
	return n, nil
}

func (n *node) changed(before, after *runtimekeys.Key) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case before == nil:
		n.changes = append(n.changes, "new "+after.Name)
	case after == nil:
		n.changes = append(n.changes, "deleted "+before.Name)
	default:
		n.changes = append(n.changes, "changed "+after.Name)
	}
}

// migrate makes the tables.
func migrate(t testing.TB, dsn string) string {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := db.Migrate(context.Background(), postgres.FeedSchema, runtimekeys.PostgresSchema); err != nil {
		t.Fatal(err)
	}
	return dsn
}

// nodes returns gateways on one empty database.
func nodes(t testing.TB, count int, events *peers) (dsn string, all []*node) {
	t.Helper()
	dsn = migrate(t, enginetest.Postgres(t))
	for range count {
		n, err := join(t, dsn, t.TempDir(), events)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, n)
	}
	return dsn, all
}

// execute runs a statement on a database.
func execute(t testing.TB, dsn, query string, args ...any) {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Pool().Exec(context.Background(), query, args...); err != nil {
		t.Fatal(err)
	}
}

// queryRow reads the one value of a query.
func queryRow(t testing.TB, dsn, query string, value any) error {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	return db.Pool().QueryRow(context.Background(), query).Scan(value)
}
