package limits

// stepsFrom is the limit from which a gateway asks for some slots at once, and keeps idle ones for a
// while. Below, it gives each back as soon as it is free.
const stepsFrom = 64

// steps is how many steps of slots a gateway takes until it has its part of a limit.
const steps = 8

// share is this gateway's share of a pool's slots. The limiter's mu guards it.
//
//	      statement 1: use 0, want 1  ------>   others have 4 of 5
//	slots = 1                         <------   held for this gateway: 1
//	      the call ends: changed
//	      statement 2: use 0, want 0  ------>   held: 0; answers to statement 1 are void from here on
type share struct {
	of *sharedSlots

	number   uint64 // of the newest statement
	answered uint64 // number of the statement that was answered last
	void     uint64 // older statements are void: slots were given back since
	stated   int    // slots wanted in the newest statement
	coming   int    // calls that have asked and will take their slots soon
	peak     int    // most slots needed at once since all was stated again
	before   int    // and in the time before

	// As answered last.
	slots   int // that this gateway may use
	held    int // that nobody else has
	waiting int // calls that are known to wait
	crowded bool

	changed bool // it is among those to be stated again

	// Pools of calls that have come into this queue, and need a slot of them too. It stays theirs
	// until this pool is answered: else two slots of one call would never be here at once.
	kept []keptPool
}

type keptPool struct {
	pool  *pool
	since uint64 // number of the newest statement then
}

// room is how many slots the pool may use now.
func (q *pool) room() int {
	switch s := q.share; {
	case s == nil:
		return q.limit
	case s.of.alone > 0:
		return (q.limit + s.of.alone - 1) / s.of.alone
	default:
		return min(q.limit, s.slots)
	}
}

// demand is how many slots its calls need.
func (q *pool) demand() int { return int(q.inUse) + q.share.coming + len(q.queue) }

// wanted is how many slots it asks for. That may be more than there are: its calls wait.
func (q *pool) wanted() int {
	s, n := q.share, q.demand()
	s.peak = max(s.peak, n)
	if most := max(s.peak, s.before); q.limit >= stepsFrom && !s.crowded {
		step := max(q.limit/(steps*s.of.nodes), 1)
		n = max(min((most+step-1)/step*step, q.limit), n)
	}
	return n
}

// statement says what this gateway uses and wants now. So many of its calls that are not queued yet
// can be.
func (q *pool) statement(patient int) Want {
	s, n := q.share, q.wanted()
	s.of.statements++
	s.number, s.changed = s.of.statements, false
	gives := n < max(s.slots, s.stated) || s.held > max(int(q.inUse), s.slots)
	if gives { // others may get them from now on
		s.void, s.slots = s.number, min(s.slots, n)
	}
	s.stated = n
	return Want{
		Subject: q.name, Number: s.number, Limit: q.limit, Held: max(int(q.inUse), s.slots), Gives: gives,
		Slots: n, Queued: len(q.queue) + patient,
	}
}

// learn takes the answer to a statement, and reports whether it holds.
func (q *pool) learn(a Share) bool {
	s := q.share
	if a.Number == 0 || a.Number < s.void || a.Number <= s.answered {
		return false
	}
	s.answered, s.slots, s.held, s.waiting, s.crowded = a.Number, a.Slots, a.Held, a.Waiting, a.Crowded
	if a.Crowded {
		s.peak, s.before = q.demand(), 0
	}
	if a.Guess {
		q.change()
	}
	q.serve()
	q.letGo(a.Number)
	return true
}

// keep keeps a slot of another pool for a call that has come from there into this queue.
func (q *pool) keep(from *pool) {
	if q.share == nil || q.share.of.alone > 0 {
		return
	}
	from.share.coming++
	q.share.kept = append(q.share.kept, keptPool{from, q.share.number})
	q.change()
}

// letGo ends what keep began before the statement of that number.
func (q *pool) letGo(number uint64) {
	s := q.share
	var rest []keptPool
	for _, k := range s.kept {
		if k.since >= number {
			rest = append(rest, k)
			continue
		}
		k.pool.share.coming--
		k.pool.review()
	}
	s.kept = rest
}

// review finds out whether the pool has to be stated again.
func (q *pool) review() {
	s := q.share
	if s == nil || s.changed || s.of.alone > 0 {
		return
	}
	idle := s.slots > q.wanted() || s.held > max(int(q.inUse), s.slots) || s.waiting > 0 && len(q.queue) == 0
	waits := s.waiting == 0 && len(q.queue) > 0 && s.slots < q.limit
	if idle || waits {
		q.change()
	}
}

// turn states the pool again after a call, while calls of other gateways wait: the engine may have
// another answer by now. Otherwise the queue here would keep the slot until the next beat.
func (q *pool) turn() {
	if q.share != nil && q.share.crowded {
		q.change()
	}
}

func (q *pool) change() {
	s := q.share
	if s == nil || s.changed {
		return
	}
	s.changed = true
	s.of.changed = append(s.of.changed, q)
	s.of.places.Restate()
}

// settled reports whether the engine holds nothing for this gateway, so that the pool can be
// forgotten when no call uses it.
func (q *pool) settled() bool {
	s := q.share
	return s == nil || !s.changed && len(s.kept) == 0 && s.coming == 0 && s.held == 0 && s.waiting == 0 && s.number == s.answered
}
