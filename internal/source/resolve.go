package source

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
)

// Resolve asks for a workstation, unless an answer that was asked for at since or later still
// counts. The error is a [*Failure].
func (s *Source) Resolve(q guest.Question, since time.Time) (guest.Answer, error) {
	r := s.answer(keyOf(&q), since, func() result { return s.resolve(&q) })
	if r.failure != nil {
		return guest.Answer{}, r.failure
	}
	a := r.answer
	if a.Decision == guest.Wait {
		a.RetryAfter = max(r.until.Sub(s.config.Now()), leastWait)
	}
	return a, nil
}

func (s *Source) resolve(q *guest.Question) (r result) {
	asked := s.config.Now()
	life := negative
	failure := s.ask(func(ctx context.Context) error {
		a, err := s.config.Plane.Resolve(ctx, *q)
		if err == nil {
			r.answer, life, err = bounded(a)
			err = invalid(err)
		}
		return err
	})
	if failure != nil {
		life = negative
	}
	r.failure, r.answer.Asked, r.stale = failure, asked, asked.Add(s.config.Stale)
	s.noteHealth(failure)
	if failure == nil || !failure.counts() {
		r.until = s.config.Now().Add(min(life, s.longest(r.answer.Decision)))
	}
	return r
}

// longest is how long an answer counts at most.
func (s *Source) longest(d guest.Decision) time.Duration {
	if d == guest.Allow {
		return s.config.Cache
	}
	return mostWait
}

// noteHealth counts the outcome of a question; a failure may be nil.
func (s *Source) noteHealth(failure *Failure) {
	if failure != nil && failure.Code == FailedBusy { // nothing was asked
		return
	}
	switch changed, down := s.memory.note(failure == nil || !failure.counts()); {
	case changed && down:
		s.config.Logger.Error("the source of workstations does not answer; it is tried every two seconds", zap.String("source", s.config.Name))
	case changed:
		s.config.Logger.Info("the source of workstations answers again", zap.String("source", s.config.Name))
	}
}

// Last returns the last answer to a question, if it was an "allow", was asked for at since or
// later, and is not too old for a control plane that is down.
func (s *Source) Last(q guest.Question, since time.Time) (guest.Answer, bool) {
	r, ok := s.memory.last(keyOf(&q))
	if !ok || r.answer.Decision != guest.Allow || r.answer.Asked.Before(since) {
		return guest.Answer{}, false
	}
	return r.answer, true
}

// Drop forgets all answers about a workstation, those to questions under way too.
func (s *Source) Drop(tenant, name string) {
	s.memory.drop(func(k key) bool { return k.tenant == tenant && k.name == name })
}

// Expire has the next question asked again. Last still has the answer.
func (s *Source) Expire(q guest.Question) { s.memory.expire(keyOf(&q)) }

// Reject forgets and logs an "allow" that leads nowhere: its address is outside the networks, its
// credential is not declared, its rules are none.
func (s *Source) Reject(q guest.Question, why error) error {
	k, failure := keyOf(&q), &Failure{FailedTarget, why}
	s.memory.drop(func(other key) bool { return other == k })
	s.log(failure, k)
	return failure
}
