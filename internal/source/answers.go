package source

import (
	"errors"
	"maps"
	"sync"
	"time"
)

const (
	// maxAnswers is how many answers are kept. An answer has 16 KiB at most, but usually 200 bytes.
	maxAnswers = 10_000
	// minSweep is the number of answers below which it is not worth looking for old ones.
	minSweep = 64
)

// key is what answers are kept by. That of a list has a tenant only.
type key struct{ tenant, name, caller, user string }

func keyOf(q *Question) key { return key{q.Tenant, q.Name, q.Caller.Key, q.Caller.User} }

// memory is what outlives a configuration: answers, and whether the control plane works.
type memory struct {
	now   func() time.Time
	asked chan struct{} // a semaphore for questions under way

	mu      sync.Mutex // guards the following
	health  health
	answers map[key]*entry
	sweepAt int // number of answers at which the next one looks for old ones
}

func newMemory(now func() time.Time) *memory {
	return &memory{now: now, asked: make(chan struct{}, maxAsked), answers: make(map[key]*entry), sweepAt: minSweep}
}

// result is what a question has brought.
type result struct {
	answer  Answer
	items   []Item // of a list, nil where there is none
	failure *Failure
	until   time.Time // it counts before; zero: for those only who have waited for it
}

// entry is what is known of a key. It is in memory.answers unless it was dropped.
type entry struct {
	last    result
	allowed result    // the last one that was an "allow" or a list, for Last
	flight  *question // under way; nil: none is
}

// question is one that is under way.
type question struct {
	began time.Time
	over  chan struct{} // closed when result is set
	result
}

var errDown = errors.New("the last questions have failed")

// answer returns the result of a key, if one counts that was asked at since or later, else that of
// ask. Equal questions that are under way are asked once.
func (s *Source) answer(k key, since time.Time, ask func() result) result {
	q, mine := s.begin(k, since)
	if !mine {
		<-q.over
		return q.result
	}
	q.failure = failed(FailedInvalid, "the question was not asked") // after a panic
	defer s.end(k, q)
	q.result = ask()
	return q.result
}

// begin returns the question whose result the caller takes: one that has it already, one that is
// under way, or the caller's own.
func (s *Source) begin(k key, since time.Time) (q *question, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, e := s.now(), s.answers[k]
	switch {
	case e != nil && now.Before(e.last.until) && !e.last.answer.Asked.Before(since):
		return over(e.last), false
	case e != nil && e.flight != nil && !e.flight.began.Before(since):
		return e.flight, false
	case !s.health.permits(now, k.name == ""):
		return over(result{failure: &Failure{FailedDown, errDown}}), false
	}
	if e == nil {
		s.sweep(now)
		e = new(entry)
		s.answers[k] = e
	}
	e.flight = &question{began: now, over: make(chan struct{})}
	return e.flight, true
}

func over(r result) *question {
	q := &question{over: make(chan struct{}), result: r}
	close(q.over)
	return q
}

// end keeps the result of a question. One that was dropped meanwhile is not kept.
func (s *Source) end(k key, q *question) {
	close(q.over)
	s.mu.Lock()
	if e := s.answers[k]; e != nil && e.flight == q {
		e.flight, e.last = nil, q.result
		if q.failure == nil {
			e.allowed = q.result
		}
	}
	s.mu.Unlock()
	if q.failure != nil {
		s.log(q.failure, k)
	}
}

// Last returns the last answer to a question, if that was an "allow" for which was asked at since or
// later and which is not too old for a control plane that is down.
func (s *Source) Last(q Question, since time.Time) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.answers[keyOf(&q)]
	if e == nil || s.stale(&e.allowed) || e.allowed.answer.Decision != Allow || e.allowed.answer.Asked.Before(since) {
		return Answer{}, false
	}
	return e.allowed.answer, true
}

// stale reports whether a result is too old even for a control plane that is down; mu is held.
func (s *Source) stale(r *result) bool {
	return !s.now().Before(r.answer.Asked.Add(s.config.Stale))
}

// Drop forgets all answers about a workstation, those to questions under way too.
func (s *Source) Drop(tenant, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.answers, func(k key, _ *entry) bool { return k.tenant == tenant && k.name == name })
}

// Expire has the next question asked again. Last still has the answer.
func (s *Source) Expire(q Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.answers[keyOf(&q)]; e != nil {
		e.last.until = time.Time{}
	}
}

// Reject forgets and logs an "allow" that leads nowhere: its address is outside the networks, its
// credential is not declared, its rules are none.
func (s *Source) Reject(q Question, why error) error {
	k, failure := keyOf(&q), &Failure{FailedTarget, why}
	s.mu.Lock()
	delete(s.answers, k)
	s.mu.Unlock()
	s.log(failure, k)
	return failure
}

// sweep makes room for one more answer, in amortised constant time; mu is held. A question under way
// whose entry is taken out has its result for those who wait for it.
func (s *Source) sweep(now time.Time) {
	if len(s.answers) < s.sweepAt {
		return
	}
	maps.DeleteFunc(s.answers, func(_ key, e *entry) bool {
		return e.flight == nil && !now.Before(e.last.until) && s.stale(&e.allowed)
	})
	for k := range s.answers {
		if len(s.answers) < maxAnswers {
			break
		}
		delete(s.answers, k)
	}
	s.sweepAt = min(max(minSweep, 2*len(s.answers)), maxAnswers)
}
