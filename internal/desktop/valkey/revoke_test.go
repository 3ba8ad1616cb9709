//go:build unix

package valkey_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

var countKeys = cluster.NewScript("count keys", "return redis.call('DBSIZE')")

// Who changes the end of a key again and again does not fill the engine, and no token lives longer for
// it.
func TestTheEndsOfAKeyAreBounded(t *testing.T) {
	e, a, b := two(t, nil)
	label := issue(t, a.Service, "desk1", desktop.Options{})
	keys := func() int64 {
		reply, err := a.node.Run(t.Context(), countKeys)
		if err != nil {
			t.Fatal(err)
		}
		n, err := reply.AsInt64()
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := keys()
	for i := range 100 {
		e.Move(time.Millisecond)
		a.state.RevokeAt("default", "dev", e.Now().Add(time.Hour+time.Duration(i)*time.Second))
	}
	if n := keys(); n != before {
		t.Errorf("%d keys, %d before", n, before)
	}
	x := mustJoin(t, b.Service, label, viewer)
	if left := x.Until().Sub(e.Now()); left > time.Hour || left < time.Hour-time.Second {
		t.Errorf("the session ends in %v", left)
	}
}

// A gateway that learns late of a rotation ends the sessions of the secret before it, not those of the
// new one.
func TestAKeyThatChangedElsewhereKeepsItsNewSessions(t *testing.T) {
	e, a, b := two(t, nil)
	old := mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
	e.Move(time.Second)
	rotated := e.Now()
	e.Move(time.Second)
	label := issue(t, a.Service, "desk2", desktop.Options{})
	fresh := mustJoin(t, b.Service, label, viewer)
	e.Move(time.Second)
	b.state.RevokedElsewhere("other", "dev", e.Now(), e.Now())
	b.state.RevokedElsewhere("default", "dev", rotated, rotated)
	wantEnded(t, old, desktop.ReasonRemoved)
	wantOpen(t, fresh)
	if _, err := a.Find(label, viewer.Addr()); err != nil {
		t.Error(err)
	}
}

// A key that asks for ever more desktops does not fill the engine with their names.
func TestTheDesktopsOfAKeyAreForgottenWithTheirTokens(t *testing.T) {
	e, a, _ := two(t, func(p *desktop.Policy) { p.MaxDuration = time.Hour })
	var desks []string
	owner := a.node.Key("desktop2:key:default/dev")
	for i := range 4 {
		name := fmt.Sprint("run", i)
		if _, _, err := a.Register(t.Context(), "default", name, desktop.Registration{Address: "10.0.0.1:5900"}); err != nil {
			t.Fatal(err)
		}
		issue(t, a.Service, name, desktop.Options{})
		reply, err := a.node.Engine().Do(t.Context(), "ZRANGE", owner, "0", "-1")
		if err != nil {
			t.Fatal(err)
		}
		if desks, err = reply.AsStrSlice(); err != nil {
			t.Fatal(err)
		}
		e.Move(13 * time.Hour)
		a.renew(t)
	}
	// A token lives for an hour, and is remembered for a day.
	if want := []string{"default/run2", "default/run3"}; !slices.Equal(desks, want) {
		t.Errorf("%q, want %q", desks, want)
	}
	reply, err := a.node.Engine().Do(t.Context(), "PTTL", owner)
	if err != nil {
		t.Fatal(err)
	}
	if left, err := reply.AsInt64(); err != nil || left <= 0 {
		t.Errorf("the key's desktops are forgotten in %d ms, %v", left, err)
	}
}
