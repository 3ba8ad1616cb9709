package visitors_test

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/visitors"
)

// clock is handed in; a test moves it between calls.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func open() (*visitors.Book, *clock) {
	c := &clock{time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	return visitors.New(c.now), c
}

var (
	ada  = netip.MustParseAddr("192.0.2.1")
	bob  = netip.MustParseAddr("192.0.2.2")
	ada6 = netip.MustParseAddr("2001:db8:1:1::1")
)

// numbered is the n-th of many IPv4 addresses.
func numbered(n int) netip.Addr {
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)})
}

func TestHalfOpenConnectionsAreCapped(t *testing.T) {
	for _, test := range []struct {
		name         string
		limits       visitors.Limits
		distinct     bool // each from a network of its own
		wantAccepted int
	}{
		{"in all", visitors.Limits{Pending: 7, PendingPerNetwork: 100}, true, 7},
		{"a network", visitors.Limits{Pending: 100, PendingPerNetwork: 5}, false, 5},
		{"in all, one network", visitors.Limits{Pending: 4, PendingPerNetwork: 5}, false, 4},
		{"in all, default", visitors.Limits{}, true, visitors.DefaultPending},
		{"a network, default", visitors.Limits{}, false, visitors.DefaultPendingPerNetwork},
	} {
		t.Run(test.name, func(t *testing.T) {
			book, _ := open()
			var visits []*visitors.Visit
			for n := range visitors.DefaultPending + 10 {
				addr := ada
				if test.distinct {
					addr = numbered(n)
				}
				visit, ok := book.Enter(addr, test.limits)
				if ok != (visit != nil) {
					t.Fatalf("visit %v, %v", visit, ok)
				}
				if ok {
					visits = append(visits, visit)
				}
			}
			if len(visits) != test.wantAccepted || book.Pending() != test.wantAccepted {
				t.Fatalf("%d accepted, %d pending, want %d", len(visits), book.Pending(), test.wantAccepted)
			}
			visits[0].Leave()
			visits[0].Leave() // only the first counts
			if _, ok := book.Enter(ada, test.limits); !ok {
				t.Error("nobody may enter after one has left")
			}
			if _, ok := book.Enter(ada, test.limits); ok {
				t.Error("two may enter after one has left twice")
			}
		})
	}
}

func TestOneFullNetworkLeavesRoomForOthers(t *testing.T) {
	book, _ := open()
	limits := visitors.Limits{Pending: 10, PendingPerNetwork: 2}
	for range 5 {
		book.Enter(ada, limits)
	}
	if _, ok := book.Enter(bob, limits); !ok || book.Pending() != 3 {
		t.Errorf("entered: %v, %d pending", ok, book.Pending())
	}
}

func TestANetworkIsAnIPv4AddressOrAnIPv6Slash64(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1", "192.0.2.1", true},
		{"192.0.2.1", "192.0.2.2", false},
		{"192.0.2.1", "::ffff:192.0.2.1", true},
		{"::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
		{"2001:db8:1:1::1", "2001:db8:1:1:ffff::2", true},
		{"2001:db8:1:1::1", "2001:db8:1:2::1", false},
		{"fe80::1%eth0", "fe80::2%eth1", true},
	} {
		book, _ := open()
		book.Enter(netip.MustParseAddr(test.a), visitors.Limits{PendingPerNetwork: 1})
		_, entered := book.Enter(netip.MustParseAddr(test.b), visitors.Limits{PendingPerNetwork: 1})
		if entered == test.same {
			t.Errorf("pending: %s and %s are the same: %v", test.a, test.b, !entered)
		}
		for range 31 {
			book.Fail(netip.MustParseAddr(test.a))
		}
		book.Delay(netip.MustParseAddr(test.a))
		if wait, _ := book.Delay(netip.MustParseAddr(test.b)); (wait > 0) != test.same {
			t.Errorf("failures: %s and %s are the same: %v", test.a, test.b, wait > 0)
		}
	}
}

func TestVisitorsWithoutAnAddressAreOneNetwork(t *testing.T) {
	book, _ := open()
	visit, ok := book.Enter(netip.Addr{}, visitors.Limits{PendingPerNetwork: 1})
	if _, again := book.Enter(netip.Addr{}, visitors.Limits{PendingPerNetwork: 1}); !ok || again {
		t.Errorf("entered: %v, %v", ok, again)
	}
	visit.Leave()
	(*visitors.Visit)(nil).Leave()
	if book.Pending() != 0 {
		t.Error("somebody is left")
	}
}

func TestAnAddressWithoutANameIsRememberedForTwoMinutes(t *testing.T) {
	book, clock := open()
	book.SentNoName(ada)
	book.SentNoName(ada6)
	for addr, want := range map[string]bool{
		"192.0.2.1": true, "::ffff:192.0.2.1": true, "192.0.2.2": false,
		"2001:db8:1:1::1": true, "2001:db8:1:1::2": false, // the very address: a neighbour may send names
	} {
		if got := book.LacksName(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s lacks a name: %v", addr, got)
		}
	}
	clock.pass(visitors.NameMemory - 1)
	if !book.LacksName(ada) {
		t.Error("forgotten too early")
	}
	book.SentNoName(ada)
	clock.pass(1)
	if book.LacksName(ada6) {
		t.Error("remembered too long")
	}
	clock.pass(visitors.NameMemory - 2)
	if !book.LacksName(ada) {
		t.Error("a second time does not count anew")
	}
}

func TestTablesAreBounded(t *testing.T) {
	book, clock := open()
	const over = 100
	for n := range visitors.MaxFailing + over {
		for range 30 {
			book.Fail(numbered(n))
		}
		book.SentNoName(numbered(n))
	}
	if _, failing, nameless := book.Sizes(); failing != visitors.MaxFailing || nameless != visitors.MaxNameless {
		t.Errorf("%d failing networks, %d nameless addresses", failing, nameless)
	}
	slowed := func(n int) bool {
		book.Delay(numbered(n))
		wait, _ := book.Delay(numbered(n))
		return wait > 0
	}
	if slowed(over-1) || !slowed(over) || book.LacksName(numbered(over-1)) || !book.LacksName(numbered(over)) {
		t.Error("what goes first is not what was touched longest ago")
	}
	clock.pass(visitors.NameMemory)
	book.Fail(ada)
	book.SentNoName(ada)
	if _, failing, nameless := book.Sizes(); failing != 1 || nameless != 1 {
		t.Errorf("after their time %d failing networks and %d nameless addresses are left", failing, nameless)
	}
}

func TestCountsAreRightUnderManyVisitors(t *testing.T) {
	book := visitors.New(time.Now)
	limits := visitors.Limits{Pending: 50, PendingPerNetwork: 10}
	var all sync.WaitGroup
	for g := range 16 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range 2000 {
				addr := numbered(random.IntN(8))
				visit, ok := book.Enter(addr, limits)
				if pending := book.Pending(); pending > limits.Pending || ok && pending < 1 {
					t.Errorf("%d pending", pending)
				}
				book.Delay(addr)
				book.Fail(addr)
				if !book.LacksName(addr) {
					book.SentNoName(addr)
				}
				visit.Leave()
			}
		})
	}
	all.Wait()
	if networks, failing, nameless := book.Sizes(); book.Pending() != 0 || networks != 0 || failing != 8 || nameless != 8 {
		t.Errorf("left: %d pending, %d networks, %d failing, %d nameless", book.Pending(), networks, failing, nameless)
	}
}
