package valkey_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// A gateway that was taken for dead does not use what it had besides its calls: others may have it.
func TestGatewayWithANewIDHasNoIdleSlots(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedAt(t, e.Addr, still("a")), startedAt(t, e.Addr, still("b"))
	const limit = 64
	s := slots("key:a", limit, 0)
	enter(t, a, s)
	if use := inUse(t, b, s); use.InUse < 2 {
		t.Fatalf("%+v: it has no idle slots", use)
	}
	old := a.node.ID()
	if _, err := a.engine.Do(t.Context(), "ZADD", a.node.Key("nodes"), "0", old); err != nil { // the end of its lease
		t.Fatal(err)
	}
	if err := b.Reap(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	for n := range limit {
		if entry := enter(t, b, s); entry.Permit == nil {
			t.Fatalf("call %d: %+v", n, entry)
		}
	}
	enter(t, a, slots("key:b", 3, 0)) // its message is refused
	enginetest.Within(t, patience, "the call is known again", func() bool { return inUse(t, b, s).InUse > limit })
	quiet(t, a)
	if use := inUse(t, b, s); use.InUse != limit+1 {
		t.Errorf("%d slots are held, want those of %d calls", use.InUse, limit+1)
	}
	if entry := enter(t, a, s); entry.Busy == nil {
		t.Error("a slot was used that another gateway has")
	}
}

// A call that is refused because others keep slots for their next calls makes them give these back.
func TestIdleSlotsAreGivenToAGatewayThatIsShortOfThem(t *testing.T) {
	e := enginetest.Redis(t)
	a, b := startedAt(t, e.Addr, still("a")), startedAt(t, e.Addr, still("b"))
	const limit = 64
	s := slots("key:a", limit, 0)
	for _, p := range func() (all []*limits.Permit) {
		for range limit {
			all = append(all, enter(t, a, s).Permit)
		}
		return all
	}() {
		p.Release()
	}
	if use := inUse(t, b, s); use.InUse != limit {
		t.Fatalf("%+v: they are not kept", use)
	}
	began := time.Now() // the first call may be refused, or wait until the other gateway has given slots back
	enginetest.Within(t, patience, "a call is admitted", func() bool { return enter(t, b, s).Permit != nil })
	t.Logf("the slots came after %v", time.Since(began))
	// While all are used, refused calls ask the other gateway a few times a second.
	for entry := enter(t, b, s); entry.Busy == nil; entry = enter(t, b, s) {
	}
	quiet(t, a)
	const refused = 50
	before := scripts(t, a)
	for range refused {
		if entry := enter(t, b, s); entry.Busy == nil {
			t.Fatalf("%+v", entry)
		}
	}
	if sent := scripts(t, a) - before; sent > refused+10 {
		t.Errorf("%d messages for %d refused calls", sent, refused)
	}
}
