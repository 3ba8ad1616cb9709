package connlimit_test

import (
	"math/rand/v2"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

// clock is handed in; a test moves it between calls.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func open() (*connlimit.Limiter, *clock) {
	c := &clock{time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)}
	return connlimit.New(c.now), c
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

// acquire is for connections whose end nobody waits for.
func acquire(limiter *connlimit.Limiter, addr netip.Addr, l connlimit.Limits) *connlimit.Slot {
	return limiter.Acquire(addr, l, func() {})
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
		limiter, _ := open()
		a := acquire(limiter, netip.MustParseAddr(test.a), connlimit.Limits{PendingPerNetwork: 1})
		b := acquire(limiter, netip.MustParseAddr(test.b), connlimit.Limits{PendingPerNetwork: 1})
		if a.Evicted() != test.same {
			t.Errorf("pending: %s and %s are the same: %v", test.a, test.b, a.Evicted())
		}
		for range 31 {
			a.FailedPassword()
		}
		a.PasswordDelay()
		if wait, _ := b.PasswordDelay(); (wait > 0) != test.same {
			t.Errorf("failures: %s and %s are the same: %v", test.a, test.b, wait > 0)
		}
	}
}

func TestViewersWithoutAnAddressAreOneNetwork(t *testing.T) {
	limiter, _ := open()
	first := acquire(limiter, netip.Addr{}, connlimit.Limits{PendingPerNetwork: 1})
	second := acquire(limiter, netip.Addr{}, connlimit.Limits{PendingPerNetwork: 1})
	if !first.Evicted() || second.Evicted() {
		t.Error("they are two")
	}
	second.Release()
	if limiter.Pending() != 0 {
		t.Error("somebody is left")
	}
}

// The memory is for the one connection that follows, so that a neighbour who sends names is asked
// for nothing.
func TestAnAddressWithoutANameIsRememberedOnceForTenSeconds(t *testing.T) {
	limiter, clock := open()
	limiter.AddNameless(ada)
	limiter.AddNameless(ada6)
	for _, c := range []struct {
		addr string
		want bool
	}{
		{"192.0.2.2", false}, {"2001:db8:1:1::2", false}, // the very address
		{"::ffff:192.0.2.1", true}, {"192.0.2.1", false}, // once
	} {
		if got := limiter.TakeNameless(netip.MustParseAddr(c.addr)); got != c.want {
			t.Errorf("%s lacks a name: %v", c.addr, got)
		}
	}
	clock.pass(connlimit.NamelessTTL - 1)
	limiter.AddNameless(ada)
	clock.pass(1)
	if limiter.TakeNameless(ada6) || connlimit.NamelessTTL != 10*time.Second {
		t.Error("remembered too long")
	}
	clock.pass(connlimit.NamelessTTL - 2)
	if !limiter.TakeNameless(ada) {
		t.Error("forgotten too early")
	}
}

func TestTablesAreBounded(t *testing.T) {
	limiter, clock := open()
	const over = 100
	for n := range connlimit.MaxFailing + over {
		slot := acquire(limiter, numbered(n), connlimit.Limits{})
		for range 30 {
			slot.FailedPassword()
		}
		slot.Release()
		limiter.AddNameless(numbered(n))
	}
	if _, failing, nameless := limiter.Sizes(); failing != connlimit.MaxFailing || nameless != connlimit.MaxNameless {
		t.Errorf("%d failing networks, %d nameless addresses", failing, nameless)
	}
	slowed := func(n int) bool {
		slot := acquire(limiter, numbered(n), connlimit.Limits{})
		defer slot.Release()
		slot.PasswordDelay()
		wait, _ := slot.PasswordDelay()
		return wait > 0
	}
	if slowed(over-1) || !slowed(over) || limiter.TakeNameless(numbered(over-1)) || !limiter.TakeNameless(numbered(over)) {
		t.Error("what goes first is not what was touched longest ago")
	}
	clock.pass(time.Minute)
	guess(limiter)
	limiter.AddNameless(ada)
	if _, failing, nameless := limiter.Sizes(); failing != 1 || nameless != 1 {
		t.Errorf("after their time %d failing networks and %d nameless addresses are left", failing, nameless)
	}
}

func TestCountsAreRightUnderManyViewers(t *testing.T) {
	limiter := connlimit.New(time.Now)
	limits := connlimit.Limits{Pending: 50, PendingPerNetwork: 10}
	var all sync.WaitGroup
	for g := range 64 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(g)))
			for range 1000 {
				addr := numbered(random.IntN(8))
				slot := acquire(limiter, addr, limits)
				if pending := limiter.Pending(); pending > limits.Pending {
					t.Errorf("%d pending", pending)
				}
				slot.PasswordDelay()
				slot.FailedPassword()
				slot.FailedToken()
				slot.SetStage(connlimit.Stage(random.IntN(2)))
				slot.SetStage(connlimit.Stage(random.IntN(2)))
				if !limiter.TakeNameless(addr) {
					limiter.AddNameless(addr)
				}
				slot.Release()
			}
		})
	}
	all.Wait()
	if networks, failing, nameless := limiter.Sizes(); limiter.Pending() != 0 || networks != 0 || failing != 16 || nameless > 8 {
		t.Errorf("left: %d pending, %d networks, %d failing, %d nameless", limiter.Pending(), networks, failing, nameless)
	}
}
