package connlimit

import (
	"cmp"
	"container/list"
	"net/netip"
	"time"
)

// Stage is what a half-open connection waits for. It decides who gives way where there are too many.
type Stage uint8

// The stages.
const (
	Program Stage = iota // a step that a program takes at once
	Person               // a step in which a person may be asked, for a certificate or a password
	stages
)

// personWeight is how many connections in which a person may be typing count as much as one that waits for a
// program, when the fullest network is looked for. Without it a few bytes more would save a flood from giving way.
const personWeight = 8

const (
	// programTime is what a viewer's program needs for its steps on a slow line, a delayed refusal aside.
	programTime = 2 * time.Second
	// personTime is what somebody needs who pastes a password.
	personTime = 30 * time.Second
)

// turns is the order in which connections give way: those first that are older in their stage than they need be, or
// a few that wait for a person would have all newcomers give way to each other.
var turns = [...]struct {
	stage Stage
	age   time.Duration
}{{Program, programTime}, {Person, personTime}, {Program, 0}, {Person, 0}}

// young is the first of the turns of those that are not too old. Among networks the fullest decides, not the turn.
const young = 2

// pending are the half-open connections of one network.
type pending struct {
	open    int
	waiting [stages]list.List // of *Slot, the oldest in front
	held    int               // whose refusal is delayed
}

// weight is how full a network is of those that can give way.
func (p *pending) weight() int {
	return personWeight*p.waiting[Program].Len() + p.waiting[Person].Len()
}

// oldest is who gives way first, and its turn.
func (p *pending) oldest(now time.Duration) (v *Slot, turn int) {
	for turn, t := range turns {
		if e := p.waiting[t.stage].Front(); e != nil && now-e.Value.(*Slot).since >= t.age {
			return e.Value.(*Slot), min(turn, young)
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
	evicted  bool // it had to give way
}

// Acquire counts a connection from addr as half open until Release. Where a limit is reached another one gives way, of
// the same network if it is that network's limit, else of the fullest: the one that has waited longest for a program,
// then the one that has waited longest for a person. Its evict is called, and its slot is released.
func (b *Limiter) Acquire(addr netip.Addr, l Limits, giveWay func()) *Slot {
	v, out := b.acquire(network(addr), Limits{cmp.Or(max(l.Pending, 0), DefaultPending), cmp.Or(max(l.PendingPerNetwork, 0), DefaultPendingPerNetwork)}, giveWay)
	if out != nil {
		out.evict()
	}
	return v
}

func (b *Limiter) acquire(n netip.Addr, l Limits, giveWay func()) (entered, out *Slot) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of := b.networks[n]
	if of == nil {
		of = new(pending)
	}
	now := b.elapsed()
	switch {
	case of.open >= l.PendingPerNetwork:
		out, _ = of.oldest(now)
	case b.open >= l.Pending:
		out = b.oldest(now)
	}
	if out != nil {
		out.evicted = true
		out.release()
	}
	b.networks[n] = of // it may have been its last
	b.entered++
	v := &Slot{limiter: b, network: n, evict: giveWay, number: b.entered, of: of, since: now}
	v.element = of.waiting[Program].PushBack(v)
	of.open++
	b.open++
	return v, out
}

// oldest is who gives way first in all; mu is held.
func (b *Limiter) oldest(now time.Duration) (first *Slot) {
	var soonest, most int
	for _, p := range b.networks {
		v, turn := p.oldest(now)
		w := p.weight()
		if first == nil || cmp.Or(turn-soonest, most-w, cmp.Compare(v.number, first.number)) < 0 {
			first, soonest, most = v, turn, w
		}
	}
	return first
}

// SetStage says what the connection waits for from now on.
func (v *Slot) SetStage(s Stage) {
	v.limiter.mu.Lock()
	defer v.limiter.mu.Unlock()
	if v.released || v.stage == s {
		return
	}
	v.of.waiting[v.stage].Remove(v.element)
	v.stage, v.since = s, v.limiter.elapsed()
	v.element = v.of.waiting[s].PushBack(v)
}

// Evicted reports whether the connection had to give way to another.
func (v *Slot) Evicted() bool {
	v.limiter.mu.Lock()
	defer v.limiter.mu.Unlock()
	return v.evicted
}

// Release ends the slot: the token is good, or the handshake is over. Only the first call counts; after it the
// connection gives way to nobody.
func (v *Slot) Release() {
	v.limiter.mu.Lock()
	defer v.limiter.mu.Unlock()
	v.release()
}

func (v *Slot) release() {
	if v.released {
		return
	}
	v.released = true
	b, of := v.limiter, v.of
	of.waiting[v.stage].Remove(v.element)
	if v.held {
		of.held--
	}
	b.open--
	if of.open--; of.open == 0 {
		delete(b.networks, v.network)
	}
}
