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

// enter is for connections whose end nobody waits for.
func enter(book *visitors.Book, addr netip.Addr, l visitors.Limits) *visitors.Visit {
	return book.Enter(addr, l, func() {})
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
		a := enter(book, netip.MustParseAddr(test.a), visitors.Limits{PendingPerNetwork: 1})
		b := enter(book, netip.MustParseAddr(test.b), visitors.Limits{PendingPerNetwork: 1})
		if a.GaveWay() != test.same {
			t.Errorf("pending: %s and %s are the same: %v", test.a, test.b, a.GaveWay())
		}
		for range 31 {
			a.GuessedPassword()
		}
		a.Turn()
		if wait, _ := b.Turn(); (wait > 0) != test.same {
			t.Errorf("failures: %s and %s are the same: %v", test.a, test.b, wait > 0)
		}
	}
}

func TestVisitorsWithoutAnAddressAreOneNetwork(t *testing.T) {
	book, _ := open()
	first := enter(book, netip.Addr{}, visitors.Limits{PendingPerNetwork: 1})
	second := enter(book, netip.Addr{}, visitors.Limits{PendingPerNetwork: 1})
	if !first.GaveWay() || second.GaveWay() {
		t.Error("they are two")
	}
	second.Leave()
	if book.Pending() != 0 {
		t.Error("somebody is left")
	}
}

// The memory is for the one connection that follows, so that a neighbour who sends names is asked for nothing.
func TestAnAddressWithoutANameIsRememberedOnceForTenSeconds(t *testing.T) {
	book, clock := open()
	book.SentNoName(ada)
	book.SentNoName(ada6)
	for _, c := range []struct {
		addr string
		want bool
	}{
		{"192.0.2.2", false}, {"2001:db8:1:1::2", false}, // the very address
		{"::ffff:192.0.2.1", true}, {"192.0.2.1", false}, // once
	} {
		if got := book.TakeNoName(netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("%s lacks a name: %v", c.addr, got)
		}
	}
	clock.pass(visitors.NameMemory - 1)
	book.SentNoName(ada)
	clock.pass(1)
	if book.TakeNoName(ada6) || visitors.NameMemory != 10*time.Second {
		t.Error("remembered too long")
	}
	clock.pass(visitors.NameMemory - 2)
	if !book.TakeNoName(ada) {
		t.Error("forgotten too early")
	}
}

func TestTablesAreBounded(t *testing.T) {
	book, clock := open()
	const over = 100
	for n := range visitors.MaxFailing + over {
		visit := enter(book, numbered(n), visitors.Limits{})
		for range 30 {
			visit.GuessedPassword()
		}
		visit.Leave()
		book.SentNoName(numbered(n))
	}
	if _, failing, nameless := book.Sizes(); failing != visitors.MaxFailing || nameless != visitors.MaxNameless {
		t.Errorf("%d failing networks, %d nameless addresses", failing, nameless)
	}
	slowed := func(n int) bool {
		visit := enter(book, numbered(n), visitors.Limits{})
		defer visit.Leave()
		visit.Turn()
		wait, _ := visit.Turn()
		return wait > 0
	}
	if slowed(over-1) || !slowed(over) || book.TakeNoName(numbered(over-1)) || !book.TakeNoName(numbered(over)) {
		t.Error("what goes first is not what was touched longest ago")
	}
	clock.pass(time.Minute)
	guess(book)
	book.SentNoName(ada)
	if _, failing, nameless := book.Sizes(); failing != 1 || nameless != 1 {
		t.Errorf("after their time %d failing networks and %d nameless addresses are left", failing, nameless)
	}
}

func TestCountsAreRightUnderManyVisitors(t *testing.T) {
	book := visitors.New(time.Now)
	limits := visitors.Limits{Pending: 50, PendingPerNetwork: 10}
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range 1000 {
				addr := numbered(random.IntN(8))
				visit := enter(book, addr, limits)
				if pending := book.Pending(); pending > limits.Pending+visitors.Reserve {
					t.Errorf("%d pending", pending)
				}
				visit.Turn()
				visit.GuessedPassword()
				visit.Guessed()
				visit.Wait(visitors.Stage(random.IntN(3)))
				visit.Wait(visitors.Stage(random.IntN(3)))
				if !book.TakeNoName(addr) {
					book.SentNoName(addr)
				}
				visit.Leave()
			}
		})
	}
	all.Wait()
	if networks, failing, nameless := book.Sizes(); book.Pending() != 0 || networks != 0 || failing != 16 || nameless > 8 {
		t.Errorf("left: %d pending, %d networks, %d failing, %d nameless", book.Pending(), networks, failing, nameless)
	}
}
