package authserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"
)

const (
	// boundsWindow is the time in which attempts are counted.
	boundsWindow = 10 * time.Minute
	// Sign-ins that are begun, by address and in all: an office may have one address, and what
	// waits is kept for the life of a code. Of each kind of attempt an address without one has one
	// more than all have together: else strangers could lock everybody out.
	maxBegun, maxBegunInAll = 100, 2000
	// Codes that somebody has typed and that are not there. There are 2.5e10 codes; with all that
	// may be begun, one guess in 2e6 finds one.
	maxGuesses, maxGuessesInAll = 20, 1000
	// maxAddresses bounds what is remembered.
	maxAddresses = 10_000
)

// bounds count attempts by address and in all.
type bounds struct {
	begun, guesses counter

	mu    sync.Mutex
	polls map[ID]time.Time // when a client has asked last
}

func newBounds() *bounds {
	return &bounds{
		begun: counter{one: maxBegun, all: maxBegunInAll}, guesses: counter{one: maxGuesses, all: maxGuessesInAll},
		polls: map[ID]time.Time{},
	}
}

// counter counts in windows.
type counter struct {
	one, all int // the first of an address is possible beyond all

	mu    sync.Mutex // guards the following
	since time.Time
	total int
	by    map[netip.Prefix]int
}

// full reports whether an address has used up its attempts.
func (c *counter) full(a netip.Addr, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(now)
	return !c.left(network(a))
}

// count counts an attempt. It reports whether that was possible.
func (c *counter) count(a netip.Addr, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begin(now)
	of := network(a)
	if !c.left(of) {
		return false
	}
	c.total++
	c.by[of]++
	return true
}

// left reports whether a network has attempts left. The caller holds mu.
func (c *counter) left(of netip.Prefix) bool {
	made, known := c.by[of]
	if !known {
		return len(c.by) < maxAddresses
	}
	return made < c.one && c.total < c.all
}

func (c *counter) begin(now time.Time) {
	if c.by == nil || now.Sub(c.since) >= boundsWindow {
		c.since, c.total, c.by = now, 0, map[netip.Prefix]int{}
	}
}

// network is what somebody may have to themselves: an IPv4 address, or an IPv6 /48 (RFC 6177).
func network(a netip.Addr) netip.Prefix {
	a = a.Unmap()
	bits := a.BitLen()
	if a.Is6() {
		bits = 48
	}
	p, _ := a.WithZone("").Prefix(bits) // of an address that is not valid: one for all of them
	return p
}

// early reports whether a client asks for a code before it may, and notes when it has asked.
func (b *bounds) early(id ID, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, asked := b.polls[id]
	if len(b.polls) >= 2*(maxBegunInAll+maxAddresses) {
		for other, at := range b.polls {
			if now.Sub(at) > codeLife {
				delete(b.polls, other)
			}
		}
	}
	b.polls[id] = now
	return asked && now.Sub(last) < interval-pollLeeway
}

// pollLeeway is by how much a client may be early: networks are not even.
const pollLeeway = time.Second

// forget forgets a code that is used.
func (b *bounds) forget(id ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.polls, id)
}

// turns lets one at a time work on a record.
type turns struct {
	mu   sync.Mutex
	busy map[ID]*turn
}

type turn struct {
	taken    chan struct{} // full while somebody has it
	waiting  int
	failures int
	failed   error // the last
}

// take waits for its turn, at most as long as the context says. The result ends it, with how it
// went: those who wait take over that something cannot be asked, instead of waiting for it too, one
// after another. The error is that, or wraps ErrAway.
func (t *turns) take(ctx context.Context, id ID) (end func(error), err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy == nil {
		t.busy = map[ID]*turn{}
	}
	mine := t.busy[id]
	if mine == nil {
		mine = &turn{taken: make(chan struct{}, 1)}
		t.busy[id] = mine
	}
	mine.waiting++
	before := mine.failures
	t.mu.Unlock()
	select {
	case mine.taken <- struct{}{}:
	case <-ctx.Done():
		err = fmt.Errorf("%w: others wait for it too: %w", ErrAway, ctx.Err())
	}
	t.mu.Lock()
	switch {
	case err != nil:
		t.leave(id, mine)
		return nil, err
	case mine.failures != before:
		<-mine.taken
		t.leave(id, mine)
		return nil, mine.failed
	}
	return func(err error) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if errors.Is(err, ErrUnavailable) {
			mine.failures, mine.failed = mine.failures+1, err
		}
		<-mine.taken
		t.leave(id, mine)
	}, nil
}

// leave forgets a turn for which nobody waits; mu is held.
func (t *turns) leave(id ID, mine *turn) {
	if mine.waiting--; mine.waiting == 0 {
		delete(t.busy, id)
	}
}
