package visitors

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
	waiting [Admitted]list.List // of *Visit, the oldest in front
	held    int                 // whose refusal is delayed
}

// weight is how full a network is of those that can give way.
func (p *pending) weight() int {
	return personWeight*p.waiting[Program].Len() + p.waiting[Person].Len()
}

// oldest is who gives way first, nil where nobody can.
func (p *pending) oldest() *Visit {
	for i := range p.waiting {
		if e := p.waiting[i].Front(); e != nil {
			return e.Value.(*Visit)
		}
	}
	return nil
}

// Visit is one half-open connection.
type Visit struct {
	// Crowded is set where a limit is reached and every connection within it has shown a good token: this one has to
	// be refused.
	Crowded bool

	book    *Book
	network netip.Addr
	giveWay func()
	number  uint64

	// Guarded by the book's mu.
	of     *pending
	stage  Stage
	place  *list.Element // in of.waiting, unless admitted
	held   bool
	left   bool
	pushed bool // it had to give way
}

// Enter counts a connection from addr as half open until Leave. Where a limit is reached another one gives way, of
// the same network if it is that network's limit, else of the fullest: the one that has waited longest for a program,
// then the one that has waited longest for a person. Its giveWay is called, and its visit has ended.
func (b *Book) Enter(addr netip.Addr, l Limits, giveWay func()) *Visit {
	v, out := b.enter(network(addr), Limits{cmp.Or(max(l.Pending, 0), DefaultPending), cmp.Or(max(l.PendingPerNetwork, 0), DefaultPendingPerNetwork)}, giveWay)
	if out != nil {
		out.giveWay()
	}
	return v
}

func (b *Book) enter(n netip.Addr, l Limits, giveWay func()) (entered, out *Visit) {
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
		out.pushed = true
		out.leave()
	}
	b.networks[n] = of // it may have been its last
	b.entered++
	v := &Visit{Crowded: crowded || crowdedHere, book: b, network: n, giveWay: giveWay, number: b.entered, of: of}
	v.place = of.waiting[Program].PushBack(v)
	of.open++
	b.all.open++
	return v, out
}

// oldest is who gives way first in all; mu is held.
func (b *Book) oldest() (first *Visit) {
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

// Wait says what the connection waits for from now on. It returns false for one that had to give way. An admitted
// connection stays so.
func (v *Visit) Wait(s Stage) bool {
	v.book.mu.Lock()
	defer v.book.mu.Unlock()
	if v.left || v.stage == s || v.stage == Admitted {
		return !v.pushed
	}
	v.of.waiting[v.stage].Remove(v.place)
	v.stage = s
	if s == Admitted {
		v.of.admitted++
		v.book.all.admitted++
		return true
	}
	v.place = v.of.waiting[s].PushBack(v)
	return true
}

// GaveWay reports whether the connection had to give way to another.
func (v *Visit) GaveWay() bool {
	v.book.mu.Lock()
	defer v.book.mu.Unlock()
	return v.pushed
}

// Leave ends the visit: the handshake is over, well or badly. Only the first call counts.
func (v *Visit) Leave() {
	v.book.mu.Lock()
	defer v.book.mu.Unlock()
	v.leave()
}

func (v *Visit) leave() {
	if v.left {
		return
	}
	v.left = true
	b, of := v.book, v.of
	if v.stage == Admitted {
		of.admitted--
		b.all.admitted--
	} else {
		of.waiting[v.stage].Remove(v.place)
	}
	if v.held {
		of.held--
	}
	b.all.open--
	if of.open--; of.open == 0 {
		delete(b.networks, v.network)
	}
}
