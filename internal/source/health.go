package source

import (
	"time"

	"go.uber.org/zap"
)

const (
	// downAfter is how many questions in a row must fail before a control plane counts as down.
	downAfter = 5
	// probeEvery is the time between two questions to a control plane that is down.
	probeEvery = 2 * time.Second
)

// health is whether the control plane answers.
type health struct {
	failures int       // in a row
	since    time.Time // of the first of them
	probe    time.Time // before it nothing is asked
}

func (h *health) down() bool { return h.failures >= downAfter }

// permits reports whether a question may be asked now. Where the control plane is down it is the one
// for the next two seconds, and no list: that would be asked in place of a question for a desktop.
func (h *health) permits(now time.Time, list bool) bool {
	if !h.down() {
		return true
	}
	if list || now.Before(h.probe) {
		return false
	}
	h.probe = now.Add(probeEvery)
	return true
}

// note counts an outcome, and reports whether the control plane is down now and was not, or the
// reverse.
func (h *health) note(ok bool, now time.Time) (changed bool) {
	before := h.down()
	switch {
	case ok:
		h.failures = 0
	case h.failures == 0:
		h.failures, h.since = 1, now
	default:
		h.failures++
	}
	if h.down() && !before {
		h.probe = now.Add(probeEvery)
	}
	return h.down() != before
}

// Down returns since when the control plane does not answer; false while it does.
func (s *Source) Down() (since time.Time, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.health.since, s.health.down()
}

// noteHealth counts the outcome of a question; a failure may be nil.
func (s *Source) noteHealth(failure *Failure) {
	if failure != nil && failure.Code == FailedBusy { // nothing was asked
		return
	}
	s.mu.Lock()
	changed, down := s.health.note(failure == nil || !failure.counts(), s.now()), s.health.down()
	s.mu.Unlock()
	switch {
	case changed && down:
		s.config.Logger.Error("the source of workstations does not answer; it is tried every two seconds", zap.String("source", s.config.Name))
	case changed:
		s.config.Logger.Info("the source of workstations answers again", zap.String("source", s.config.Name))
	}
}
