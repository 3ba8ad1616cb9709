package limits

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// BusyRetry is what a refusal of a Gate says about when to come back: nobody knows when a call ends.
const BusyRetry = time.Second

// Gate counts the calls under way of each subject. It is safe for concurrent use. What it remembers is bounded by the
// number of calls under way and waiting.
//
// A call takes all its places at once. While it waits it holds none, so that nobody is kept out by one who only waits:
// it stands in the queue of a subject that is full, and when there is a place takes all that it needs, or goes on to
// stand at another that is full by then, before those who came to wait after it.
type Gate struct {
	mu    sync.Mutex // guards the following, with all rooms and permits
	rooms map[string]*room
	came  uint64 // calls that had to wait, ever
}

// room is one subject that has calls under way or waiting.
type room struct {
	name   string
	limit  int // as the newest call was given it: what a reload says holds for those who wait, too
	known  int // calls inside, and calls waiting here or elsewhere, that need a place
	inside int
	queue  []*Permit // in the order in which they came; empty unless the room is full
}

// Permit is a call's place in each of its subjects, or its place in a queue for them.
type Permit struct {
	gate   *Gate
	places []place
	inside bool
	at     *room // where it waits; nil if it does not

	// Of a permit that had to wait:
	came    uint64
	until   time.Time     // when its patience ends
	decided chan struct{} // closed when it waits no more
	refusal *Busy         // why it was turned away
}

type place struct {
	room *room
	of   Concurrency
}

// Busy says which subject has no place free.
type Busy struct {
	Subject    string
	Limit      Concurrency
	Inside     int // calls under way
	Waiting    int // calls in the queue
	RetryAfter time.Duration
}

// NewGate returns a gate with nobody inside.
func NewGate() *Gate { return &Gate{rooms: make(map[string]*room)} }

// Enter takes a place in each subject that has a Concurrency, and waits where there is none. It returns Busy where a
// queue is full or the wait too long, and ctx's error where that ends first; nothing is then held.
func (g *Gate) Enter(ctx context.Context, subjects []Subject) (*Permit, *Busy, error) {
	p, busy := g.Ask(subjects, nil)
	if busy != nil {
		return nil, busy, nil
	}
	if busy, err := p.Wait(ctx); busy != nil || err != nil {
		return nil, busy, err
	}
	return p, nil, nil
}

// Ask is Enter without the waiting: the permit may have to Wait, and needs a Leave in any case. It returns Busy where a
// subject is full and so is its queue.
//
// What the call has already by another permit, for other subjects, it keeps, unless it has to wait: then held is given
// back, and the new permit is for the places of both.
func (g *Gate) Ask(subjects []Subject, held *Permit) (*Permit, *Busy) {
	p := &Permit{gate: g, places: make([]place, 0, len(subjects))}
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range subjects {
		if c := subjects[i].Concurrency; c.Limit > 0 {
			p.places = append(p.places, place{g.know(subjects[i].Name), c})
			p.places[len(p.places)-1].room.setLimit(c.Limit)
		}
	}
	full := p.full()
	if full == nil {
		p.enter()
		return p, nil
	}
	patience := full.of.Wait
	for i := range p.places {
		at := &p.places[i]
		if !at.room.full() {
			continue
		}
		if len(at.room.queue) >= at.of.Queue {
			defer g.forget(p)
			return nil, at.busy()
		}
		patience = min(patience, at.of.Wait)
	}
	if held != nil {
		for _, has := range held.places {
			p.places = append(p.places, place{g.know(has.room.name), has.of})
		}
		held.leave()
	}
	g.came++
	p.came, p.until, p.decided = g.came, time.Now().Add(patience), make(chan struct{})
	full.room.join(p)
	return p, nil
}

// Waits tells whether Wait may take a while.
func (p *Permit) Waits() bool { return p.decided != nil }

// Patience is how long a permit that waits still may: the least that a subject which was full allows.
func (p *Permit) Patience() time.Duration { return time.Until(p.until) }

// Wait returns when the call has its places, as Enter does otherwise.
func (p *Permit) Wait(ctx context.Context) (*Busy, error) {
	if !p.Waits() {
		return nil, nil
	}
	patience := time.NewTimer(p.Patience())
	defer patience.Stop()
	select {
	case <-p.decided:
	case <-patience.C:
		p.GiveUp()
	case <-ctx.Done():
		p.Leave()
		if p.refusal == nil {
			return nil, ctx.Err()
		}
	}
	return p.refusal, nil
}

// GiveUp turns a permit away that still waits, and tells whether it did.
func (p *Permit) GiveUp() bool {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if p.at == nil {
		return false
	}
	for i := range p.places {
		if p.places[i].room == p.at {
			p.refusal = p.places[i].busy()
		}
	}
	p.leave()
	close(p.decided)
	return true
}

// Refused is why a permit that waited was turned away, nil if it was not.
func (p *Permit) Refused() *Busy {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.refusal
}

// Leave gives the places back, or the one in the queue. Only the first call counts; a nil permit has none.
func (p *Permit) Leave() {
	if p == nil {
		return
	}
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.leave()
}

// Inside is how many calls of the subject are under way and how many stand in its queue.
func (g *Gate) Inside(subject string) (inside, waiting int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if r := g.rooms[subject]; r != nil {
		return r.inside, len(r.queue)
	}
	return 0, 0
}

// All that follows is called with mu held.

// know finds or makes the room for a call that needs it; forget is the reverse for all rooms of a call.
func (g *Gate) know(name string) *room {
	r := g.rooms[name]
	if r == nil {
		r = &room{name: name}
		g.rooms[name] = r
	}
	r.known++
	return r
}

func (g *Gate) forget(p *Permit) {
	for _, at := range p.places {
		if at.room.known--; at.room.known == 0 {
			delete(g.rooms, at.room.name)
		}
	}
	p.places = nil
}

func (p *Permit) leave() {
	switch {
	case p.at != nil:
		p.at.queue = slices.DeleteFunc(p.at.queue, func(other *Permit) bool { return other == p })
		p.at = nil
	case p.inside:
		p.inside = false
		for _, at := range p.places {
			at.room.inside--
		}
		for _, at := range p.places {
			at.room.serve()
		}
	}
	p.gate.forget(p)
}

// full is the first place that is not free.
func (p *Permit) full() *place {
	for i := range p.places {
		if p.places[i].room.full() {
			return &p.places[i]
		}
	}
	return nil
}

func (p *Permit) enter() {
	p.inside = true
	for _, at := range p.places {
		at.room.inside++
	}
}

func (at *place) busy() *Busy {
	r := at.room
	return &Busy{Subject: r.name, Limit: at.of, Inside: r.inside, Waiting: len(r.queue), RetryAfter: BusyRetry}
}

func (r *room) full() bool { return r.inside >= r.limit }

func (r *room) setLimit(n int) {
	r.limit = n
	r.serve()
}

// join puts a permit into the queue.
func (r *room) join(p *Permit) {
	i, _ := slices.BinarySearchFunc(r.queue, p.came, func(other *Permit, came uint64) int { return cmp.Compare(other.came, came) })
	r.queue = slices.Insert(r.queue, i, p)
	p.at = r
}

// serve offers what is free to those in the queue. Each takes all its places, or goes on to another queue.
func (r *room) serve() {
	for len(r.queue) > 0 && !r.full() {
		p := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		if other := p.full(); other != nil {
			other.room.join(p)
			continue
		}
		p.at = nil
		p.enter()
		close(p.decided)
	}
}
