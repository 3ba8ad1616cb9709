package authserver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/authserver"
	pgsignins "github.com/gatehouse-proxy/gatehouse/internal/authserver/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func sqliteStore(t *testing.T) authserver.Store {
	t.Helper()
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{authserver.Schema}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return authserver.NewSQLite(st, time.Now)
}

// node is the table of one gateway of several.
func node(t *testing.T, dsn string) (*pgsignins.Table, *postgres.Feed) {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if err := db.Migrate(t.Context(), postgres.FeedSchema, pgsignins.Schema); err != nil {
		t.Fatal(err)
	}
	feed := postgres.NewFeed(postgres.FeedConfig{DB: db})
	return pgsignins.New(pgsignins.Config{DB: db, Feed: feed, Now: time.Now, Logger: zap.NewNop()}), feed
}

func TestStores(t *testing.T) {
	for name, open := range map[string]func(*testing.T) authserver.Store{
		"SQLite":     sqliteStore,
		"PostgreSQL": func(t *testing.T) authserver.Store { table, _ := node(t, enginetest.Postgres(t)); return table },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ctx := open(t), t.Context()
			record := authserver.Record{ID: authserver.ID{1}, Kind: "sign_in", Ends: time.Now().Add(time.Hour).Truncate(time.Microsecond), Body: []byte(`{"a":1}`), Version: 1}
			put := func(r authserver.Record) {
				t.Helper()
				if err := s.Change(ctx, r.ID, func(*authserver.Record) (authserver.Record, error) { return r, nil }); err != nil {
					t.Fatal(err)
				}
			}
			if _, ok, err := s.Get(ctx, record.ID); ok || err != nil {
				t.Fatalf("%v, %v", ok, err)
			}
			put(record)
			put(authserver.Record{ID: authserver.ID{2}, Kind: "device", Ends: record.Ends, Body: []byte("{}")})
			put(authserver.Record{ID: authserver.ID{3}, Kind: "sign_in", Ends: time.Now().Add(-time.Second), Body: []byte("{}")})
			got, ok, err := s.Get(ctx, record.ID)
			if !ok || err != nil || string(got.Body) != `{"a":1}` || got.Kind != "sign_in" || got.Version != 1 || !got.Ends.Equal(record.Ends) {
				t.Errorf("%+v, %v, %v", got, ok, err)
			}
			refused := errors.New("no")
			if err := s.Change(ctx, record.ID, func(*authserver.Record) (authserver.Record, error) { return authserver.Record{}, refused }); !errors.Is(err, refused) || errors.Is(err, authserver.ErrUnavailable) {
				t.Errorf("%v", err)
			}
			var loaded []authserver.ID
			if err := s.Load(ctx, []authserver.Kind{"sign_in"}, func(r authserver.Record) { loaded = append(loaded, r.ID) }); err != nil || !slices.Equal(loaded, []authserver.ID{record.ID}) {
				t.Errorf("%v, %v", loaded, err)
			}
			put(record) // prunes
			if _, ok, _ := s.Get(ctx, authserver.ID{3}); ok {
				t.Error("what has ended is kept")
			}
			var all sync.WaitGroup // no change comes between
			for range 20 {
				all.Go(func() {
					err := s.Change(ctx, record.ID, func(r *authserver.Record) (authserver.Record, error) {
						after := *r
						after.Version++
						return after, nil
					})
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if got, _, _ := s.Get(ctx, record.ID); got.Version != 21 {
				t.Errorf("version %d", got.Version)
			}
		})
	}
}

func TestGatewaysLearnOfEachOthersSignIns(t *testing.T) {
	t.Parallel()
	dsn := enginetest.Postgres(t)
	one, _ := node(t, dsn)
	other, feed := node(t, dsn)
	heard := make(chan string, 10)
	other.Follow(func(r authserver.Record) { heard <- fmt.Sprint(r.Kind, r.Version) })
	feed.Start(t.Context())
	t.Cleanup(feed.Stop)
	put := func(kind authserver.Kind, version int64) {
		err := one.Change(t.Context(), authserver.ID{1}, func(*authserver.Record) (authserver.Record, error) {
			return authserver.Record{ID: authserver.ID{1}, Kind: kind, Ends: time.Now().Add(time.Hour), Body: []byte("{}"), Version: version}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for version := range int64(3) {
		put("sign_in", version)
		feed.Wake()
		if got, want := <-heard, fmt.Sprint("sign_in", version); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What an operator does at one gateway holds at all.
func TestABlockHoldsAtAllGateways(t *testing.T) {
	t.Parallel()
	dsn := enginetest.Postgres(t)
	var states [2]*authserver.State
	var feeds [2]*postgres.Feed
	for i := range states {
		var table *pgsignins.Table
		table, feeds[i] = node(t, dsn)
		states[i] = authserver.NewState(time.Now)
		if err := states[i].Open(t.Context(), table); err != nil {
			t.Fatal(err)
		}
		feeds[i].Start(t.Context())
		t.Cleanup(feeds[i].Stop)
	}
	ann := authserver.Person{ID: "okta-1", Hash: "hash"}
	if _, err := states[0].Block(t.Context(), ann); err != nil || !states[0].Blocked(ann.ID) {
		t.Fatal(err)
	}
	if err := feeds[1].CatchUp(t.Context()); err != nil || !states[1].Blocked(ann.ID) { // it polls each second
		t.Errorf("the other gateway lets in: %v", err)
	}
	if ok, err := states[1].Unblock(t.Context(), ann.ID); !ok || err != nil {
		t.Fatalf("%v, %v", ok, err)
	}
	if err := feeds[0].CatchUp(t.Context()); err != nil || states[0].Blocked(ann.ID) {
		t.Errorf("the first gateway keeps out: %v", err)
	}
}

// A block that has ended is still known days later, so that the next one counts.
func TestSomebodyIsBlockedASecondTime(t *testing.T) {
	t.Parallel()
	now, ctx := time.Now(), t.Context()
	clock := func() time.Time { return now }
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{authserver.Schema}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	state, ann, bob := authserver.NewState(clock), authserver.Person{ID: "okta-1"}, authserver.Person{ID: "okta-2"}
	if err := state.Open(ctx, authserver.NewSQLite(st, clock)); err != nil {
		t.Fatal(err)
	}
	if _, err := state.Block(ctx, ann); err != nil {
		t.Fatal(err)
	}
	if ok, err := state.Unblock(ctx, ann.ID); !ok || err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 2)
	for _, p := range []authserver.Person{bob, ann} { // the first change prunes
		if _, err := state.Block(ctx, p); err != nil || !state.Blocked(p.ID) {
			t.Errorf("%s is let in: %v", p.ID, err)
		}
	}
}

// A gateway that starts without its database learns of blocks by the feed.
func TestWhoIsKeptOutIsNotKnownBeforeTheDatabaseAnswers(t *testing.T) {
	t.Parallel()
	dsn := enginetest.Postgres(t)
	table, _ := node(t, dsn)
	one := authserver.NewState(time.Now)
	if err := one.Open(t.Context(), table); err != nil {
		t.Fatal(err)
	}
	if out, err := one.KeptOut("okta-1"); out || err != nil {
		t.Errorf("nothing is to be loaded: %v, %v", out, err)
	}
	if _, err := one.Block(t.Context(), authserver.Person{ID: "okta-1"}); err != nil {
		t.Fatal(err)
	}
	table, feed := node(t, dsn)
	t.Cleanup(feed.Stop)
	other := authserver.NewState(time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the database does not answer in time
	if err := other.Open(ctx, table); err != nil {
		t.Fatal(err)
	}
	if _, err := other.KeptOut("okta-1"); !errors.Is(err, authserver.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if err := feed.CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	if out, err := other.KeptOut("okta-1"); !out || err != nil {
		t.Errorf("it is let in: %v, %v", out, err)
	}
}
