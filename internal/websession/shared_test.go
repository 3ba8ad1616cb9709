//go:build unix

package websession_test

import (
	"context"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

func TestSignOutElsewhereIsHeardWithTheNextBeat(t *testing.T) {
	c, redis := enginetest.NewClock(time.Now()), enginetest.Redis(t)
	a, b := gateway(t, c, redis.Addr, "a"), gateway(t, c, redis.Addr, "b")
	a.node.lose()
	id := create(t, a, ops)
	var told counter
	defer a.OnEnd(id, life, never, told.add)()
	if err := b.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	a.poll(t)
	told.want(t, 1)
}

func TestAReloadWhileTheEngineIsAwayIsMadeUpFor(t *testing.T) {
	c, redis := enginetest.NewClock(time.Now()), enginetest.Redis(t)
	g := gateway(t, c, redis.Addr, "a")
	id := create(t, g, ops)
	g.Retain(func(websession.Session) bool { return false })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.node.part.Beat(ctx); err == nil {
		t.Fatal("a beat without an answer succeeds")
	}
	g.poll(t)
	if lives(t, g, id) {
		t.Error("a session lives that the configuration does not keep")
	}
}

func TestNobodyIsSignedInWithoutTheEngine(t *testing.T) {
	c, redis := enginetest.NewClock(time.Now()), enginetest.Redis(t)
	g := gateway(t, c, redis.Addr, "a")
	id := create(t, g, ops)
	var told counter
	defer g.OnEnd(id, life, never, told.add)()
	redis.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, ok, err := g.Find(ctx, id, life); err == nil || ok {
		t.Errorf("found: %v, %v", ok, err)
	}
	if _, err := g.Create(ctx, ops, life); err == nil {
		t.Error("a session was made")
	}
	if err := g.Delete(ctx, id); err == nil {
		t.Error("a session was deleted")
	}
	if err := g.node.part.Beat(ctx); err == nil {
		t.Error("a beat without the engine succeeds")
	}
	told.want(t, 0) // open desktops have rules of their own
}

func TestAGatewayWithoutConsoleSendsNothing(t *testing.T) {
	c, redis := enginetest.NewClock(time.Now()), enginetest.Redis(t)
	g := gateway(t, c, redis.Addr, "a")
	g.poll(t)
	if g.node.sent != 0 {
		t.Errorf("%d messages", g.node.sent)
	}
	create(t, g, ops)
	g.poll(t)
	if g.node.sent != 2 || g.Len() != 1 {
		t.Errorf("%d messages, %d sessions", g.node.sent, g.Len())
	}
}

func TestTheEngineForgetsWhatHasEnded(t *testing.T) {
	c, redis := enginetest.NewClock(time.Now()), enginetest.Redis(t)
	g := gateway(t, c, redis.Addr, "a")
	create(t, g, ops)
	ask := func(command, key string) *valkey.Reply {
		t.Helper()
		reply, err := g.node.Engine().Do(t.Context(), command, key)
		if err != nil {
			t.Fatal(err)
		}
		return &reply
	}
	keys, err := ask("KEYS", g.node.Key("w*:*")).AsStrSlice()
	if err != nil || len(keys) != 2 {
		t.Fatalf("the engine keeps %q of a session, %v", keys, err)
	}
	for _, key := range keys {
		left, err := ask("PTTL", key).AsInt64()
		if forgotten := time.Duration(left) * time.Millisecond; err != nil || forgotten <= 0 || forgotten > life.Idle+time.Second {
			t.Errorf("%s is forgotten in %v, %v", key, forgotten, err)
		}
	}
}
