package gateway

import (
	"slices"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
)

// generation is what the State knows of one configuration. Caddy starts the next configuration
// before it stops the one before. This is the life of each:
//
//	provision ──→ start ──→ activate ──→ retire ──→ release ──→ reacquire ──→ release …
//	    │           │                      ↑
//	    └───────────┴───── roll-back ──────┘
//
//	step        made by                  effect
//	provision   New                      it holds a reference to the State; no file is opened
//	start       Gateway.Start            the stores are open, features work, it is current, calls are let in
//	activate    Stop of the older one    tokens, sessions and sign-ins end that it does not allow
//	retire      Gateway.Close            it is not current any more; calls under way go on
//	release     its last call            the reference goes back; the last one closes the stores
//	reacquire   a late call              a connection of an older listener may still carry calls
//
// In a roll-back another app of the configuration did not start. The older generation has not been
// stopped then, and is current again.
type generation struct {
	opening // keep is set by Start
	gateway *Gateway
	calls   *inflight.Set // calls and sessions under way
	hash    func() string // of its limits

	// Settings that apply while it is current.
	begun        time.Time // set by Start
	bodyMemory   int64
	answerMemory int64
	emitter      Emitter
	observed     Observed
	workstations *desktop.Service
	mayConnect   func(desktop.Issuer) bool

	ready   chan struct{} // closed by Start
	retired chan struct{} // closed by Close
}

// generations are those that share a State.
type generations struct {
	steps sync.Mutex // one step of a generation at a time: a shutdown can come in the middle of a reload

	mu      sync.Mutex               // guards the following
	holding map[*generation]struct{} // they hold a reference: not retired, or with calls under way
	started []*generation            // from start to retire, oldest first
}

// acquire notes that gen holds a reference to the State.
func (s *generations) acquire(gen *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holding == nil {
		s.holding = make(map[*generation]struct{})
	}
	s.holding[gen] = struct{}{}
}

// release notes that gen does not hold a reference any more.
func (s *generations) release(gen *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.holding, gen)
}

// start makes gen the current generation.
func (s *generations) start(gen *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = append(s.started, gen)
}

// retire takes gen away, which may not have started.
func (s *generations) retire(gen *generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = slices.DeleteFunc(s.started, func(other *generation) bool { return other == gen })
}

// current returns the newest generation that has started and is not retired, nil without one.
func (s *generations) current() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.started) == 0 {
		return nil
	}
	return s.started[len(s.started)-1]
}

// any reports whether ok holds for a configuration that has started and is not retired.
func (s *generations) any(ok func(*Gateway) bool) bool {
	s.mu.Lock()
	started := slices.Clone(s.started)
	s.mu.Unlock()
	return slices.ContainsFunc(started, func(gen *generation) bool { return ok(gen.gateway) })
}

// several reports whether more than one generation has started and is not retired.
func (s *generations) several() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.started) > 1
}

// inFlight returns the number of calls and sessions under way.
func (s *generations) inFlight() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for gen := range s.holding {
		n += gen.calls.Len()
	}
	return n
}

// interrupt cancels all calls and sessions, and those that come later. It reports whether any were
// under way.
func (s *generations) interrupt(cause error) (found bool) {
	for _, gen := range s.holders() { // without mu: a call that ends may release its generation
		found = gen.calls.Interrupt(cause) || found
	}
	return found
}

func (s *generations) holders() (all []*generation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for gen := range s.holding {
		all = append(all, gen)
	}
	return all
}
