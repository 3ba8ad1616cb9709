package owners_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

// kept is one place where owners are kept.
type kept struct {
	open  func() *owners.Owners // as after a restart: memory is empty
	flush func()                // returns when all rows are written
	wait  func(time.Duration)   // moves the clock
}

// kinds are the kinds of owners. All must do the same.
var kinds = map[string]func(t *testing.T) kept{
	"SQLite": func(t *testing.T) kept {
		st, c := open(t, t.TempDir(), store.Options{QueueBytes: 1 << 30}), &clock{noon}
		return kept{
			open: func() *owners.Owners { return owners.New(sqlite.New(st), c.now) },
			flush: func() {
				if err := st.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
			},
			wait: func(d time.Duration) { c.at = c.at.Add(d) },
		}
	},
	"PostgreSQL": func(t *testing.T) kept {
		cluster, c := newCluster(t), &clock{noon}
		var writers []func()
		return kept{
			open: func() *owners.Owners {
				n := cluster.join(t, c)
				writers = append(writers, func() { n.flush(t) })
				return n.Owners
			},
			flush: func() {
				for _, flush := range writers {
					flush()
				}
			},
			wait: func(d time.Duration) {
				c.at = c.at.Add(d)
				cluster.forget(t) // the engine counts by its own clock
			},
		}
	},
}

func each(t *testing.T, test func(t *testing.T, k kept)) {
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) { test(t, make(t)) })
	}
}

func TestAnOwnerIsKnownWhenItIsRecorded(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		give(t, o, "resp_1", "a")
		want(t, o, "resp_1", "a")
		want(t, o, "resp_2", "")
		if _, ok, err := o.Owner(t.Context(), "response", "other", "resp_1"); ok || err != nil {
			t.Errorf("at another provider: %v, %v", ok, err)
		}
		k.flush()
		want(t, k.open(), "resp_1", "a")
	})
}

func TestOwnersSurviveARestartUntilTheyExpire(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		give(t, k.open(), "resp_1", "a")
		k.flush()
		o := k.open()
		want(t, o, "resp_1", "a")
		want(t, o, "resp_1", "a") // from memory
		k.wait(owners.TTL - time.Nanosecond)
		want(t, o, "resp_1", "a")
		k.wait(time.Nanosecond)
		want(t, o, "resp_1", "")
		want(t, k.open(), "resp_1", "")
	})
}

func TestTheFirstOwnerStays(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		give(t, o, "resp_1", "a")
		give(t, o, "resp_1", "a") // again: its time starts over
		if err := o.Record("response", "openai", "resp_1", "b"); !errors.Is(err, owners.ErrOwned) {
			t.Errorf("a second tenant: %v", err)
		}
		want(t, o, "resp_1", "a")
		k.flush()
		k.wait(2 * time.Hour) // memory and copies have forgotten it

		forgetful := k.open()
		give(t, forgetful, "resp_1", "b")
		k.flush()
		want(t, forgetful, "resp_1", "a")
		want(t, k.open(), "resp_1", "a")

		k.wait(owners.TTL)
		give(t, o, "resp_1", "b")
		want(t, o, "resp_1", "b")
		k.flush()
		want(t, k.open(), "resp_1", "b")
	})
}

func TestAnOwnerIsForgotten(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		give(t, o, "resp_1", "a")
		give(t, o, "resp_2", "a")
		k.flush()
		give(t, o, "resp_3", "a") // not written yet
		if err := o.Forget("response", "openai", "resp_1", "b"); !errors.Is(err, owners.ErrOwned) {
			t.Errorf("another tenant: %v", err)
		}
		for _, id := range []string{"resp_1", "resp_3"} {
			if err := o.Forget("response", "openai", id, "a"); err != nil {
				t.Fatal(err)
			}
			want(t, o, id, "")
		}
		give(t, o, "resp_3", "b") // a server that counts begins again
		for range 2 {
			want(t, o, "resp_1", "")
			want(t, o, "resp_2", "a")
			want(t, o, "resp_3", "b")
			k.flush()
			o = k.open()
			want(t, o, "resp_1", "")
			k.wait(2 * time.Hour) // copies have forgotten it
		}
	})
}

func TestAnIDIsFoundWhereItsTenantOwnsIt(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		for _, r := range [][3]string{{"east", "1", "a"}, {"west", "1", "a"}, {"north", "1", "b"}, {"west", "2", "b"}} {
			if err := o.Record("response", r[0], r[1], r[2]); err != nil {
				t.Fatal(err)
			}
			k.wait(time.Second)
		}
		k.flush()
		for range 2 {
			for _, c := range [][3]string{{"1", "a", "west"}, {"1", "b", "north"}, {"2", "b", "west"}, {"2", "a", ""}, {"1", "c", ""}, {"3", "a", ""}, {"", "a", ""}} {
				got, err := o.Where(t.Context(), "response", c[0], c[1], []string{"west", "south", "east", "north"})
				if got != c[2] || err != nil {
					t.Errorf("%q of %s is at %q, want %q; %v", c[0], c[1], got, c[2], err)
				}
			}
			if got, err := o.Where(t.Context(), "response", "1", "a", []string{"east", "south"}); got != "east" || err != nil {
				t.Errorf("among others: %q, %v", got, err)
			}
			k.wait(2 * time.Hour) // memory and copies have forgotten it
			o = k.open()
		}
	})
}

func TestOnlyIDsOfABoundedSizeHaveOwners(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		longest, longer := strings.Repeat("x", owners.MaxID), strings.Repeat("x", owners.MaxID+1)
		give(t, o, longest, "a")
		want(t, o, longest, "a")
		if err := o.Record("response", "openai", longer, "a"); !errors.Is(err, owners.ErrTooLong) {
			t.Errorf("got %v", err)
		}
		want(t, o, longer, "")
		want(t, o, "", "")
		k.flush()
	})
}

func TestIDsNeedNotBeText(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o, wild := k.open(), []string{"a\x00b", "\xff\xfe", "a'b\"c\\", "{gh:x}"}
		for _, id := range wild {
			give(t, o, id, "a")
		}
		give(t, o, "plain", "b")
		k.flush()
		k.wait(2 * time.Hour)
		o = k.open()
		for _, id := range wild {
			want(t, o, id, "a")
		}
		want(t, o, "plain", "b")
	})
}

// What was recorded as an item is no file.
func TestAnIDOfAnotherKindHasNoOwner(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		if err := o.Record("item", "openai", "x", "a"); err != nil {
			t.Fatal(err)
		}
		k.flush()
		for range 2 {
			for kind, want := range map[string]string{"item": "a", "file": "", "reply": ""} {
				tenant, _, err := o.Owner(t.Context(), kind, "openai", "x")
				held, err2 := o.Hold(t.Context(), kind, "openai", "x", "a", time.Hour)
				at, err3 := o.Where(t.Context(), kind, "x", "a", []string{"openai"})
				if err := errors.Join(err, err2, err3); err != nil || tenant != want || held != (want != "") || (at != "") != held {
					t.Errorf("%s: %q, %v, %q, %v", kind, tenant, held, at, err)
				}
			}
			k.wait(2 * time.Hour) // memory and copies have forgotten it
			o = k.open()
		}
	})
}

func TestOwnersOfMany(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		ids := []string{"none"}
		for i := range 1500 {
			ids = append(ids, fmt.Sprint(i))
			give(t, o, fmt.Sprint(i), fmt.Sprint("tenant ", i%3))
		}
		k.flush()
		for range 2 {
			found, err := o.Find(t.Context(), "response", "openai", append(ids, "7"))
			if err != nil || len(found) != 1500 || found["7"] != "tenant 1" || found["1499"] != "tenant 2" {
				t.Errorf("%d found, %v", len(found), err)
			}
			k.wait(2 * time.Hour)
			o = k.open()
		}
	})
}

func TestOwnersAreRecordedAtTheSameTime(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				for j := range 20 {
					id := fmt.Sprint(i, " ", j)
					give(t, o, id, "a")
					want(t, o, id, "a")
				}
			})
		}
		group.Wait()
		k.flush()
	})
}

func TestBurstBeyondMemory(t *testing.T) {
	each(t, func(t *testing.T, k kept) {
		o := k.open()
		for i := range 100 {
			give(t, o, fmt.Sprint(i), "a")
		}
		if err := o.FillMemory(); err != nil {
			t.Fatal(err)
		}
		if n := o.InMemory(); n != owners.MaxEntries {
			t.Errorf("%d entries in memory", n)
		}
		for i := range 100 {
			want(t, o, fmt.Sprint(i), "a")
		}
		if n := o.InMemory(); n != owners.MaxEntries {
			t.Errorf("%d entries in memory after look-ups", n)
		}
		k.flush()
	})
}
