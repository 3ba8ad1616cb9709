// Package visitors knows who stands at the door: connections that have not shown who they are yet, networks whose
// connections keep failing, and addresses whose viewers send no host name.
//
//	book := visitors.New(time.Now)                       // one for the process
//	visit, ok := book.Enter(addr, visitors.Limits{})     // !ok: close at once
//	defer visit.Leave()                                  // or earlier, when the handshake is over
//	wait, ok := book.Delay(addr)                         // !ok: close at once; else greet after wait
//	…
//	book.Fail(addr)                                      // the handshake or its token was bad
//
// Networks that fail are slowed down and never banned: many people share an address, and some viewers retry a wrong
// password for ever. Everything is in memory, bounded, and costs one short lock.
package visitors

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// DefaultPending is how many connections may be half open in all: at 16 KiB each, 32 MiB.
	DefaultPending = 2048
	// DefaultPendingPerNetwork is how many of them may come from one network: a class behind one address, its viewers
	// all waiting for a password to be typed, and one eighth of the door.
	DefaultPendingPerNetwork = 256

	// NameMemory is how long LacksName remembers: time to reconnect and to type a password.
	NameMemory = 2 * time.Minute
	// maxNameless bounds the addresses of LacksName, to about 1 MiB.
	maxNameless = 8192
)

// Limits bound the half-open connections. They may differ between calls: those of the latest configuration count.
type Limits struct {
	Pending           int // in all; 0 means DefaultPending
	PendingPerNetwork int // of one network, an IPv4 address or an IPv6 /64; 0 means DefaultPendingPerNetwork
}

// Book is safe for concurrent use.
type Book struct {
	now   func() time.Time
	start time.Time

	mu       sync.Mutex // guards the following
	pending  int
	networks map[netip.Addr]int // half-open connections; only networks that have some
	failing  table[netip.Addr, failures]
	nameless table[netip.Addr, struct{}]
}

// New returns an empty book that reads the time from now, which never goes back (time.Now does not).
func New(now func() time.Time) *Book {
	return &Book{
		now:      now,
		start:    now(),
		networks: make(map[netip.Addr]int),
		failing:  newTable[netip.Addr, failures](maxFailing, failureWindow),
		nameless: newTable[netip.Addr, struct{}](maxNameless, NameMemory),
	}
}

// Enter counts a connection from addr as half open until Leave. It returns nil and false where one of the limits is
// reached.
func (b *Book) Enter(addr netip.Addr, l Limits) (*Visit, bool) {
	if l.Pending <= 0 {
		l.Pending = DefaultPending
	}
	if l.PendingPerNetwork <= 0 {
		l.PendingPerNetwork = DefaultPendingPerNetwork
	}
	n := network(addr)
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pending >= l.Pending || b.networks[n] >= l.PendingPerNetwork {
		return nil, false
	}
	b.pending++
	b.networks[n]++
	return &Visit{book: b, network: n}, true
}

// Pending is the number of half-open connections.
func (b *Book) Pending() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.pending
}

// Visit is one half-open connection.
type Visit struct {
	book    *Book
	network netip.Addr
	left    bool // guarded by the book's mu
}

// Leave ends the visit: the handshake is over, well or badly. Only the first call counts, and a nil visit has nothing
// to end.
func (v *Visit) Leave() {
	if v == nil {
		return
	}
	b := v.book
	b.mu.Lock()
	defer b.mu.Unlock()
	if v.left {
		return
	}
	v.left = true
	b.pending--
	if b.networks[v.network]--; b.networks[v.network] == 0 {
		delete(b.networks, v.network)
	}
}

// SentNoName remembers for NameMemory that the viewer at addr completed TLS without naming a host (SNI).
func (b *Book) SentNoName(addr netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.nameless.touch(addr.Unmap(), b.elapsed())
}

// LacksName tells whether SentNoName was called for this very address within NameMemory. Of more than 8,192 such
// addresses the one that was told longest ago is forgotten first.
func (b *Book) LacksName(addr netip.Addr) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nameless.get(addr.Unmap(), b.elapsed()) != nil
}

// elapsed is the time as the tables keep it.
func (b *Book) elapsed() time.Duration { return b.now().Sub(b.start) }

// network is what counts as one visitor: an IPv4 address, the /64 of an IPv6 address (what one host has), and all
// that have no address together.
func network(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if !addr.Is6() {
		return addr
	}
	p, err := addr.Prefix(64) // drops the zone
	if err != nil {
		return netip.Addr{}
	}
	return p.Addr()
}
