package valkey

import (
	"math"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// mostAsks bounds how often a call states what it wants. An answer is void if slots were given back
// after the statement.
const mostAsks = 3

// want is what this gateway states of a subject: whole numbers, so that a lost, late or repeated
// statement does no harm.
type want struct {
	Subject string
	Number  uint64 // of the statement, which makes all with a lower number void
	Limit   int    // of all gateways
	Held    int    // slots that calls use or will take without another question
	Gives   bool   // it gives back all beyond those; else it may have been answered more meanwhile
	Slots   int    // that it wants in all
	Queued  int    // how many of them are for calls that can wait
}

// granted is the answer to a want.
type granted struct {
	Subject string
	Number  uint64 // of the statement that is answered; 0: a later one had come before
	Slots   int    // that this gateway may use
	Held    int    // that nobody else has: those, or more calls that are under way
	Waiting int    // calls of this gateway that are known to wait
	Crowded bool   // calls of other gateways wait
	Guess   bool   // the engine did not answer; the statement is sent again
}

// slots are this gateway's shares of the slots that gateways share. Those of the subjects it has calls
// of are its own: the others hear of them by statements. All fields are guarded by the limiter's lock.
type slots struct {
	limiter *limits.ConcurrencyLimiter
	wake    func() // something has to be stated

	shares     map[string]*share
	statements uint64   // the number of the newest
	changed    []*share // that have to be stated again
	nodes      int      // gateways
	alone      int      // if the engine does not answer: this gateway has one part in so many of each limit
}

func newSlots(limiter *limits.ConcurrencyLimiter, wake func()) *slots {
	return &slots{limiter: limiter, wake: wake, shares: make(map[string]*share), nodes: 1}
}

// locked runs change with the limiter locked.
func (s *slots) locked(change func()) {
	s.limiter.Update(func(func(string)) { change() })
}

// setNodes says how many gateways share the slots, and whether their engine answers. While it does
// not, each uses its part of a limit, rounded up.
func (s *slots) setNodes(n int, answers bool) {
	s.limiter.Update(func(serve func(string)) {
		s.nodes = max(n, 1)
		switch {
		case !answers:
			s.alone = s.nodes
			for subject := range s.shares {
				serve(subject)
			}
		case s.alone > 0:
			s.alone = 0
			s.restate(true)
		}
	})
}

// enter states, with ask, what a call needs and this gateway does not have, and learns the answer. Ask
// also counts the request, the first time.
func (s *slots) enter(subjects []limits.Subject, ask func(counted bool, wants []want) (refused bool, _ []granted)) {
	for asked := 0; asked < mostAsks; asked++ {
		var buffer [limits.MaxSubjects]want
		wants := buffer[:0]
		s.locked(func() { wants = s.wants(wants, subjects) })
		if asked > 0 && len(wants) == 0 {
			return
		}
		refused, answers := ask(asked > 0, wants)
		if void := s.learn(answers); refused || !void {
			return
		}
	}
}

// wants states again each subject of which the call needs a slot that this gateway does not have. It
// must be called with the limiter locked, as all below but changes, learn and recheck.
func (s *slots) wants(wants []want, subjects []limits.Subject) []want {
	for i := range subjects {
		c := subjects[i].Concurrency
		if c.Limit <= 0 {
			continue
		}
		q := s.shares[subjects[i].Name]
		if q == nil || s.alone > 0 || q.needed() <= q.answer.Slots || q.answer.Slots >= q.demand.Limit {
			continue
		}
		patient := 0
		if q.demand.Waiting < c.Queue {
			patient = 1
		}
		wants = append(wants, q.statement(patient))
	}
	return wants
}

// changes returns at most n wants that have changed. The answers are for learn.
func (s *slots) changes(n int) (wants []want) {
	s.locked(func() {
		if s.alone > 0 {
			return
		}
		n = min(n, len(s.changed))
		for _, q := range s.changed[:n] {
			wants = append(wants, q.statement(0))
		}
		s.changed = append(s.changed[:0], s.changed[n:]...)
	})
	return wants
}

// learn takes the answers to statements, and reports whether one was void.
func (s *slots) learn(answers []granted) (void bool) {
	if len(answers) == 0 {
		return false
	}
	s.limiter.Update(func(serve func(string)) {
		for _, a := range answers {
			q := s.shares[a.Subject]
			if q == nil {
				continue
			}
			if !q.learn(a) {
				void = true
				continue
			}
			serve(a.Subject)
			q.letGo(a.Number)
			serve(a.Subject) // it may be forgotten now
		}
	})
	return void
}

// recheck states a subject again, of which slots are free now or calls of other gateways wait; "":
// all for which calls wait here.
func (s *slots) recheck(subject string) {
	s.locked(func() {
		if subject != "" {
			if q := s.shares[subject]; q != nil {
				q.change()
			}
			return
		}
		for _, q := range s.shares {
			if q.demand.Waiting > 0 && q.answer.Slots < q.demand.Limit {
				q.change()
			}
		}
	})
}

// restateAll states all subjects again. Lost says that the engine has forgotten what this gateway held.
func (s *slots) restateAll(lost bool) { s.locked(func() { s.restate(lost) }) }

func (s *slots) restate(lost bool) {
	for _, q := range s.shares {
		if lost {
			q.void, q.answer.Slots, q.answer.Held, q.answer.Waiting = s.statements+1, 0, 0, 0
		}
		q.letGo(math.MaxUint64)
		q.before, q.peak = q.peak, q.needed()
		q.change()
	}
}
