package connlimit

import (
	"cmp"
	"container/list"
	"net/netip"
)

// Stage is what a half-open connection waits for. It decides who gives way where there are too many.
type Stage uint8

// The stages.
const (
	Program  Stage = iota // a step that a program takes at once
	Person                // a step in which a person may be asked, for a certificate or a password
	Admitted              // its token is good; it gives way to nobody
)

const (
	// personWeight is how many connections in which a person may be typing count as much as one that waits for a
	// program, when the fullest network is looked for. Without it a few bytes more would save a flood from giving way.
	personWeight = 8
	// reserve is how many connections beyond a limit may be refused in words at a time, where all within it are
	// admitted.
	reserve = 16
)

// counts are half-open connections, in all or of one network.
type counts struct{ open, admitted int }

// over reports whether one more is too many, and where nobody within the limit can give way, whether it has to be
// refused itself.
func (c counts) over(limit int) (full, crowded bool) {
	if c.admitted >= limit {
		return c.open >= limit+reserve, true
	}
	return c.open >= limit, false
}

// pending are the half-open connections of one network.
type pending struct {
	counts
	waiting [Admitted]list.List // of *Slot, the oldest in front
	held    int                 // whose refusal is delayed
}

// weight is how full a network is of those that can give way.
func (p *pending) weight() int {
	return personWeight*p.waiting[Program].Len() + p.waiting[Person].Len()
}

// oldest is who gives way first, nil where nobody can.
func (p *pending) oldest() *Slot {
	for i := range p.waiting {
		if e := p.waiting[i].Front(); e != nil {
			return e.Value.(*Slot)
		}
	}
	return nil
}

// Slot is one half-open connection.
type Slot struct {
	// Crowded is set where a limit is reached and every connection within it has shown a good token: this one has to
	// be refused.
	Crowded bool

	limiter *Limiter
	network netip.Addr
	evict   func()
	number  uint64

	// Guarded by the limiter's mu.
	of       *pending
	stage    Stage
	element  *list.Element // in of.waiting, unless admitted
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
	fullHere, crowdedHere := of.over(l.PendingPerNetwork)
	full, crowded := b.all.over(l.Pending)
	switch {
	case fullHere:
		out = of.oldest()
	case full:
		out = b.oldest()
	}
	if out != nil {
		out.evicted = true
		out.release()
	}
	b.networks[n] = of // it may have been its last
	b.entered++
	v := &Slot{Crowded: crowded || crowdedHere, limiter: b, network: n, evict: giveWay, number: b.entered, of: of}
	v.element = of.waiting[Program].PushBack(v)
	of.open++
	b.all.open++
	return v, out
}

// oldest is who gives way first in all; mu is held.
func (b *Limiter) oldest() (first *Slot) {
	most := 0
	for _, p := range b.networks {
		v := p.oldest()
		if v == nil {
			continue
		}
		if w := p.weight(); w > most || w == most && v.number < first.number {
			first, most = v, w
		}
	}
	return first
}

// SetStage says what the connection waits for from now on. It returns false for one that had to give way. An admitted
// connection stays so.
func (v *Slot) SetStage(s Stage) bool {
	v.limiter.mu.Lock()
	defer v.limiter.mu.Unlock()
	if v.released || v.stage == s || v.stage == Admitted {
		return !v.evicted
	}
	v.of.waiting[v.stage].Remove(v.element)
	v.stage = s
	if s == Admitted {
		v.of.admitted++
		v.limiter.all.admitted++
		return true
	}
	v.element = v.of.waiting[s].PushBack(v)
	return true
}

// Evicted reports whether the connection had to give way to another.
func (v *Slot) Evicted() bool {
	v.limiter.mu.Lock()
	defer v.limiter.mu.Unlock()
	return v.evicted
}

// Release ends the slot: the handshake is over, well or badly. Only the first call counts.
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
	if v.stage == Admitted {
		of.admitted--
		b.all.admitted--
	} else {
		of.waiting[v.stage].Remove(v.element)
	}
	if v.held {
		of.held--
	}
	b.all.open--
	if of.open--; of.open == 0 {
		delete(b.networks, v.network)
	}
}
