package source

import "time"

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

// note counts an outcome, and reports whether the control plane is down, and whether that has changed.
func (m *memory) note(ok bool) (changed, down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.health.note(ok, m.now()), m.health.down()
}

func (m *memory) down() (since time.Time, down bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.health.since, m.health.down()
}
