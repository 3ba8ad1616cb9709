package connlimit

import (
	"net/netip"
	"time"
)

const (
	// freeFailures a failureWindow cost nothing: a viewer that retries by itself makes about 30 a
	// minute.
	freeFailures = 30
	// freeSignIns is the same for sign-ins to the console, which a person types.
	freeSignIns   = 10
	failureWindow = time.Minute
	// delayStep is the pace of a network beyond that.
	delayStep = 2 * time.Second
	// MaxDelay is the longest wait that FailedToken and PasswordDelay ask for.
	MaxDelay = 10 * time.Second
	// maxHeld is how many refusals of one network are delayed at a time. Further ones are sent at
	// once: a delayed one holds a half-open connection, which the network's other viewers need too.
	maxHeld = 16
	// maxFailing bounds the networks whose failures are counted, to about 3 MiB.
	maxFailing = 8192
)

// failureKey names failures that are counted together.
type failureKey struct {
	network netip.Addr
	of      failureKind
}

// failureKind is what was wrong.
type failureKind uint8

const (
	ofToken failureKind = iota
	ofPassword
	ofSignIn
)

// failures of one network: a ring of the latest, and when the pace allows the next. Times are since
// the limiter's start.
type failures struct {
	at    [freeFailures]time.Duration
	count int // at[count%freeFailures] is the oldest once the ring is full
	next  time.Duration
}

func (f *failures) add(now time.Duration) {
	f.at[f.count%freeFailures] = now
	if f.count++; f.count == 2*freeFailures {
		f.count = freeFailures // the same index in the ring, and no overflow
	}
}

// tooMany reports whether the latest failures, free of them, lie within the window.
func (f *failures) tooMany(now time.Duration, free int) bool {
	return f.count >= free && now-f.at[(f.count-free)%freeFailures] < failureWindow
}

// nextDelay reserves the next time that the pace allows and returns how long it is until then.
// Beyond MaxDelay it returns false and reserves nothing.
func (f *failures) nextDelay(now time.Duration) (time.Duration, bool) {
	at := max(now, f.next)
	if at-now > MaxDelay {
		return 0, false
	}
	f.next = at + delayStep
	return at - now, true
}

// FailedToken counts a token that never existed, and returns how long to delay its refusal. The
// delay is 0 for a network with fewer than 30 of them in the last minute, and where 16 refusals of
// the network are delayed already. Otherwise the network's refusals are 2 s apart, and none waits
// longer than MaxDelay. Of more than 8,192 networks that fail within a minute the one whose last
// failure is oldest is forgotten.
func (s *Slot) FailedToken() time.Duration {
	l := s.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.elapsed()
	f := l.failing.touch(failureKey{s.network, ofToken}, now)
	slow := f.tooMany(now, freeFailures)
	f.add(now)
	if !slow || s.released || s.held || s.of.delayed >= maxHeld {
		return 0
	}
	s.held = true
	s.of.delayed++
	wait, ok := f.nextDelay(now)
	if !ok {
		wait = MaxDelay
	}
	return wait
}

// FailedPassword counts a wrong short password: the first 8 characters of a token.
func (s *Slot) FailedPassword() {
	l := s.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.elapsed()
	l.failing.touch(failureKey{s.network, ofPassword}, now).add(now)
}

// PasswordDelay returns how long a short password must wait until it is checked, and reserves that
// time: 40 bits can be guessed if guesses are free. A network with fewer than 30 wrong ones in the
// last minute does not wait; another has one checked every 2 s. It returns false, and reserves
// nothing, where the wait would be longer than MaxDelay.
func (s *Slot) PasswordDelay() (time.Duration, bool) {
	l := s.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.elapsed()
	f := l.failing.get(failureKey{s.network, ofPassword}, now)
	if f == nil || !f.tooMany(now, freeFailures) {
		return 0, true
	}
	return f.nextDelay(now)
}

// FailedSignIn counts a sign-in to the console with a bad key, and returns how long to delay its answer.
// A network with fewer than 10 of them in the last minute does not wait; the answers to another are 2 s
// apart. It returns false, and reserves no time, where the wait would be longer than MaxDelay.
func (l *Limiter) FailedSignIn(addr netip.Addr) (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.elapsed()
	f := l.failing.touch(failureKey{network(addr), ofSignIn}, now)
	slow := f.tooMany(now, freeSignIns)
	f.add(now)
	if !slow {
		return 0, true
	}
	return f.nextDelay(now)
}
