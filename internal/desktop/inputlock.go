package desktop

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// acknowledgeWithin is how long the first input of a person waits for agents at other gateways to
	// stop.
	acknowledgeWithin = time.Second
	// releaseGap is the time between the release of a person's keys and the first event of an agent,
	// which goes to the workstation by another connection.
	releaseGap = 10 * time.Millisecond
)

// inputLock is the lock under which agents act at a workstation, and who holds the input there as
// this gateway knows it: what a person sends after a takeover comes after all that agents have
// sent.
type inputLock struct {
	mu           sync.Mutex // guards the following
	hold         Hold
	held         error                  // control_held by whoever has it; nil: nobody does
	human        bool                   // a person does
	agents       map[string]*agentInput // the agents' sessions of this gateway
	acknowledged chan struct{}          // closed when no agent acts any more; nil: none did
	flushed      <-chan struct{}        // closed when the workstation has read all that the last agent sent; nil: it has
	input        time.Time              // the last of a person here
	returnTimer  *time.Timer            // gives the input of a person of this gateway back
	lifts        []*lift                // of persons who had it, before an agent's next event

	session atomic.Pointer[string] // that has it, for lists: an agent's event may be under way
}

// agentInput is what the lock knows of an agent.
type agentInput struct {
	release   func() (flushed <-chan struct{}) // releases what it holds down; nil: nothing
	takenOver bool                             // a person has had the input since its last answer
}

func (h *inputLock) agent(id string) *agentInput {
	a := h.agents[id]
	if a == nil {
		if h.agents == nil {
			h.agents = make(map[string]*agentInput)
		}
		a = new(agentInput)
		h.agents[id] = a
	}
	return a
}

// update brings the lock to what the store says, unless that is older.
func (h *inputLock) update(w *Workstation, now time.Time) (applied bool) {
	hold := holdOf(w)
	if hold.Number < h.hold.Number {
		return false
	}
	by := holding(w, now)
	if by == nil {
		hold.Session = ""
	}
	h.set(w.ID, hold, by)
	return true
}

// set notes who holds the input, nil for nobody. Who has had it lets go first.
func (h *inputLock) set(at ID, hold Hold, by *SessionRecord) {
	if before := h.hold.Session; before != hold.Session {
		if a := h.agents[before]; a != nil && a.release != nil {
			h.flushed = a.release()
		}
		h.stopTimer()
	}
	h.hold, h.held, h.human = hold, nil, by != nil && !by.Token.Issuer.Agent
	h.session.Store(&hold.Session)
	if by != nil {
		h.held = controlHeld(at, by, hold.Since)
	}
	if h.human {
		for _, a := range h.agents {
			a.takenOver = true
		}
		h.acknowledge(len(hold.Unacknowledged) > 0)
		return
	}
	h.acknowledge(false) // those that wait go on
	h.acknowledged = nil
}

// awaitAgents waits until no agent acts any more, and until the workstation has taken what it has
// sent.
func (h *inputLock) awaitAgents() {
	h.mu.Lock()
	acknowledged := h.acknowledged
	h.mu.Unlock()
	if acknowledged != nil { // else it was given back just now
		within(acknowledgeWithin, acknowledged)
	}
	h.awaitFlush()
}

// awaitFlush waits until the workstation has read all that an agent of this gateway has sent.
// Others get to the workstation by connections of their own.
func (h *inputLock) awaitFlush() {
	h.mu.Lock()
	flushed := h.flushed
	h.mu.Unlock()
	if flushed != nil {
		within(acknowledgeWithin, flushed)
	}
}

// stopTimer stops the return of a person's input.
func (h *inputLock) stopTimer() {
	if h.returnTimer != nil {
		h.returnTimer.Stop()
		h.returnTimer = nil
	}
}

// forget drops what is known of a session that has left.
func (h *inputLock) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.agents, id)
	if h.hold.Session == id {
		h.stopTimer()
	}
}

// acknowledge lets the person's input go on, unless agents at other gateways may not have heard of
// it yet.
func (h *inputLock) acknowledge(waits bool) {
	if h.acknowledged == nil {
		h.acknowledged = make(chan struct{})
	}
	select {
	case <-h.acknowledged:
	default:
		if !waits {
			close(h.acknowledged)
		}
	}
}

// inputLock returns the lock of a workstation.
func (s *sessions) inputLock(at ID) *inputLock {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.inputLocks[at]
	if h == nil {
		if h = new(inputLock); len(s.byID[at]) > 0 {
			s.inputLocks[at] = h
		}
	}
	return h
}

// applyHold tells the sessions of this gateway who holds the input. News do not wait for an event
// of an agent that its workstation does not take.
func (s *sessions) applyHold(w *Workstation, wait bool) {
	here := s.of(w.ID)
	if len(here) == 0 {
		return
	}
	h := s.inputLock(w.ID)
	if wait {
		h.mu.Lock()
	} else if !h.mu.TryLock() {
		go s.applyHold(w, true) // it ends when the event is sent, or has failed
		return
	}
	defer h.mu.Unlock()
	now := s.now()
	for _, x := range here {
		if x.token().Issuer.Agent {
			h.agent(x.ID)
		}
	}
	human, before := h.human, h.hold.Session
	if !h.update(w, now) {
		return
	}
	if agent := h.held != nil && !h.human; human && !h.human || agent && h.hold.Session != before {
		h.lift(here) // a person may hold down what was pressed before an agent came
	}
	watched := h
	if !automated(w, now) {
		watched = nil
	}
	for _, x := range here {
		x.Input.lock.Store(watched)
		x.Input.watch(h)
	}
}

// acknowledgeHold tells the gateway of a person that agents of this one have stopped, and a store
// that has lost it who holds the input. If that fails, the next beat does it.
func (s *sessions) acknowledgeHold(w *Workstation) {
	s.mu.Lock()
	h := s.inputLocks[w.ID]
	s.mu.Unlock()
	if h == nil {
		return
	}
	ours := func(id string) bool { return s.get(w.ID, id) != nil }
	if h.mu.TryLock() { // else it is unknown
		silent := holdOf(w).Number >= h.hold.Number && !slices.ContainsFunc(holdOf(w).Unacknowledged, ours)
		h.mu.Unlock()
		if silent {
			return
		}
	}
	go func() { // the one who has heard of the change must not wait for the store
		ctx, cancel := message()
		defer cancel()
		_ = s.apply(ctx, w.ID, func(w *Workstation) {
			s.applyHold(w, true) // what it has not heard it must not confirm
			h.awaitFlush()
			h.mu.Lock()
			known := h.hold
			h.mu.Unlock()
			if holdOf(w).Number < known.Number {
				w.Hold = &known
			}
			if slices.ContainsFunc(holdOf(w).Unacknowledged, ours) {
				changeHold(w, s.now(), func(h *Hold) { h.Unacknowledged = slices.DeleteFunc(slices.Clone(h.Unacknowledged), ours) })
			}
		})
	}()
}
