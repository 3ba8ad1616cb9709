package limits

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// BusyRetry is what a refusal of a Gate says about when to come back: nobody knows when a call ends.
const BusyRetry = time.Second

// Gate counts the calls under way of each subject. It is safe for concurrent use. What it remembers is bounded by the
// number of calls under way and waiting.
type Gate struct {
	seed   maphash.Seed
	shards [shardCount]gateShard
}

type gateShard struct {
	mu    sync.Mutex // guards rooms
	rooms map[string]*room
}

// room is one subject that has calls under way or waiting; guarded by its shard's mu.
type room struct {
	inside int
	queue  []*caller // first come, first served
}

type caller struct {
	limit int
	in    chan struct{} // closed when it has a place
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
func NewGate() *Gate {
	g := &Gate{seed: maphash.MakeSeed()}
	for i := range g.shards {
		g.shards[i].rooms = make(map[string]*room)
	}
	return g
}

// Permit is a place in each of the subjects of a call.
type Permit struct {
	gate  *Gate
	names []string
	once  sync.Once
}

// Enter takes a place in each subject that has a Concurrency, in the order given, and where there is none waits in its
// queue. Order them alike in all calls, and the most specific first: what a call holds while it waits others lack. It
// returns Busy where a queue is full or the wait too long, and ctx's error where that ends first; nothing is then held.
func (g *Gate) Enter(ctx context.Context, subjects []Subject) (*Permit, *Busy, error) {
	p := &Permit{gate: g}
	for i := range subjects {
		s := &subjects[i]
		if s.Concurrency.Limit <= 0 {
			continue
		}
		busy, err := g.enter(ctx, s.Name, s.Concurrency)
		if busy != nil || err != nil {
			p.Leave()
			return nil, busy, err
		}
		p.names = append(p.names, s.Name)
	}
	return p, nil, nil
}

// Leave gives the places back. Only the first call counts; a nil permit has none.
func (p *Permit) Leave() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		for _, name := range p.names {
			p.gate.leave(name)
		}
	})
}

// Inside is how many calls of the subject are under way and how many wait.
func (g *Gate) Inside(subject string) (inside, waiting int) {
	s := g.shard(subject)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.rooms[subject]; r != nil {
		return r.inside, len(r.queue)
	}
	return 0, 0
}

func (g *Gate) shard(name string) *gateShard {
	return &g.shards[maphash.String(g.seed, name)%shardCount]
}

func (g *Gate) enter(ctx context.Context, name string, c Concurrency) (*Busy, error) {
	s := g.shard(name)
	s.mu.Lock()
	r := s.rooms[name]
	if r == nil {
		r = &room{}
		s.rooms[name] = r
	}
	if r.inside < c.Limit && len(r.queue) == 0 {
		r.inside++
		s.mu.Unlock()
		return nil, nil
	}
	if len(r.queue) >= c.Queue {
		defer s.mu.Unlock()
		return r.busy(name, c), nil
	}
	me := &caller{limit: c.Limit, in: make(chan struct{})}
	r.queue = append(r.queue, me)
	s.mu.Unlock()

	patience := time.NewTimer(c.Wait)
	defer patience.Stop()
	select {
	case <-me.in:
		return nil, nil
	case <-patience.C:
		return s.abandon(name, c, me), nil
	case <-ctx.Done():
		if s.abandon(name, c, me) == nil {
			g.leave(name)
		}
		return nil, ctx.Err()
	}
}

// abandon takes the caller out of the queue; nil if it was let in before that.
func (s *gateShard) abandon(name string, c Concurrency, me *caller) *Busy {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[name]
	select {
	case <-me.in:
		return nil
	default:
	}
	busy := r.busy(name, c)
	for i, other := range r.queue {
		if other == me {
			r.queue = append(r.queue[:i], r.queue[i+1:]...)
			break
		}
	}
	s.admit(name, r) // who stood behind a lower limit may fit
	return busy
}

func (r *room) busy(name string, c Concurrency) *Busy {
	return &Busy{Subject: name, Limit: c, Inside: r.inside, Waiting: len(r.queue), RetryAfter: BusyRetry}
}

func (g *Gate) leave(name string) {
	s := g.shard(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.rooms[name]
	r.inside--
	s.admit(name, r)
}

// admit lets in those in front of the queue that fit, and forgets a room that nobody needs. It is called with mu held.
func (s *gateShard) admit(name string, r *room) {
	for len(r.queue) > 0 && r.inside < r.queue[0].limit {
		r.inside++
		close(r.queue[0].in)
		r.queue[0] = nil
		r.queue = r.queue[1:]
	}
	if r.inside == 0 && len(r.queue) == 0 {
		delete(s.rooms, name)
	}
}
