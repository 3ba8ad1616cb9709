package visitors

import (
	"net/netip"
	"time"
)

const (
	// freeFailures a failureWindow cost nothing: a viewer that retries by itself makes about 30 a minute.
	freeFailures  = 30
	failureWindow = time.Minute
	// greetingEvery is the pace of a network beyond that.
	greetingEvery = 2 * time.Second
	// MaxDelay is the longest wait that Delay asks for.
	MaxDelay = 10 * time.Second
	// maxFailing bounds the networks whose failures are counted, to about 3 MiB.
	maxFailing = 8192
)

// failures of one network: a ring of the latest, and the next greeting that the pace allows. Times are since the
// book's start.
type failures struct {
	at    [freeFailures]time.Duration
	count int // at[count%freeFailures] is the oldest once the ring is full
	next  time.Duration
}

func (f *failures) add(now time.Duration) {
	f.at[f.count%freeFailures] = now
	if f.count++; f.count == 2*freeFailures {
		f.count = freeFailures // the same place in the ring, and no overflow
	}
}

// tooMany tells whether a whole ring of failures lies within the window.
func (f *failures) tooMany(now time.Duration) bool {
	return f.count >= freeFailures && now-f.at[f.count%freeFailures] < failureWindow
}

// Fail counts a failed handshake or a bad token of addr's network, honest or not. Of more than 8,192 networks that
// fail within a minute the one whose last failure is oldest is forgotten.
func (b *Book) Fail(addr netip.Addr) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.elapsed()
	b.failing.touch(network(addr), now).add(now)
}

// Delay says how long a new connection from addr must wait for its greeting, and takes that turn: it is called once a
// connection. A network with fewer than 30 failures in the last minute waits for nothing; another gets one greeting
// every 2 s. It returns false, and takes no turn, where the wait would be longer than MaxDelay.
func (b *Book) Delay(addr netip.Addr) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.elapsed()
	f := b.failing.get(network(addr), now)
	if f == nil || !f.tooMany(now) {
		return 0, true
	}
	turn := max(now, f.next)
	if turn-now > MaxDelay {
		return 0, false
	}
	f.next = turn + greetingEvery
	return turn - now, true
}
