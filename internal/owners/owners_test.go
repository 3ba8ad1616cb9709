package owners_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
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

func give(t testing.TB, o *owners.Owners, id, tenant string) {
	t.Helper()
	if err := o.Record("response", "openai", id, tenant); err != nil {
		t.Fatal(err)
	}
}

// want checks the owner; "" is nobody.
func want(t testing.TB, o *owners.Owners, id, tenant string) {
	t.Helper()
	got, ok, err := o.Owner(context.Background(), "response", "openai", id)
	if err != nil || got != tenant || ok != (tenant != "") {
		t.Errorf("owner of %.20q: %q, %v, %v; want %q", id, got, ok, err, tenant)
	}
}

// blockingOp blocks the writer until it is closed.
type blockingOp chan struct{}

func (h blockingOp) Apply(*store.Tx) error { <-h; return nil }
func (blockingOp) Droppable() bool         { return false }

func TestOwnerIsKnownBeforeTheCommit(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	hold := make(blockingOp)
	if err := st.Submit(hold); err != nil {
		t.Fatal(err)
	}
	o := owners.New(sqlite.New(st), (&clock{noon}).now)
	give(t, o, "resp_1", "a")
	want(t, o, "resp_1", "a")
	if _, ok, err := o.Owner(t.Context(), "response", "openai", "resp_1"); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
	close(hold)
	want(t, o, "resp_2", "")
	if _, ok, _ := o.Owner(t.Context(), "response", "other", "resp_1"); ok {
		t.Error("one provider's id is known at another")
	}
}

func TestClosedStoreIsAnErrorAndNotNobody(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	o := owners.New(sqlite.New(st), (&clock{noon}).now)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := o.Record("response", "openai", "resp_1", "a"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("recording: %v", err)
	}
	want(t, o, "resp_1", "a") // known until the restart
	if _, ok, err := o.Owner(t.Context(), "response", "openai", "resp_2"); ok || err == nil {
		t.Errorf("looking up: %v, %v", ok, err)
	}
}

func TestOwnersOfSeveralIDs(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir, store.Options{})
	c := &clock{noon}
	o := owners.New(sqlite.New(st), c.now)
	give(t, o, "old", "a")
	c.at = noon.Add(time.Hour)
	give(t, o, "new", "b")
	c.at = noon.Add(owners.TTL)
	for _, o := range []*owners.Owners{o, owners.New(sqlite.New(st), c.now)} {
		if found, err := o.Find(t.Context(), "response", "openai", []string{"new", "old", "none", "new"}); err != nil || len(found) != 1 || found["new"] != "b" {
			t.Errorf("found %v, %v", found, err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := o.Find(t.Context(), "response", "openai", []string{"new", "none"}); err == nil || found != nil {
		t.Errorf("of a closed store: %v, %v", found, err)
	}
}

func BenchmarkRecord(b *testing.B) {
	st := open(b, b.TempDir(), store.Options{QueueBytes: 1 << 30})
	o := owners.New(sqlite.New(st), (&clock{noon}).now)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := o.Record("response", "openai", fmt.Sprint(i), "a"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCommitted measures an owner, recorded and committed in groups, with IDs in no order as
// providers make them.
func BenchmarkCommitted(b *testing.B) {
	for _, group := range []int{3, 300} {
		b.Run(fmt.Sprint("group=", group), func(b *testing.B) {
			st := open(b, b.TempDir(), store.Options{CommitInterval: time.Hour})
			o := owners.New(sqlite.New(st), (&clock{noon}).now)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				for range group {
					id := fmt.Sprintf("msg_%x", sha256.Sum256(fmt.Append(nil, n)))
					if err := o.Record("response", "openai", id, "a"); err != nil {
						b.Fatal(err)
					}
					n++
				}
				if err := st.Flush(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is kept for an hour ends an hour after its last use, as a gateway that has just started knows it
// too. Nobody else prolongs it.
func TestAnIDIsHeldByItsUse(t *testing.T) {
	st := open(t, t.TempDir(), store.Options{})
	c := &clock{at: time.Unix(1_800_000_000, 0)}
	fresh := func() *owners.Owners { return owners.New(sqlite.New(st), c.now) }
	hold := func(tenant string) bool {
		t.Helper()
		held, err := fresh().Hold(t.Context(), "session", "mcp:a", "s", tenant, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	if err := fresh().Keep("session", "mcp:a", "s", "lab", time.Hour); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		c.at = c.at.Add(50 * time.Minute)
		if hold("other") || !hold("lab") {
			t.Fatal("its tenant alone holds it")
		}
	}
	c.at = c.at.Add(time.Hour)
	if hold("lab") {
		t.Error("it is held an hour after its last use")
	}
}
