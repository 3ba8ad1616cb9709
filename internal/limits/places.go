package limits

import (
	"context"
	"math"
)

// Places is where several gateways share the slots of subjects. Each states whole numbers: how many
// it uses and how many it wants. So a lost, late or repeated statement does no harm.
type Places interface {
	// Enter counts one request as Rates.Request does, unless there are no subjects, and states the
	// wants, in one message. It returns a share for each of them, and none with a refusal or an error:
	// then nothing was stated. An engine that does not answer is no error.
	Enter(ctx context.Context, subjects []Subject, wants []Want) (Reading, *RateRefusal, []Share, error)
	// Restate asks for Statements soon. It is called with the limiter locked and must not block.
	Restate()
	// InUse returns what all gateways use of each subject, in their order.
	InUse(ctx context.Context, subjects []Subject) ([]ConcurrencyUse, error)
}

// Want is what this gateway states of a subject.
type Want struct {
	Subject string
	Number  uint64 // of the statement, which makes all with a lower number void
	Limit   int    // of all gateways
	Held    int    // slots that calls use or will take without another question
	Gives   bool   // it gives back all beyond those; else it may have been answered more meanwhile
	Slots   int    // that it wants in all
	Queued  int    // how many of them are for calls that can wait
}

// Share is the answer to a Want.
type Share struct {
	Subject string
	Number  uint64 // of the statement that is answered; 0: a later one had come before
	Slots   int    // that this gateway may use
	Held    int    // that nobody else has: those, or more calls that are under way
	Waiting int    // calls of this gateway that are known to wait
	Crowded bool   // calls of other gateways wait
	Guess   bool   // the engine did not answer; it is told again
}

// sharedSlots is what the pools of a limiter have in common if their slots are shared. The limiter's
// mu guards it.
type sharedSlots struct {
	places     Places
	statements uint64  // the number of the newest
	changed    []*pool // that have to be stated again
	nodes      int     // gateways
	alone      int     // if the engine does not answer: this gateway has one part in so many of each limit
}

// Share makes the limiter share its slots. It must be called while there are no calls. Nil ends it,
// if there is no call any more.
func (l *ConcurrencyLimiter) Share(p Places) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case p != nil:
		l.shared = &sharedSlots{places: p, nodes: 1}
	case len(l.pools) == 0:
		l.shared = nil
	}
}

// Nodes tells how many gateways share the slots, and whether their engine answers. While it does
// not, each uses its part of a limit, rounded up.
func (l *ConcurrencyLimiter) Nodes(n int, answers bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shared
	if s == nil {
		return
	}
	s.nodes = max(n, 1)
	switch {
	case !answers:
		s.alone = s.nodes
		for _, q := range l.pools {
			q.serve()
		}
	case s.alone > 0:
		s.alone = 0
		l.restate(true)
	}
}

// Statements returns at most n wants that have changed. The answers are for Learn.
func (l *ConcurrencyLimiter) Statements(n int) []Want {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.shared
	if s == nil || s.alone > 0 || len(s.changed) == 0 {
		return nil
	}
	n = min(n, len(s.changed))
	wants := make([]Want, 0, n)
	for _, q := range s.changed[:n] {
		wants = append(wants, q.statement(0))
	}
	s.changed = append(s.changed[:0], s.changed[n:]...)
	return wants
}

// Learn takes the answers to statements.
func (l *ConcurrencyLimiter) Learn(shares []Share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.learn(shares)
}

// Restate states all subjects again. Lost tells that the engine has forgotten what this gateway
// held.
func (l *ConcurrencyLimiter) Restate(lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.restate(lost)
}

// Recheck states a subject again, of which slots are free now or calls of other gateways wait; "":
// all for which calls wait here.
func (l *ConcurrencyLimiter) Recheck(subject string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shared == nil {
		return
	}
	if subject != "" {
		if q := l.pools[subject]; q != nil {
			q.change()
		}
		return
	}
	for _, q := range l.pools {
		if len(q.queue) > 0 && q.share.slots < q.limit {
			q.change()
		}
	}
}

// Everything below must be called with mu held.

// learn reports whether an answer was void.
func (l *ConcurrencyLimiter) learn(shares []Share) (void bool) {
	for _, answer := range shares {
		q := l.pools[answer.Subject]
		if q == nil || q.share == nil {
			continue
		}
		void = !q.learn(answer) || void
		if q.refs == 0 && q.settled() {
			delete(l.pools, q.name)
		}
	}
	return void
}

func (l *ConcurrencyLimiter) restate(lost bool) {
	if l.shared == nil {
		return
	}
	for _, q := range l.pools {
		if s := q.share; lost {
			s.void, s.slots, s.held, s.waiting = l.shared.statements+1, 0, 0, 0
		}
		q.letGo(math.MaxUint64)
		q.share.before, q.share.peak = q.share.peak, q.demand()
		q.change()
	}
}
