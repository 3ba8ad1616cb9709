package connlimit_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

// acquireMany acquires n connections from addr and brings them to a stage.
func acquireMany(limiter *connlimit.Limiter, addr netip.Addr, l connlimit.Limits, s connlimit.Stage, n int) (slots []*connlimit.Slot) {
	for range n {
		slot := acquire(limiter, addr, l)
		slot.SetStage(s)
		slots = append(slots, slot)
	}
	return slots
}

// evictedOf are the indices of the evicted slots.
func evictedOf(slots []*connlimit.Slot) (indices []int) {
	for i, v := range slots {
		if v.Evicted() {
			indices = append(indices, i)
		}
	}
	return indices
}

func TestHalfOpenConnectionsAreCapped(t *testing.T) {
	for _, test := range []struct {
		name     string
		limits   connlimit.Limits
		distinct bool // each from a network of its own
		want     int
	}{
		{"in all", connlimit.Limits{Pending: 7, PendingPerNetwork: 100}, true, 7},
		{"a network", connlimit.Limits{Pending: 100, PendingPerNetwork: 5}, false, 5},
		{"in all, one network", connlimit.Limits{Pending: 4, PendingPerNetwork: 5}, false, 4},
		{"in all, default", connlimit.Limits{}, true, connlimit.DefaultPending},
		{"a network, default", connlimit.Limits{}, false, connlimit.DefaultPendingPerNetwork},
	} {
		t.Run(test.name, func(t *testing.T) {
			limiter, _ := open()
			told := 0
			var slots []*connlimit.Slot
			for n := range test.want + 10 {
				addr := ada
				if test.distinct {
					addr = numbered(n)
				}
				slots = append(slots, limiter.Acquire(addr, test.limits, func() { told++ }))
			}
			out := evictedOf(slots)
			if len(out) != 10 || out[0] != 0 || out[9] != 9 || told != 10 || limiter.Pending() != test.want {
				t.Fatalf("%v was evicted, %d were told, %d pending, want %d", out, told, limiter.Pending(), test.want)
			}
			slots[0].Release() // it counts no more
			slots[len(slots)-1].Release()
			slots[len(slots)-1].Release()
			if limiter.Pending() != test.want-1 {
				t.Errorf("%d pending after one has left", limiter.Pending())
			}
		})
	}
}

// Ten addresses with 240 silent connections each; an eleventh comes in, and so do its neighbours.
func TestAFloodIsEvictedForOthers(t *testing.T) {
	limiter, _ := open()
	var flood []*connlimit.Slot
	for n := range 10 {
		flood = append(flood, acquireMany(limiter, numbered(n), connlimit.Limits{}, connlimit.Program, 240)...)
	}
	var good []*connlimit.Slot
	for n := range 200 {
		good = append(good, acquire(limiter, numbered(100+n), connlimit.Limits{}))
	}
	if out := evictedOf(good); len(out) > 0 {
		t.Errorf("%d good ones was evicted", len(out))
	}
	if out := evictedOf(flood); len(out) != 2400-connlimit.DefaultPending+200 {
		t.Errorf("%d of the flood was evicted", len(out))
	}
}

func TestWhoIsEvicted(t *testing.T) {
	limits := connlimit.Limits{Pending: 12, PendingPerNetwork: 10}
	type group struct {
		addr  netip.Addr
		stage connlimit.Stage
		n     int
	}
	for _, test := range []struct {
		name   string
		groups []group
		comes  netip.Addr
		want   [2]int // which of which group; -1: none
	}{
		{"the oldest of the fullest network", []group{{ada, connlimit.Program, 5}, {bob, connlimit.Program, 7}}, ada6, [2]int{1, 0}},
		{"of two that are as full, the oldest", []group{{bob, connlimit.Program, 6}, {ada, connlimit.Program, 6}}, ada6, [2]int{0, 0}},
		{"not where a person may be typing", []group{{ada, connlimit.Person, 7}, {bob, connlimit.Program, 5}}, ada6, [2]int{1, 0}},
		{"a person in the end", []group{{ada, connlimit.Person, 9}, {bob, connlimit.Person, 3}}, ada6, [2]int{0, 0}},
		{"a person rather than the only one of a network", []group{{ada, connlimit.Person, 9}, {bob, connlimit.Person, 2}, {ada6, connlimit.Program, 1}}, numbered(1), [2]int{0, 0}},
		{"of the network whose limit it is", []group{{ada, connlimit.Person, 10}, {bob, connlimit.Program, 2}}, ada, [2]int{0, 0}},
		{"there too, not where a person may be typing", []group{{ada, connlimit.Person, 9}, {ada, connlimit.Program, 1}}, ada, [2]int{1, 0}},
	} {
		t.Run(test.name, func(t *testing.T) {
			limiter, _ := open()
			var groups [][]*connlimit.Slot
			for _, g := range test.groups {
				groups = append(groups, acquireMany(limiter, g.addr, limits, g.stage, g.n))
			}
			latest := acquire(limiter, test.comes, limits)
			got := [2]int{-1, -1}
			for i, slots := range groups {
				if out := evictedOf(slots); len(out) > 0 {
					got = [2]int{i, out[0]}
				}
			}
			if got != test.want || latest.Evicted() {
				t.Errorf("%v was evicted, want %v; the new one itself: %v", got, test.want, latest.Evicted())
			}
		})
	}
}

// Connections that say they wait for a person cost a flood little. They must not have all newcomers
// be evicted.
func TestNewConnectionsHaveTheirTimeWhereConnectionsWaitForAPerson(t *testing.T) {
	for _, test := range []struct {
		name   string
		limits connlimit.Limits
		flood  []netip.Addr
		good   netip.Addr
	}{
		{"in their network", connlimit.Limits{PendingPerNetwork: 64}, []netip.Addr{ada}, ada},
		{"in all", connlimit.Limits{Pending: 64}, []netip.Addr{ada, bob}, ada6},
		{"in all, each from a network of its own", connlimit.Limits{Pending: 64}, manyNumbered(64), ada6},
	} {
		limiter, clock := open()
		for n := range 64 {
			acquireMany(limiter, test.flood[n%len(test.flood)], test.limits, connlimit.Person, 1)
		}
		clock.pass(31 * time.Second)
		typing := acquireMany(limiter, test.good, test.limits, connlimit.Person, 1)[0]
		good := acquire(limiter, test.good, test.limits)
		for n := range 9 { // five a second
			acquire(limiter, test.flood[n%len(test.flood)], test.limits)
			clock.pass(200 * time.Millisecond)
		}
		if good.Evicted() || typing.Evicted() {
			t.Errorf("%s: was evicted: the new one %v, who types %v", test.name, good.Evicted(), typing.Evicted())
		}
		clock.pass(time.Second)
		for range 8 {
			acquire(limiter, test.good, test.limits) // silent, and too old soon
		}
		clock.pass(2 * time.Second)
		for range 40 {
			acquire(limiter, test.flood[0], test.limits)
		}
		if typing.Evicted() || !good.Evicted() {
			t.Errorf("%s: after three seconds of silence; was evicted: the new one %v, who types %v", test.name, good.Evicted(), typing.Evicted())
		}
	}
}

// manyNumbered are n addresses.
func manyNumbered(n int) (addrs []netip.Addr) {
	for i := range n {
		addrs = append(addrs, numbered(i))
	}
	return addrs
}

func TestAReleasedConnectionIsNotEvicted(t *testing.T) {
	limiter, _ := open()
	limits := connlimit.Limits{PendingPerNetwork: 1}
	out := acquire(limiter, ada, limits)
	in := acquire(limiter, ada, limits)
	in.Release()
	in.SetStage(connlimit.Person)
	next := acquire(limiter, ada, limits)
	if !out.Evicted() || in.Evicted() || next.Evicted() || limiter.Pending() != 1 {
		t.Errorf("was evicted: %v, %v, %v; %d pending", out.Evicted(), in.Evicted(), next.Evicted(), limiter.Pending())
	}
}
