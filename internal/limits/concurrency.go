package limits

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// BusyRetry is the Retry-After of a refused call. Nobody knows when a call will end.
const BusyRetry = time.Second

// ConcurrencyLimiter counts the calls under way of each subject. It is safe for concurrent use. Its
// memory is bounded by the number of calls under way and waiting.
//
// A call acquires all its slots atomically. While queued it holds none, so it keeps no other call
// out. If another subject is full when it reaches the head of the queue, it moves to that subject's
// queue, in arrival order.
type ConcurrencyLimiter struct {
	mu       sync.Mutex // guards the following, and all pools and permits
	pools    map[string]*pool
	arrivals uint64 // how many calls have ever had to wait

	shared SharedSlots // nil: this gateway is the only one
}

// pool holds the slots of one subject that has calls under way or waiting.
type pool struct {
	name   string
	limit  Concurrency // of the newest call: after a reload the new limit holds for waiting calls too
	demand Demand
	refs   int       // calls that hold or need a slot, waiting here or in another queue
	queue  []*Permit // in arrival order; empty unless the pool is full
	share  Share
}

// Busy names the subject that has no free slot.
type Busy struct {
	Subject    string
	Limit      Concurrency
	InUse      int // calls under way
	Waiting    int // calls in the queue
	RetryAfter time.Duration
}

// NewConcurrencyLimiter returns an empty limiter.
func NewConcurrencyLimiter() *ConcurrencyLimiter {
	return &ConcurrencyLimiter{pools: make(map[string]*pool)}
}

// Acquire takes a slot of each subject that has a Concurrency, or queues for them. Wait returns
// when the permit has its slots; Release must be called in any case. Acquire returns Busy if a
// subject and its queue are full.
//
// held is what the call has already acquired for other subjects. It stays acquired unless the call
// has to wait: then held is released, and the new permit covers the slots of both.
//
// Without such a subject the permit is nil: it holds nothing and does not wait.
func (l *ConcurrencyLimiter) Acquire(subjects []Subject, held *Permit) (*Permit, *Busy) {
	p := l.permit(subjects)
	if p == nil {
		return nil, nil
	}
	defer l.mu.Unlock()
	return l.place(p, held)
}

// permit returns a permit that has no slots yet, and locks mu; nil if the call needs none.
func (l *ConcurrencyLimiter) permit(subjects []Subject) *Permit {
	needed := 0
	for i := range subjects {
		if subjects[i].Concurrency.Limit > 0 {
			needed++
		}
	}
	if needed == 0 {
		return nil
	}
	p := &Permit{limiter: l, pools: make([]*pool, 0, needed)}
	l.mu.Lock()
	for i := range subjects {
		if c := subjects[i].Concurrency; c.Limit > 0 {
			q := l.pool(subjects[i].Name)
			p.pools = append(p.pools, q)
			q.limit, q.demand.Limit = c, c.Limit
			q.serve()
		}
	}
	return p
}

// place takes the slots of a new permit, or queues for them. It must be called with mu held.
func (l *ConcurrencyLimiter) place(p *Permit, held *Permit) (*Permit, *Busy) {
	full := p.firstFull()
	if full == nil {
		p.take()
		return p, nil
	}
	timeout := full.limit.Wait
	for _, q := range p.pools {
		if !q.full() {
			continue
		}
		if len(q.queue) >= q.limit.Queue {
			defer l.unref(p)
			return nil, q.busy()
		}
		timeout = min(timeout, q.limit.Wait)
	}
	if held != nil {
		for _, q := range held.pools {
			p.pools = append(p.pools, l.pool(q.name))
		}
		held.release()
	}
	l.arrivals++
	p.arrival, p.queue, p.deadline, p.decided = l.arrivals, full.name, time.Now().Add(timeout), make(chan struct{})
	full.enqueue(p)
	return p, nil
}

// InUse returns how many calls of the subject are under way and how many wait in its queue.
func (l *ConcurrencyLimiter) InUse(subject string) (inUse, waiting int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.pools[subject]; p != nil {
		return p.demand.InUse, len(p.queue)
	}
	return 0, 0
}

// Everything below must be called with mu held.

// pool returns the pool of a subject for a call that needs it, and creates it if necessary. unref
// undoes it for all pools of a call.
func (l *ConcurrencyLimiter) pool(name string) *pool {
	q := l.pools[name]
	if q == nil {
		q = &pool{name: name}
		if q.share = (wholeLimit{&q.demand}); l.shared != nil {
			q.share = l.shared.Share(name, &q.demand)
		}
		l.pools[name] = q
	}
	q.refs++
	return q
}

func (l *ConcurrencyLimiter) unref(p *Permit) {
	for _, q := range p.pools {
		q.refs--
		q.changed()
		l.forget(q)
	}
	p.pools = nil
}

// forget removes a pool that no call needs.
func (l *ConcurrencyLimiter) forget(q *pool) {
	if q.refs == 0 && q.share.Forget() {
		delete(l.pools, q.name)
	}
}

func (p *Permit) release() {
	switch {
	case p.waitingAt != nil:
		p.waitingAt.queue = slices.DeleteFunc(p.waitingAt.queue, func(other *Permit) bool { return other == p })
		p.waitingAt = nil
	case p.held:
		p.held = false
		for _, q := range p.pools {
			q.demand.InUse--
			q.share.Freed()
		}
		for _, q := range p.pools {
			q.serve()
		}
	}
	p.limiter.unref(p)
}

// firstFull returns the first pool that has no free slot, nil if all have.
func (p *Permit) firstFull() *pool {
	for _, q := range p.pools {
		if q.full() {
			return q
		}
	}
	return nil
}

func (p *Permit) take() {
	p.held = true
	for _, q := range p.pools {
		q.demand.InUse++
	}
}

func (q *pool) busy() *Busy {
	inUse := max(q.demand.InUse, q.demand.Limit) // other gateways may have the rest
	return &Busy{Subject: q.name, Limit: q.limit, InUse: inUse, Waiting: len(q.queue), RetryAfter: BusyRetry}
}

func (q *pool) full() bool { return q.demand.InUse >= q.share.Room() }

// changed is called after each change of what its calls use and wait for.
func (q *pool) changed() {
	q.demand.Waiting = len(q.queue)
	q.share.Changed()
}

// enqueue adds a permit to the queue, in arrival order.
func (q *pool) enqueue(p *Permit) {
	i, _ := slices.BinarySearchFunc(q.queue, p.arrival, func(other *Permit, came uint64) int { return cmp.Compare(other.arrival, came) })
	q.queue = slices.Insert(q.queue, i, p)
	p.waitingAt = q
	q.changed()
}

// serve gives free slots to the queue. Each permit takes all its slots or moves to another queue.
func (q *pool) serve() {
	for len(q.queue) > 0 && !q.full() {
		p := q.queue[0]
		q.queue[0] = nil
		q.queue = q.queue[1:]
		if other := p.firstFull(); other != nil {
			other.enqueue(p)
			other.share.Keep(q.share)
			continue
		}
		p.waitingAt = nil
		p.take()
		close(p.decided)
	}
	q.changed()
}
