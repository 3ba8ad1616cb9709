package connlimit

import (
	"net/netip"
	"time"
)

const (
	// freeFailures a failureWindow cost nothing: a viewer that retries by itself makes about 30 a minute.
	freeFailures  = 30
	failureWindow = time.Minute
	// delayStep is the pace of a network beyond that.
	delayStep = 2 * time.Second
	// MaxDelay is the longest wait that FailedToken and PasswordDelay ask for.
	MaxDelay = 10 * time.Second
	// maxHeld is how many refusals of one network are delayed at a time. More are told at once: delayed ones hold
	// half-open connections, which the network's other viewers need too.
	maxHeld = 16
	// maxFailing bounds the networks whose failures are counted, to about 3 MiB.
	maxFailing = 8192
)

// failureKey is what is counted together.
type failureKey struct {
	network  netip.Addr
	password bool // of the short passwords, not of tokens
}

// failures of one network: a ring of the latest, and when the pace allows the next. Times are since the limiter's
// start.
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

// tooMany reports whether a whole ring of failures lies within the window.
func (f *failures) tooMany(now time.Duration) bool {
	return f.count >= freeFailures && now-f.at[f.count%freeFailures] < failureWindow
}

// nextDelay takes the next turn and returns how long it is until then; false, and no turn taken, beyond MaxDelay.
func (f *failures) nextDelay(now time.Duration) (time.Duration, bool) {
	turn := max(now, f.next)
	if turn-now > MaxDelay {
		return 0, false
	}
	f.next = turn + delayStep
	return turn - now, true
}

// FailedToken counts a token that never existed, and returns how long its refusal should be held back: nothing for a
// network with at most 30 of them in the last minute, and for the seventeenth refusal of a network that is held back
// at the same time; else until the network's next turn, every 2 s, and at most MaxDelay. Of more than 8,192 networks
// that fail within a minute the one whose last failure is oldest is forgotten.
func (v *Slot) FailedToken() time.Duration {
	b := v.limiter
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.elapsed()
	f := b.failing.touch(failureKey{v.network, false}, now)
	slow := f.tooMany(now)
	f.add(now)
	if !slow || v.released || v.held || v.of.held >= maxHeld {
		return 0
	}
	v.held = true
	v.of.held++
	wait, ok := f.nextDelay(now)
	if !ok {
		wait = MaxDelay
	}
	return wait
}

// FailedPassword counts a wrong short password: the first 8 characters of a token.
func (v *Slot) FailedPassword() {
	b := v.limiter
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.elapsed()
	b.failing.touch(failureKey{v.network, true}, now).add(now)
}

// PasswordDelay says how long a short password must wait until it is judged, and takes that turn: 40 bits can be guessed where
// guesses are free. A network with fewer than 30 wrong ones in the last minute waits for nothing; another has one turn
// every 2 s. It returns false, and takes no turn, where the wait would be longer than MaxDelay.
func (v *Slot) PasswordDelay() (time.Duration, bool) {
	b := v.limiter
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.elapsed()
	f := b.failing.get(failureKey{v.network, true}, now)
	if f == nil || !f.tooMany(now) {
		return 0, true
	}
	return f.nextDelay(now)
}
