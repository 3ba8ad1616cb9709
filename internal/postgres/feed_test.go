package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// copyOf is a follower of the table thing, as a node has one.
type copyOf struct {
	db *postgres.DB

	mu    sync.Mutex
	names []string
}

var thingSchema = postgres.Schema{Name: "things", Steps: []string{"CREATE TABLE thing (seq bigint, name text)"}}

func (c *copyOf) read(ctx context.Context, after int64) error {
	rows, err := c.db.Pool().Query(ctx, "SELECT name FROM thing WHERE seq > $1 ORDER BY seq", after)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if !slices.Contains(c.names, name) {
			c.names = append(c.names, name)
		}
	}
	return err
}

func (c *copyOf) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.names)
}

// node returns a feed with a follower, on a database with its tables.
func node(t *testing.T, dsn string, publish func(context.Context) error) (*postgres.Feed, *copyOf, *observer.ObservedLogs) {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.Migrate(t.Context(), postgres.FeedSchema, thingSchema); err != nil {
		t.Fatal(err)
	}
	core, logs := observer.New(zap.InfoLevel)
	feed := postgres.NewFeed(postgres.FeedConfig{DB: db, Publish: publish, Logger: zap.New(core)})
	c := &copyOf{db: db}
	feed.Follow(postgres.Follower{Name: "things", Read: c.read})
	t.Cleanup(feed.Stop)
	return feed, c, logs
}

func insert(name string) func(context.Context, pgx.Tx, int64) error {
	return func(ctx context.Context, tx pgx.Tx, seq int64) error {
		_, err := tx.Exec(ctx, "INSERT INTO thing VALUES ($1, $2)", seq, name)
		return err
	}
}

func TestAChangeIsKnownHereWhenItReturnsAndElsewhereWithinThePoll(t *testing.T) {
	dsn := enginetest.Postgres(t)
	a, here, _ := node(t, dsn, nil)
	b, there, _ := node(t, dsn, nil)
	a.Start(t.Context())
	b.Start(t.Context())
	if err := a.Change(t.Context(), insert("one")); err != nil {
		t.Fatal(err)
	}
	if got := here.all(); !slices.Equal(got, []string{"one"}) {
		t.Errorf("this node has %v", got)
	}
	enginetest.Within(t, 2*time.Second, "the other node has the change", func() bool { return len(there.all()) == 1 })
	if s := b.Status(); s.Seq != 1 || s.Err != nil || s.At.IsZero() {
		t.Errorf("%+v", s)
	}
}

func TestAnEventTellsOfAChangeBeforeThePoll(t *testing.T) {
	dsn := enginetest.Postgres(t)
	b, there, _ := node(t, dsn, nil)
	a, _, _ := node(t, dsn, func(context.Context) error { b.Wake(); return nil })
	a.Start(t.Context())
	b.Start(t.Context())
	var took []time.Duration
	for i := range 10 {
		began := time.Now()
		if err := a.Change(t.Context(), insert(fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
		enginetest.Within(t, 2*time.Second, "the other node has the change", func() bool { return len(there.all()) == i+1 })
		took = append(took, time.Since(began))
	}
	// A poll takes half a second on average.
	if slices.Sort(took); took[5] > 200*time.Millisecond {
		t.Errorf("changes are known after %v", took)
	}
}

// A number that is seen means that all lower ones are, whichever transaction ends first.
func TestNoChangeIsSkippedAmongManyAtOnce(t *testing.T) {
	dsn := enginetest.Postgres(t)
	a, _, _ := node(t, dsn, nil)
	b, there, _ := node(t, dsn, nil)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 25 {
				if err := a.Change(t.Context(), insert(fmt.Sprint(i, " ", j))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { group.Wait(); close(done) }()
	for {
		if err := b.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done:
			if err := b.CatchUp(t.Context()); err != nil || len(there.all()) != 200 || b.Status().Seq != 200 {
				t.Errorf("%d changes of 200, %+v, %v", len(there.all()), b.Status(), err)
			}
			return
		default:
		}
	}
}

func TestARefusedChangeChangesNothing(t *testing.T) {
	feed, here, _ := node(t, enginetest.Postgres(t), nil)
	refused := errors.New("refused")
	err := feed.Change(t.Context(), func(ctx context.Context, tx pgx.Tx, seq int64) error {
		return errors.Join(insert("one")(ctx, tx, seq), refused)
	})
	if !errors.Is(err, refused) || errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	err = feed.Change(t.Context(), func(ctx context.Context, tx pgx.Tx, seq int64) error {
		_, err := tx.Exec(ctx, "INSERT INTO nothing VALUES (1)")
		return err
	})
	if err == nil || errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if err := feed.Change(t.Context(), insert("two")); err != nil || !slices.Equal(here.all(), []string{"two"}) || feed.Status().Seq != 1 {
		t.Errorf("%v, %v, %+v", err, here.all(), feed.Status())
	}
}

func TestAFollowerThatFailsIsAskedAgainAndStopsNoOther(t *testing.T) {
	feed, here, logs := node(t, enginetest.Postgres(t), nil)
	failing, calls := errors.New("the row is not valid"), []int64{}
	feed.Follow(postgres.Follower{Name: "bad", After: 0, Read: func(_ context.Context, after int64) error {
		calls = append(calls, after)
		return failing
	}})
	for _, name := range []string{"one", "two"} {
		if err := feed.Change(t.Context(), insert(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := feed.CatchUp(t.Context()); !errors.Is(err, failing) || !errors.Is(feed.Status().Err, failing) {
		t.Errorf("%v, %+v", err, feed.Status())
	}
	if !slices.Equal(calls, []int64{0, 0, 0}) || len(here.all()) != 2 || logs.Len() != 1 {
		t.Errorf("the calls %v, the rows %v, %d lines", calls, here.all(), logs.Len())
	}
	failing = nil
	if err := feed.CatchUp(t.Context()); err != nil || logs.Len() != 2 {
		t.Errorf("%v, %d lines", err, logs.Len())
	}
}

func TestAServerThatIsAwayIsLoggedOnceAndAskedAgain(t *testing.T) {
	server := enginetest.StartPostgres(t)
	dsn := server.Database(t)
	a, _, logs := node(t, dsn, nil)
	b, there, _ := node(t, dsn, nil)
	a.Start(t.Context())
	b.Start(t.Context())
	server.Kill()
	err := a.Change(t.Context(), insert("one"))
	if !errors.Is(err, postgres.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	enginetest.Within(t, 5*time.Second, "the status tells of it", func() bool { return errors.Is(b.Status().Err, postgres.ErrUnavailable) })
	_, _ = a.CatchUp(t.Context()), a.CatchUp(t.Context())
	if n := logs.Len(); n != 1 {
		t.Errorf("%d lines: %v", n, logs.All())
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	enginetest.Within(t, 5*time.Second, "a change is possible", func() bool { return a.Change(t.Context(), insert("two")) == nil })
	enginetest.Within(t, 3*time.Second, "the other node has the change", func() bool { return slices.Contains(there.all(), "two") })
	if s := b.Status(); s.Err != nil {
		t.Errorf("%+v", s)
	}
}

func TestNoFollowerIsCalledAfterStop(t *testing.T) {
	feed, here, _ := node(t, enginetest.Postgres(t), nil)
	feed.Start(t.Context())
	feed.Stop()
	feed.Stop()
	if err := feed.Change(t.Context(), insert("one")); err != nil || len(here.all()) != 0 {
		t.Errorf("%v, %v", err, here.all())
	}
}

// A node that is paused in a change holds the number, and with it all changes of all nodes.
func TestTheServerEndsAChangeThatIsIdle(t *testing.T) {
	feed, _, _ := node(t, enginetest.Postgres(t), nil)
	var limit string
	err := feed.Change(t.Context(), func(ctx context.Context, tx pgx.Tx, _ int64) error {
		return tx.QueryRow(ctx, "SHOW idle_in_transaction_session_timeout").Scan(&limit)
	})
	if err != nil || limit != "5s" {
		t.Errorf("the limit is %q, %v", limit, err)
	}
}
