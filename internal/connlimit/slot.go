package connlimit

import (
	"cmp"
	"container/list"
	"net/netip"
	"time"
)

// Stage is what a half-open connection waits for. It decides which one is evicted where there are
// too many.
type Stage uint8

// The stages.
const (
	Program Stage = iota // a step that a program takes at once
	Person               // a step in which a person may be asked, for a certificate or a password
	stages
)

// personWeight is how many connections in which a person may be typing count as much as one that
// waits for a program, when the fullest network is looked for. Without it, a flood would escape
// eviction by sending a few bytes more.
const personWeight = 8

const (
	// programTime is the time that a viewer's program needs for its steps on a slow network,
	// without a delayed refusal.
	programTime = 2 * time.Second
	// personTime is the time that a person needs to paste a password.
	personTime = 30 * time.Second
)

// evictionOrder is the order in which connections are evicted. Those that are in their stage for
// longer than they need come first: otherwise new connections would only evict each other while
// those that wait for a person stay.
var evictionOrder = [...]struct {
	stage Stage
	age   time.Duration
}{{Program, programTime}, {Person, personTime}, {Program, 0}, {Person, 0}}

// young is the first index of those that are not too old. Among them the fullest network decides.
const young = 2

// pending are the half-open connections of one network.
type pending struct {
	open    int
	waiting [stages]list.List // of *Slot, the oldest in front
	delayed int               // connections whose refusal is being held back
}

// weight is how full a network is of connections that can be evicted.
func (p *pending) weight() int {
	return personWeight*p.waiting[Program].Len() + p.waiting[Person].Len()
}

// oldest is the connection that is evicted first, and its index in evictionOrder.
func (p *pending) oldest(now time.Duration) (s *Slot, index int) {
	for i, next := range evictionOrder {
		if e := p.waiting[next.stage].Front(); e != nil && now-e.Value.(*Slot).since >= next.age {
			return e.Value.(*Slot), min(i, young)
		}
	}
	return nil, young
}

// Slot is one half-open connection.
type Slot struct {
	limiter *Limiter
	network netip.Addr
	evict   func()
	number  uint64

	// Guarded by the limiter's mu.
	of       *pending
	stage    Stage
	since    time.Duration // when the stage began, since the limiter's start
	element  *list.Element // in of.waiting
	held     bool
	released bool
	evicted  bool // for another connection
}

// Acquire counts a connection from addr as half open until Release. Where a limit is reached, it
// evicts another one, of the same network if that network's limit is reached, otherwise of the
// fullest: first the one that has waited longest for a program, then the one that has waited
// longest for a person. The evicted one's evict is called, and its slot is released.
func (l *Limiter) Acquire(addr netip.Addr, limits Limits, evict func()) *Slot {
	s, out := l.acquire(network(addr), Limits{
		Pending:           cmp.Or(max(limits.Pending, 0), DefaultPending),
		PendingPerNetwork: cmp.Or(max(limits.PendingPerNetwork, 0), DefaultPendingPerNetwork),
	}, evict)
	if out != nil {
		out.evict()
	}
	return s
}

func (l *Limiter) acquire(n netip.Addr, limits Limits, evict func()) (acquired, out *Slot) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.networks[n]
	if of == nil {
		of = new(pending)
	}
	now := l.elapsed()
	switch {
	case of.open >= limits.PendingPerNetwork:
		out, _ = of.oldest(now)
	case l.open >= limits.Pending:
		out = l.oldest(now)
	}
	if out != nil {
		out.evicted = true
		out.release()
	}
	l.networks[n] = of // it may have been its last
	l.acquired++
	s := &Slot{limiter: l, network: n, evict: evict, number: l.acquired, of: of, since: now}
	s.element = of.waiting[Program].PushBack(s)
	of.open++
	l.open++
	return s, out
}

// oldest is the connection that is evicted first of all networks; mu is held.
func (l *Limiter) oldest(now time.Duration) (first *Slot) {
	var lowest, most int
	for _, p := range l.networks {
		s, index := p.oldest(now)
		weight := p.weight()
		if first == nil || cmp.Or(index-lowest, most-weight, cmp.Compare(s.number, first.number)) < 0 {
			first, lowest, most = s, index, weight
		}
	}
	return first
}

// SetStage sets what the connection waits for from now on.
func (s *Slot) SetStage(stage Stage) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	if s.released || s.stage == stage {
		return
	}
	s.of.waiting[s.stage].Remove(s.element)
	s.stage, s.since = stage, s.limiter.elapsed()
	s.element = s.of.waiting[stage].PushBack(s)
}

// Evicted reports whether the connection was evicted for another.
func (s *Slot) Evicted() bool {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	return s.evicted
}

// Release ends the slot: the token is good, or the handshake is over. Only the first call counts;
// after it the connection cannot be evicted.
func (s *Slot) Release() {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	s.release()
}

func (s *Slot) release() {
	if s.released {
		return
	}
	s.released = true
	l, of := s.limiter, s.of
	of.waiting[s.stage].Remove(s.element)
	if s.held {
		of.delayed--
	}
	l.open--
	if of.open--; of.open == 0 {
		delete(l.networks, s.network)
	}
}
