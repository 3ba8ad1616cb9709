package source

import (
	"time"

	"go.uber.org/zap"
)

// Resolve asks for a workstation, unless an answer that was asked for at since or later still
// counts. The error is a [*Failure].
func (s *Source) Resolve(q Question, since time.Time) (Answer, error) {
	r := s.answer(keyOf(&q), since, func() result { return s.resolve(&q) })
	if r.failure != nil {
		return Answer{}, r.failure
	}
	a := r.answer
	if a.Decision == Wait {
		a.RetryAfter = max(r.until.Sub(s.config.Now()), leastWait)
	}
	return a, nil
}

func (s *Source) resolve(q *Question) (r result) {
	question := resolveQuestion{head: s.head(typeResolve, q.Tenant), Reason: q.Reason, Name: q.Name, Caller: q.Caller}
	question.Session.ViewOnly = q.ViewOnly
	asked := s.config.Now()
	body, failure := s.webhook.ask(question, maxAnswer)
	life := negative
	if failure == nil {
		var err error
		if r.answer, life, err = parseAnswer(body); err != nil {
			failure, life = &Failure{FailedInvalid, err}, negative
		}
	}
	r.failure, r.answer.Asked, r.stale = failure, asked, asked.Add(s.config.Stale)
	s.noteHealth(failure)
	if failure == nil || !failure.counts() {
		r.until = s.config.Now().Add(min(life, s.longest(r.answer.Decision)))
	}
	return r
}

// longest is how long an answer counts at most.
func (s *Source) longest(d Decision) time.Duration {
	if d == Allow {
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
func (s *Source) Last(q Question, since time.Time) (Answer, bool) {
	r, ok := s.memory.last(keyOf(&q))
	if !ok || r.answer.Decision != Allow || r.answer.Asked.Before(since) {
		return Answer{}, false
	}
	return r.answer, true
}

// Drop forgets all answers about a workstation, those to questions under way too.
func (s *Source) Drop(tenant, name string) {
	s.memory.drop(func(k key) bool { return k.tenant == tenant && k.name == name })
}

// Expire has the next question asked again. Last still has the answer.
func (s *Source) Expire(q Question) { s.memory.expire(keyOf(&q)) }

// Reject forgets and logs an "allow" that leads nowhere: its address is outside the networks, its
// credential is not declared, its rules are none.
func (s *Source) Reject(q Question, why error) error {
	k, failure := keyOf(&q), &Failure{FailedTarget, why}
	s.memory.drop(func(other key) bool { return other == k })
	s.log(failure, k)
	return failure
}
