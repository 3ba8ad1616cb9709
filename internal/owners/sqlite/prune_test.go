package sqlite_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

var noon = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

// clock is the time that the tests control.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func open(t testing.TB, dir string, opts store.Options) *store.Store {
	t.Helper()
	opts.Schemas = []store.Schema{sqlite.Schema}
	st, err := store.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func give(t testing.TB, o *owners.Owners, id string) {
	t.Helper()
	if err := o.Record("response", "openai", id, "a"); err != nil {
		t.Fatal(err)
	}
}

// want checks that tenant a is the owner.
func want(t testing.TB, o *owners.Owners, id string) {
	t.Helper()
	if got, ok, err := o.Owner(t.Context(), "response", "openai", id); !ok || err != nil || got != "a" {
		t.Errorf("owner of %q: %q, %v, %v", id, got, ok, err)
	}
}

func TestExpiredRowsArePruned(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := &clock{noon}
		st := open(t, dir, store.Options{PruneInterval: time.Hour, Prune: []store.PruneFunc{sqlite.Prune(func() time.Time { return noon.Add(owners.TTL + time.Second) })}})
		o := owners.New(sqlite.New(st), c.now)
		for i := range 2*sqlite.PruneBatch + 10 {
			give(t, o, fmt.Sprint(i))
		}
		c.at = noon.Add(2 * time.Second)
		give(t, o, "young")
		time.Sleep(time.Hour + time.Second)
		synctest.Wait()
		var left int
		if err := st.Reader().QueryRow("SELECT count(*) FROM owners").Scan(&left); err != nil || left != 1 {
			t.Errorf("%d rows left, %v", left, err)
		}
		want(t, owners.New(sqlite.New(st), c.now), "young")
		st.Close()
	})
}

// rows are written without Owners: n that have expired, and one that has not, in the middle.
type rows int

func (rows) Droppable() bool { return false }
func (n rows) Apply(tx *store.Tx) error {
	const insert = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO owners SELECT 'openai', printf('%07d', i), 'response', 'a', (i = ?) * 1000 FROM n`
	_, err := tx.Exec(insert, int(n), int(n)/2)
	return err
}

func TestPruningOfALargeTableGoesOn(t *testing.T) {
	const batch, round, n = 20, 5, 2*20*5 - 10
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		st := open(t, dir, store.Options{PruneInterval: time.Hour, Prune: []store.PruneFunc{sqlite.PruneBy(func() time.Time { return time.Unix(0, 500) }, batch, round)}})
		left := func() (left int) {
			if err := st.Reader().QueryRow("SELECT count(*) FROM owners").Scan(&left); err != nil {
				t.Fatal(err)
			}
			return left
		}
		for range 2 { // from the start again
			if err := st.Submit(rows(n)); err != nil {
				t.Fatal(err)
			}
			if err := st.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			before := left()
			for i := 1; i <= 2; i++ {
				time.Sleep(time.Hour + time.Second)
				synctest.Wait()
				if got, least := left(), before-i*batch*round; got != max(least, 1) && got != max(least, 1)+1 {
					t.Errorf("after round %d %d rows are left of %d", i, got, before)
				}
			}
			if err := st.Submit(forget{}); err != nil {
				t.Fatal(err)
			}
		}
		st.Close()
	})
}

// forget deletes what pruning has left.
type forget struct{}

func (forget) Droppable() bool { return false }
func (forget) Apply(tx *store.Tx) error {
	_, err := tx.Exec("DELETE FROM owners")
	return err
}

func TestPruningDoesNotScan(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	for query, args := range map[string]int{sqlite.BatchEnd: 3, sqlite.DeleteBatch: 5, sqlite.DeleteRest: 3} {
		var id, parent, unused int
		var plan string
		if err := st.Reader().QueryRow("EXPLAIN QUERY PLAN "+query, make([]any, args)...).Scan(&id, &parent, &unused, &plan); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(plan, "SEARCH owners USING PRIMARY KEY") {
			t.Errorf("%s: %s", query, plan)
		}
	}
}

// An earlier version kept an index of the expiry.
func TestDatabaseWithAnIndexOfTheExpiry(t *testing.T) {
	dir := t.TempDir()
	first := sqlite.Schema
	first.Steps = first.Steps[:1]
	st, err := store.Open(dir, store.Options{Schemas: []store.Schema{first}})
	if err != nil {
		t.Fatal(err)
	}
	give(t, owners.New(sqlite.New(st), (&clock{noon}).now), "resp_1")
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, dir, store.Options{})
	want(t, owners.New(sqlite.New(st), (&clock{noon}).now), "resp_1")
	var indexes int
	if err := st.Reader().QueryRow("SELECT count(*) FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL").Scan(&indexes); err != nil || indexes != 0 {
		t.Errorf("%d indexes, %v", indexes, err)
	}
}
