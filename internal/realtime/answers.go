package realtime

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
)

// answer is one that has begun.
type answer struct {
	Answer
	eventID string            // of the client's event that asked for it; "" if the provider began it
	judge   *guardrail.Stream // nil: nothing judges it
	failure *apierror.Error   // why it is refused though it was made; nil: it is not
	silent  bool              // the client gets no more of it
}

// ask begins an answer for a response.create. The error is a refusal: nothing may be sent.
func (s *Session) ask(eventID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over != nil {
		return apierror.New(apierror.ShuttingDown, "the session is about to end; open another one")
	}
	if len(s.asked)+len(s.running) >= maxAnswers {
		return apierror.New(apierror.WebSocketQueueFull, "%d answers are under way; ask for the next when one has ended", maxAnswers)
	}
	if s.held == nil {
		if err := s.hold(); err != nil {
			return err
		}
	}
	a := s.started(eventID)
	if a.failure != nil {
		a.Finish(a.failure)
		return a.failure
	}
	s.asked = append(s.asked, a)
	return nil
}

// hold holds the next answer. A budget that is used up ends the session, if nothing is under way
// that may give some of it back. The mutex is held.
func (s *Session) hold() (err error) {
	if s.held, err = s.o.Calls.Hold(); err == nil {
		return nil
	}
	s.held = nil
	e := apierror.From(err)
	if e.HTTPStatus() == 402 && len(s.asked)+len(s.running) == 0 && s.over == nil {
		s.over = &socket.End{Code: 1008, Reason: "The budget is used up: " + e.Message, Told: e}
	}
	return err
}

// started makes the held answer one that has begun. The mutex is held.
func (s *Session) started(eventID string) *answer {
	a := &answer{Answer: s.held, eventID: eventID, judge: s.held.Judge()}
	s.held = nil
	if err := a.Begin(); err != nil {
		a.failure = apierror.From(err)
	}
	return a
}

// created notes that an answer has begun: the first that was asked for, or one that the provider
// began. It returns nil if that one may not be: then it must be cancelled.
func (s *Session) created(id string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var a *answer
	switch {
	case len(s.asked) > 0:
		a, s.asked = s.asked[0], s.asked[1:]
	case s.held != nil || s.hold() == nil:
		a = s.started("")
	default:
		return nil
	}
	s.running[id] = a
	return a
}

// find returns an answer that is under way, nil for none.
func (s *Session) find(id string) *answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

// done charges an answer that has ended and holds the next one. It returns why the session ends, nil
// if it goes on.
func (s *Session) done(id string, sum openai.Summary, failure *apierror.Error) *socket.End {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.running[id]; a != nil {
		delete(s.running, id)
		switch {
		case a.failure != nil:
			failure = a.failure
		case s.left && failure == nil && sum.Finish == finishes["cancelled"]:
			failure = goneError()
		}
		if a.judge != nil {
			a.Redacted(a.judge.Redacted())
		}
		a.End(sum, failure != nil && !sum.HasUsage && a.failure == nil)
		a.Finish(failure)
	}
	s.used = s.o.Now()
	defer s.checkQuiet()
	if s.held == nil && !s.left {
		_ = s.hold() // the next event that asks for an answer says why
	}
	if len(s.running)+len(s.asked) > 0 {
		return nil
	}
	return s.over
}

// rejected ends an answer that the provider refuses to begin, by the client's event. It reports
// whether there is one.
func (s *Session) rejected(eventID string, failure *apierror.Error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, a := range s.asked {
		if a.eventID == eventID && eventID != "" {
			s.asked = append(s.asked[:i], s.asked[i+1:]...)
			a.End(openai.Summary{}, true)
			a.Finish(failure)
			if s.held == nil && !s.left {
				_ = s.hold() // as above
			}
			s.checkQuiet()
			return true
		}
	}
	return false
}

// transcribed charges a transcript and holds the next one. It returns why the session ends, nil if it
// goes on.
func (s *Session) transcribed(sum openai.Summary, failure *apierror.Error) *socket.End {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard == nil {
		return nil
	}
	a := s.heard
	s.heard = nil
	_ = a.Begin() // no rate counts it
	a.End(sum, failure != nil && !sum.HasUsage)
	a.Finish(failure)
	if s.left {
		return nil
	}
	held, err := s.o.Calls.HoldHeard(s.o.Provider + "/" + s.hears[1])
	if err != nil {
		e := apierror.From(err)
		return &socket.End{Code: 1008, Reason: "No more can be transcribed: " + e.Message, Told: e}
	}
	s.heard = held
	return nil
}
