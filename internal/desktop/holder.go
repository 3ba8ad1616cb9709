package desktop

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// heardWithin is how long the first input of a person waits for agents at other gateways to stop.
	heardWithin = time.Second
	// apart is how much later the first event of an agent comes than what a person let go, by another connection to
	// the workstation.
	apart = 10 * time.Millisecond
)

// holder is who holds the input of a workstation, as this gateway knows it. It is the lock under which
// agents act: what a person sends after it has changed comes after all that they have sent.
type holder struct {
	mu     sync.Mutex // guards the following
	hold   Hold
	held   error            // control_held by whoever has it; nil: nobody does
	human  bool             // a person does
	agents map[string]*acts // the agents' sessions of this gateway
	heard  chan struct{}    // closed when no agent acts any more; nil: none did
	taken  <-chan struct{}  // closed when the workstation has taken all of the last agent; nil: it has
	input  time.Time        // the last of a person here
	back   *time.Timer      // gives the input of a person of this gateway back
	lifts  []*lift          // of persons who had it, before an agent's next event

	session atomic.Pointer[string] // that has it, for lists: an agent's event may be under way
}

// acts is what a holder knows of an agent.
type acts struct {
	letGo func() (taken <-chan struct{}) // releases what it holds down; nil: nothing
	lost  bool                           // a person has had the input since its last answer
}

func (h *holder) agent(id string) *acts {
	a := h.agents[id]
	if a == nil {
		if h.agents == nil {
			h.agents = make(map[string]*acts)
		}
		a = new(acts)
		h.agents[id] = a
	}
	return a
}

// apply brings the holder to what the store says, unless that is older.
func (h *holder) apply(w *Workstation, now time.Time) (applied bool) {
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
func (h *holder) set(at ID, hold Hold, by *SessionRecord) {
	if before := h.hold.Session; before != hold.Session {
		if a := h.agents[before]; a != nil && a.letGo != nil {
			h.taken = a.letGo()
		}
		h.rest()
	}
	h.hold, h.held, h.human = hold, nil, by != nil && !by.Token.Issuer.Agent
	h.session.Store(&hold.Session)
	if by != nil {
		h.held = controlHeld(at, by, hold.Since)
	}
	if h.human {
		for _, a := range h.agents {
			a.lost = true
		}
		h.stop(len(hold.Unheard) > 0)
		return
	}
	h.stop(false) // those that wait go on
	h.heard = nil
}

// await waits until no agent acts any more, and until the workstation has taken what it has sent.
func (h *holder) await() {
	h.mu.Lock()
	heard := h.heard
	h.mu.Unlock()
	if heard != nil { // else it was given back just now
		within(heardWithin, heard)
	}
	h.settle()
}

// settle waits until the workstation has taken all that an agent of this gateway has sent. Others get to the
// workstation by connections of their own.
func (h *holder) settle() {
	h.mu.Lock()
	taken := h.taken
	h.mu.Unlock()
	if taken != nil {
		within(heardWithin, taken)
	}
}

// rest stops the timer.
func (h *holder) rest() {
	if h.back != nil {
		h.back.Stop()
		h.back = nil
	}
}

// forget drops what is known of a session that has left.
func (h *holder) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.agents, id)
	if h.hold.Session == id {
		h.rest()
	}
}

// stop lets the person's input go on, unless agents at other gateways may not have heard of it yet.
func (h *holder) stop(waits bool) {
	if h.heard == nil {
		h.heard = make(chan struct{})
	}
	select {
	case <-h.heard:
	default:
		if !waits {
			close(h.heard)
		}
	}
}

// holder returns that of a workstation.
func (s *sessions) holder(at ID) *holder {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.holders[at]
	if h == nil {
		if h = new(holder); len(s.byID[at]) > 0 {
			s.holders[at] = h
		}
	}
	return h
}

// settleHold tells the sessions of this gateway who holds the input. News do not wait for an event of an agent
// that its workstation does not take.
func (s *sessions) settleHold(w *Workstation, wait bool) {
	here := s.of(w.ID)
	if len(here) == 0 {
		return
	}
	h := s.holder(w.ID)
	if wait {
		h.mu.Lock()
	} else if !h.mu.TryLock() {
		go s.settleHold(w, true) // it ends when the event is sent, or has failed
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
	if !h.apply(w, now) {
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
		x.Input.holder.Store(watched)
		x.Input.watch(h)
	}
}

// answer tells the gateway of a person that agents of this one have stopped, and a store that has lost it
// who holds the input. If that fails, the next beat does it.
func (s *sessions) answer(w *Workstation) {
	s.mu.Lock()
	h := s.holders[w.ID]
	s.mu.Unlock()
	if h == nil {
		return
	}
	ours := func(id string) bool { return s.get(w.ID, id) != nil }
	if h.mu.TryLock() { // else it is unknown
		silent := holdOf(w).Number >= h.hold.Number && !slices.ContainsFunc(holdOf(w).Unheard, ours)
		h.mu.Unlock()
		if silent {
			return
		}
	}
	go func() { // the one who has heard of the change must not wait for the store
		ctx, cancel := message()
		defer cancel()
		_ = s.apply(ctx, w.ID, func(w *Workstation) {
			s.settleHold(w, true) // what it has not heard it must not confirm
			h.settle()
			h.mu.Lock()
			known := h.hold
			h.mu.Unlock()
			if holdOf(w).Number < known.Number {
				w.Hold = &known
			}
			if slices.ContainsFunc(holdOf(w).Unheard, ours) {
				turn(w, s.now(), func(h *Hold) { h.Unheard = slices.DeleteFunc(slices.Clone(h.Unheard), ours) })
			}
		})
	}()
}
