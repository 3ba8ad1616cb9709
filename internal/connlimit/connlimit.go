// Package connlimit bounds the connections that are not authenticated yet. It counts half-open
// connections and wrong guesses by network, and remembers which viewers sent no host name a moment
// ago.
//
//	limiter := connlimit.New(time.Now)                           // one for the process
//	slot := limiter.Acquire(addr, connlimit.Limits{}, evict)
//	defer slot.Release()                                         // or earlier, when the token is live
//	slot.SetStage(connlimit.Person)                              // a person may be typing now
//	…
//	wait := slot.FailedToken()                                   // the token never existed: refuse after wait
//
// A connection with a live token is no longer half open and is not delayed: many people share an
// address. The refusals of networks that guess are delayed, but no network is banned: some viewers
// retry a wrong password without end. Everything is in memory and bounded. A call costs one short
// lock; where a limit is reached, Acquire looks at each network once.
//
// Failed sign-ins to the console are counted in the same table; see FailedSignIn.
package connlimit

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// DefaultPending is how many connections may be half open in all: 32 MiB at 16 KiB for a silent
	// one. In the middle of a TLS handshake one holds the 32 KiB that a viewer may send of it, in
	// buffers that grow by doubling.
	DefaultPending = 2048
	// DefaultPendingPerNetwork is how many of them may come from one network: a class behind one
	// address whose viewers all wait for a password, and one eighth of all.
	DefaultPendingPerNetwork = 256
)

// Limits bound the half-open connections. They may differ between calls: those of the latest
// configuration count.
type Limits struct {
	Pending           int // in all; 0 means DefaultPending
	PendingPerNetwork int // of one network, an IPv4 address or an IPv6 /64; 0 means DefaultPendingPerNetwork
}

// Limiter is safe for concurrent use.
type Limiter struct {
	now   func() time.Time
	start time.Time

	mu       sync.Mutex              // guards the following, and every slot
	open     int                     // slots
	networks map[netip.Addr]*pending // only networks that have half-open connections
	acquired uint64                  // slots so far
	failing  table[failureKey, failures]
	nameless table[netip.Addr, struct{}]
	tell     func(addr netip.Addr, taken bool) // of Share
}

// New returns an empty limiter that reads the time from now, which never goes back (time.Now does
// not).
func New(now func() time.Time) *Limiter {
	return &Limiter{
		now:      now,
		start:    now(),
		networks: make(map[netip.Addr]*pending),
		failing:  newTable[failureKey, failures](maxFailing, failureWindow),
		nameless: newTable[netip.Addr, struct{}](maxNameless, NamelessTTL),
		tell:     func(netip.Addr, bool) {},
	}
}

// Pending is the number of half-open connections.
func (l *Limiter) Pending() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

// elapsed is the time as the tables keep it.
func (l *Limiter) elapsed() time.Duration { return l.now().Sub(l.start) }

// network is what counts as one: an IPv4 address, the /64 of an IPv6 address (what one host has),
// and all that have no address together.
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
