package valkey

import "github.com/gatehouse-proxy/gatehouse/internal/limits"

// stepsFrom is the limit from which a gateway asks for some slots at once, and keeps idle ones for a
// while. Below, it gives each back as soon as it is free.
const stepsFrom = 64

// steps is how many steps of slots a gateway takes until it has its part of a limit.
const steps = 8

// share is this gateway's share of a subject's slots.
//
//	      statement 1: use 0, want 1  ------>   others have 4 of 5
//	slots = 1                         <------   held for this gateway: 1
//	      the call ends: changed
//	      statement 2: use 0, want 0  ------>   held: 0; answers to statement 1 are void from here on
type share struct {
	of      *slots
	subject string
	demand  *limits.Demand

	number uint64 // of the newest statement
	void   uint64 // older statements are void: slots were given back since
	stated int    // slots wanted in the newest statement
	coming int    // calls that have asked and will take their slots soon
	peak   int    // most slots needed at once since all was stated again
	before int    // and in the time before

	answer granted // the last one; its slots get less when they are given back

	changed bool // it is among those to be stated again

	// Shares of calls that have come into this queue, and need a slot of them too. It stays theirs
	// until this share is answered: else two slots of one call would never be here at once.
	kept []keptShare
}

type keptShare struct {
	share *share
	since uint64 // number of the newest statement then
}

// Room implements limits.Share.
func (s *share) Room() int {
	if s.of.alone > 0 {
		return (s.demand.Limit + s.of.alone - 1) / s.of.alone
	}
	return min(s.demand.Limit, s.answer.Slots)
}

// Expect implements limits.Share.
func (s *share) Expect(calls int) {
	s.coming += calls
	s.peak = max(s.peak, s.needed())
}

// needed is how many slots its calls need.
func (s *share) needed() int { return s.demand.InUse + s.coming + s.demand.Waiting }

// wanted is how many slots it asks for. That may be more than there are: its calls wait.
func (s *share) wanted() int {
	n := s.needed()
	s.peak = max(s.peak, n)
	if most := max(s.peak, s.before); s.demand.Limit >= stepsFrom && !s.answer.Crowded {
		step := max(s.demand.Limit/(steps*s.of.nodes), 1)
		n = max(min((most+step-1)/step*step, s.demand.Limit), n)
	}
	return n
}

// statement says what this gateway uses and wants now. So many of its calls that are not queued yet
// can be.
func (s *share) statement(patient int) want {
	n := s.wanted()
	s.of.statements++
	s.number, s.changed = s.of.statements, false
	gives := n < max(s.answer.Slots, s.stated) || s.answer.Held > max(s.demand.InUse, s.answer.Slots)
	if gives { // others may get them from now on
		s.void, s.answer.Slots = s.number, min(s.answer.Slots, n)
	}
	s.stated = n
	return want{
		Subject: s.subject, Number: s.number, Limit: s.demand.Limit, Held: max(s.demand.InUse, s.answer.Slots), Gives: gives,
		Slots: n, Queued: s.demand.Waiting + patient,
	}
}

// learn takes the answer to a statement, and reports whether it holds.
func (s *share) learn(a granted) bool {
	if a.Number == 0 || a.Number < s.void || a.Number <= s.answer.Number {
		return false
	}
	s.answer = a
	if a.Crowded {
		s.peak, s.before = s.needed(), 0
	}
	if a.Guess {
		s.change()
	}
	return true
}

// Keep implements limits.Share.
func (s *share) Keep(other limits.Share) {
	from, ok := other.(*share)
	if !ok || s.of.alone > 0 {
		return
	}
	from.coming++
	s.kept = append(s.kept, keptShare{from, s.number})
	s.change()
}

// letGo ends what Keep began before the statement of that number.
func (s *share) letGo(number uint64) {
	var rest []keptShare
	for _, k := range s.kept {
		if k.since >= number {
			rest = append(rest, k)
			continue
		}
		k.share.coming--
		k.share.Changed()
	}
	s.kept = rest
}

// Changed implements limits.Share: it finds out whether the share has to be stated again.
func (s *share) Changed() {
	if s.changed || s.of.alone > 0 {
		return
	}
	idle := s.answer.Slots > s.wanted() || s.answer.Held > max(s.demand.InUse, s.answer.Slots) || s.answer.Waiting > 0 && s.demand.Waiting == 0
	waits := s.answer.Waiting == 0 && s.demand.Waiting > 0 && s.answer.Slots < s.demand.Limit
	if idle || waits {
		s.change()
	}
}

// Freed implements limits.Share: it states the share again after a call, while calls of other gateways wait: the engine may have
// another answer by now. Otherwise the queue here would keep the slot until the next beat.
func (s *share) Freed() {
	if s.answer.Crowded {
		s.change()
	}
}

func (s *share) change() {
	if s.changed {
		return
	}
	s.changed = true
	s.of.changed = append(s.of.changed, s)
	s.of.wake()
}

// Forget implements limits.Share: it reports whether the engine holds nothing for this gateway.
func (s *share) Forget() bool {
	settled := !s.changed && len(s.kept) == 0 && s.coming == 0 && s.answer.Held == 0 && s.answer.Waiting == 0 && s.number == s.answer.Number
	if settled {
		delete(s.of.shares, s.subject)
	}
	return settled
}
