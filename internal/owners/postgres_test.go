package owners_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	postgresowners "github.com/gatehouse-proxy/gatehouse/internal/owners/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// cluster has the engines that several gateways share.
type cluster struct {
	dsn    string
	engine *enginetest.Engine
	nodes  int
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	return clusterOn(t, enginetest.Postgres(t))
}

func clusterOn(t *testing.T, dsn string) *cluster {
	t.Helper()
	c := &cluster{dsn: dsn, engine: enginetest.Redis(t)}
	db := c.database(t)
	if err := db.Migrate(t.Context(), postgres.WriterSchema, postgresowners.Schema); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *cluster) database(t *testing.T) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(c.dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// gateway is one of the cluster.
type gateway struct {
	*owners.Owners
	writer *postgres.Writer
	engine *valkey.Client
	db     *postgres.DB
}

func (c *cluster) join(t *testing.T, clock *clock) *gateway {
	t.Helper()
	c.nodes++
	g := &gateway{db: c.database(t), engine: valkey.New(valkey.Config{Addresses: []string{c.engine.Addr}})}
	t.Cleanup(g.engine.Close)
	g.writer = postgres.NewWriter(g.db, fmt.Sprint("node ", c.nodes))
	g.Owners = owners.New(postgresowners.New(postgresowners.Config{
		DB: g.db, Writer: g.writer, Engine: g.engine, Key: func(name string) string { return "{gh:test}" + name }, Now: clock.now, Logger: zap.NewNop(),
	}), clock.now)
	if err := g.writer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.writer.Close(t.Context()) })
	return g
}

func (g *gateway) flush(t *testing.T) {
	t.Helper()
	if err := g.writer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// forget empties the engine, as an hour does.
func (c *cluster) forget(t *testing.T) {
	t.Helper()
	client := valkey.New(valkey.Config{Addresses: []string{c.engine.Addr}})
	defer client.Close()
	if _, err := client.Do(t.Context(), "EVAL", "return redis.call('FLUSHALL')", "0"); err != nil {
		t.Fatal(err)
	}
}

func TestAnOwnerIsKnownToOtherGatewaysAtOnce(t *testing.T) {
	c, at := newCluster(t), &clock{noon}
	a, b := c.join(t, at), c.join(t, at)
	for i := range 50 {
		id := fmt.Sprint(i)
		give(t, a.Owners, id, "a")
		want(t, b.Owners, id, "a")
		if err := b.Record("response", "openai", id, "b"); !errors.Is(err, owners.ErrOwned) {
			t.Errorf("a second tenant at another gateway: %v", err)
		}
	}
}

func TestOneOfTwoTenantsAtTwoGatewaysIsTheOwner(t *testing.T) {
	c, at := newCluster(t), &clock{noon}
	gateways := []*gateway{c.join(t, at), c.join(t, at)}
	for i := range 50 {
		id, errs := fmt.Sprint(i), make([]error, 2)
		var group sync.WaitGroup
		for j, g := range gateways {
			group.Go(func() { errs[j] = g.Record("response", "openai", id, fmt.Sprint("tenant ", j)) })
		}
		group.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		if errs[winner] != nil || !errors.Is(errs[1-winner], owners.ErrOwned) {
			t.Fatalf("%v", errs)
		}
		for _, g := range gateways {
			want(t, g.Owners, id, fmt.Sprint("tenant ", winner))
		}
	}
}

func TestOneMessageMakesAnOwnerKnown(t *testing.T) {
	c := newCluster(t)
	g := c.join(t, &clock{noon})
	give(t, g.Owners, "first", "a")
	commands := func() string {
		reply, err := g.engine.Do(t.Context(), "INFO", "stats")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := reply.ToString()
		_, after, _ := strings.Cut(text, "total_commands_processed:")
		number, _, _ := strings.Cut(after, "\r")
		return number
	}
	var before, after int
	_, _ = fmt.Sscan(commands(), &before)
	for i := range 100 {
		give(t, g.Owners, fmt.Sprint(i), "a")
	}
	_, _ = fmt.Sscan(commands(), &after)
	if after-before > 110 { // INFO, and what the client says by itself
		t.Errorf("100 owners take %d messages", after-before)
	}
}

func TestWithoutTheEngineTheRowIsWrittenAtOnce(t *testing.T) {
	c, at := newCluster(t), &clock{noon}
	a, b := c.join(t, at), c.join(t, at)
	c.engine.Kill()
	began := time.Now()
	give(t, a.Owners, "resp_1", "a")
	want(t, b.Owners, "resp_1", "a")
	want(t, a.Owners, "resp_1", "a")
	forgetful := c.join(t, at)
	if err := forgetful.Record("response", "openai", "resp_1", "b"); !errors.Is(err, owners.ErrOwned) {
		t.Errorf("a second tenant: %v", err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("it takes %v", took)
	}
	c.engine.MustStart(t)
	give(t, a.Owners, "resp_2", "a")
	want(t, b.Owners, "resp_2", "a")
}

func TestWithoutPostgreSQLTheOwnersOfTheLastHourAreKnown(t *testing.T) {
	server := enginetest.StartPostgres(t)
	c, at := clusterOn(t, server.Database(t)), &clock{noon}
	a, b := c.join(t, at), c.join(t, at)
	give(t, a.Owners, "old", "a")
	a.flush(t)
	c.forget(t)
	server.Kill()
	give(t, a.Owners, "new", "a")
	want(t, b.Owners, "new", "a")
	if _, ok, err := b.Owner(t.Context(), "response", "openai", "old"); ok || !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("an old owner: %v, %v", ok, err)
	}
	want(t, a.Owners, "old", "a") // from memory

	for i := 0; a.writer.Flush(t.Context()) == nil; i++ { // a process of the server may live on for a moment
		give(t, a.Owners, fmt.Sprint("another ", i), "a")
	}
	c.engine.Kill()
	if err := a.Record("response", "openai", "only here", "a"); !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("without both: %v", err)
	}
	want(t, a.Owners, "only here", "a")

	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	enginetest.Within(t, 10*time.Second, "the owner is written when the server is back", func() bool {
		got, _, err := b.Owner(t.Context(), "response", "openai", "only here")
		return err == nil && got == "a"
	})
	want(t, b.Owners, "old", "a")
}

func TestExpiredRowsLeaveWithNewOnes(t *testing.T) {
	c, at := newCluster(t), &clock{noon}
	a, b := c.join(t, at), c.join(t, at)
	for i := range 30 {
		give(t, a.Owners, fmt.Sprint("old ", i), "a")
	}
	a.flush(t)
	at.at = noon.Add(owners.TTL)
	var group sync.WaitGroup
	for i, g := range []*gateway{a, b} {
		group.Go(func() {
			for j := range 10 {
				give(t, g.Owners, fmt.Sprint("new ", i, " ", j), "a")
			}
			g.flush(t)
		})
	}
	group.Wait()
	var old, rest int
	err := c.database(t).Pool().QueryRow(t.Context(), "SELECT count(*) FILTER (WHERE expires_at <= $1), count(*) FROM owner", at.at.UnixNano()).Scan(&old, &rest)
	if err != nil || old != 0 || rest != 20 {
		t.Errorf("%d old rows of %d, %v", old, rest, err)
	}
}

func TestTheOwnersOfOneGatewayAreCopied(t *testing.T) {
	st, at := open(t, t.TempDir(), store.Options{QueueBytes: 1 << 30}), &clock{noon}
	alone := owners.New(sqlite.New(st), at.now)
	give(t, alone, "expired", "a")
	at.at = noon.Add(owners.TTL)
	for i := range 2500 {
		give(t, alone, fmt.Sprint(i), "a")
	}
	give(t, alone, "a\x00\xff", "a")
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	c := newCluster(t)
	g := c.join(t, at)
	give(t, g.Owners, "7", "first")
	g.flush(t)
	for range 2 {
		var copied int64
		err := pgx.BeginFunc(t.Context(), g.db.Pool(), func(tx pgx.Tx) (err error) {
			copied, err = postgresowners.Copy(t.Context(), tx, sqlite.New(st).List(t.Context(), at.at), at.at)
			return err
		})
		if err != nil || copied != 2501 {
			t.Errorf("%d copied, %v", copied, err)
		}
	}
	for id, tenant := range map[string]string{"0": "a", "2499": "a", "7": "first", "a\x00\xff": "a", "expired": ""} {
		want(t, g.Owners, id, tenant)
	}
}
