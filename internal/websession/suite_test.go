//go:build unix

package websession_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

func TestASessionIsFoundByItsIDOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		want := websession.Session{Tenant: "default", Key: "ops", KeyHash: "11", User: "alice@example.com", Grant: "granted"}
		id, other := create(t, g.a, want), create(t, g.a, want)
		got, ok := find(t, g.b, id, life)
		started := got.Started
		got.Started, got.Used = time.Time{}, time.Time{}
		if !ok || got != want || started.Sub(g.Now()).Abs() > time.Second {
			t.Errorf("%+v, %v, started %v", got, ok, started)
		}
		if id == other || len(id) != 43 {
			t.Errorf("IDs %q and %q", id, other)
		}
		for _, wrong := range []string{"", "x", strings.Repeat("A", 43), strings.Repeat("A", 100_000), id + "A", strings.ToUpper(id)} {
			if lives(t, g.b, wrong) {
				t.Errorf("%.50q is signed in", wrong)
			}
			if err := g.b.Delete(t.Context(), wrong); err != nil {
				t.Errorf("deleting %.50q: %v", wrong, err)
			}
		}
	})
}

func TestASessionThatIsNotUsedEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		id := create(t, g.a, ops)
		for range 3 {
			g.Move(58 * time.Minute)
			if !lives(t, g.b, id) {
				t.Fatal("a session that is used has ended")
			}
		}
		g.Move(time.Hour)
		if lives(t, g.b, id) {
			t.Error("a session lives after an hour without use")
		}
	})
}

func TestToPeekIsNoUse(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		id := create(t, g.a, ops)
		for range 5 {
			g.Move(11 * time.Minute)
			if x, ok, err := g.b.Peek(t.Context(), id, life); err != nil || !ok || x.Key != ops.Key {
				t.Fatalf("%+v, %v, %v", x, ok, err)
			}
		}
		g.Move(5 * time.Minute)
		if _, ok, err := g.b.Peek(t.Context(), id, life); ok || err != nil {
			t.Errorf("a session lives after an hour of peeking: %v, %v", ok, err)
		}
		if lives(t, g.a, id) {
			t.Error("it came back")
		}
	})
}

// A desktop that somebody uses is use of its session, and one that is only open is none.
func TestADesktopIsUseAsLongAsAPersonUsesIt(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		id := create(t, g.a, ops)
		var told counter
		var mu sync.Mutex
		var used time.Time
		defer g.a.OnEnd(id, life, func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return used
		}, told.add)()
		defer g.a.OnEnd(id, life, never, func() {})()
		peek := func() bool { // one gateway polls by itself, several by poll
			_, ok, err := g.b.Peek(t.Context(), id, life)
			return ok && err == nil
		}
		for range 4 {
			g.Move(45 * time.Minute)
			mu.Lock()
			used = g.Now().Add(-10 * time.Minute)
			mu.Unlock()
			want := g.Now().Add(-11 * time.Minute)
			enginetest.Within(t, 5*time.Second, "the use is noted", func() bool {
				g.poll(t)
				x, ok, _ := g.b.Peek(t.Context(), id, life)
				return ok && x.Used.After(want)
			})
			told.want(t, 0)
		}
		g.Move(49 * time.Minute)
		g.poll(t)
		if !peek() {
			t.Error("the session has ended less than an hour after the last use of its desktop")
		}
		g.Move(2 * time.Minute)
		g.poll(t)
		told.want(t, 1)
		if peek() {
			t.Error("the session lives more than an hour after the last use of its desktop")
		}
	})
}

func TestSessionsEndThatAConfigurationDoesNotKeep(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		alice, bob := ops, ops
		alice.User, bob.User = "alice", "bob"
		kept, gone, keyed := create(t, g.b, alice), create(t, g.a, bob), create(t, g.b, ops)
		for i := range 700 { // more than one message has
			x := bob
			x.Key = fmt.Sprint(i)
			create(t, g.b, x)
		}
		var told counter
		defer g.b.OnEnd(gone, life, never, told.add)()
		g.a.Retain(func(x websession.Session) bool { return x.User != "bob" })
		g.poll(t)
		told.want(t, 1)
		if lives(t, g.b, gone) || !lives(t, g.a, kept) || !lives(t, g.a, keyed) {
			t.Error("the wrong sessions have ended")
		}
		g.poll(t)
		if n := g.a.Len(); n != 2 {
			t.Errorf("%d sessions are left", n)
		}
		again := create(t, g.a, bob) // a reload ends what there is, once
		g.poll(t)
		if !lives(t, g.b, again) {
			t.Error("a later session has ended")
		}
	})
}

func TestASessionEndsHoweverMuchItIsUsed(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		id := create(t, g.a, ops)
		for range 24 {
			if !lives(t, g.b, id) {
				t.Fatal("it has ended early")
			}
			g.Move(30 * time.Minute)
		}
		if lives(t, g.a, id) {
			t.Error("a session lives after 12 hours")
		}
	})
}

func TestAShorterLifeHoldsForSessionsThatExist(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		idle, old := create(t, g.a, ops), create(t, g.a, ops)
		g.Move(10 * time.Minute)
		if _, ok := find(t, g.b, idle, websession.Life{Idle: 5 * time.Minute, Max: time.Hour}); ok {
			t.Error("a session lives that was not used for longer than the idle time is now")
		}
		if _, ok := find(t, g.b, old, websession.Life{Idle: time.Hour, Max: 5 * time.Minute}); ok {
			t.Error("a session lives that is older than sessions may be now")
		}
		if lives(t, g.a, idle) || lives(t, g.a, old) {
			t.Error("they came back")
		}
	})
}

func TestSignOutEndsOneSession(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		id, other := create(t, g.a, ops), create(t, g.a, ops)
		for range 2 {
			if err := g.b.Delete(t.Context(), id); err != nil {
				t.Fatal(err)
			}
		}
		if lives(t, g.a, id) || !lives(t, g.a, other) {
			t.Error("the wrong session has ended")
		}
	})
}

func TestAKeyAndUserHaveSoManySessions(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		alice := ops
		alice.User = "alice"
		bystander := create(t, g.a, alice)
		var ids []string
		for range websession.MaxOfOwner {
			g.Move(time.Minute)
			ids = append(ids, create(t, g.a, ops))
		}
		g.Move(time.Minute)
		if !lives(t, g.b, ids[0]) { // it is used, so the second is now the one that ends first
			t.Fatal("it has ended early")
		}
		g.Move(time.Minute)
		create(t, g.b, ops)
		for i, id := range ids {
			if lives(t, g.a, id) != (i != 1) {
				t.Errorf("session %d lives: %v", i, i == 1)
			}
		}
		if !lives(t, g.a, bystander) {
			t.Error("another user's session has ended")
		}
	})
}

func TestSessionsInAllAreBounded(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		var first string
		for i := range websession.MaxSessions {
			x := ops
			x.User = fmt.Sprint(i)
			id := create(t, g.a, x)
			if i == 0 {
				first = id
				g.Move(time.Minute)
			}
		}
		g.poll(t)
		if n := g.a.Len(); n != websession.MaxSessions {
			t.Errorf("%d sessions", n)
		}
		last := create(t, g.b, ops)
		if lives(t, g.a, first) || !lives(t, g.a, last) {
			t.Error("the first session lives, or the last does not")
		}
		g.Move(2 * time.Hour)
		create(t, g.a, ops)
		g.poll(t)
		if n := g.a.Len(); n != 1 {
			t.Errorf("%d sessions after all but one have ended", n)
		}
	})
}

func TestTheEndOfASessionIsTold(t *testing.T) {
	onBoth(t, func(t *testing.T, g pair) {
		for what, end := range map[string]func(t *testing.T, id string) error{
			"sign-out": func(t *testing.T, id string) error { return g.b.Delete(t.Context(), id) },
			"others sign in": func(t *testing.T, _ string) error {
				var err error
				for range websession.MaxOfOwner {
					g.Move(time.Minute)
					_, err2 := g.b.Create(t.Context(), ops, life)
					err = errors.Join(err, err2)
				}
				return err
			},
			"its time is over": func(t *testing.T, _ string) error {
				g.Move(13 * time.Hour)
				g.poll(t)
				return nil
			},
		} {
			t.Run(what, func(t *testing.T) {
				id := create(t, g.a, ops)
				var told, second, stopped counter
				defer g.a.OnEnd(id, life, never, told.add)()
				defer g.a.OnEnd(id, life, never, second.add)()
				g.a.OnEnd(id, life, never, stopped.add)()
				if err := end(t, id); err != nil {
					t.Fatal(err)
				}
				told.want(t, 1)
				second.want(t, 1)
				stopped.want(t, 0)
			})
		}
	})
}
