package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	desktopmemory "github.com/gatehouse-proxy/gatehouse/internal/desktop/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
)

// State is all that outlives a configuration. A process has one for each data directory, which its
// generations share; see generation for their life. Making one opens no file and starts nothing.
type State struct {
	Metrics      *metrics.Metrics
	Bodies       upload.Bodies              // of requests
	Answers      memory.Semaphore           // held of answers of providers
	Workstations *desktop.State             // tokens and sessions
	ConnLimiter  *connlimit.Limiter         // VNC connections in their handshake
	Concurrency  *limits.ConcurrencyLimiter // calls at once
	Health       *failover.Health           // of providers' models

	exhausted  *policy.ExhaustedBudgets
	events     *events
	discovered models.Lists
	slots      Slots // of features

	stores      stores
	generations generations
	exit        atomic.Pointer[Drain] // nil unless the process is about to exit
}

// NewState returns the State of a data directory.
func NewState(dir string, now func() time.Time) *State {
	s := &State{
		Bodies: upload.Bodies{Spool: upload.NewSpool(dir)}, Workstations: desktopmemory.NewState(now), ConnLimiter: connlimit.New(now), Concurrency: limits.NewConcurrencyLimiter(),
		events: newEvents(), stores: stores{dir: dir, closed: make(chan struct{})},
	}
	s.stores.local = Local{
		Workstations: s.Workstations, Limiter: s.Concurrency, Viewers: s.ConnLimiter,
		LimitsHash: s.limitsHash, Slots: &s.slots,
	}
	s.exhausted = policy.NewExhaustedBudgets(s.Emit)
	s.Health = failover.NewHealth(now, rand.Float64, s.healthChanged)
	s.Metrics = metrics.New(s.gauges())
	s.stores.committed, s.stores.failed = s.Metrics.Committed, s.Metrics.StoreFailed
	return s
}

// provision notes the reference to the State that gen holds, until release.
func (s *State) provision(gen *generation, reacquire func() bool, release func()) {
	s.generations.acquire(gen)
	gen.calls.Init(func() bool {
		if !reacquire() {
			return false
		}
		s.generations.acquire(gen)
		return true
	}, func() {
		s.generations.release(gen)
		release()
	})
}

// open opens the stores for gen, unless they are open.
func (s *State) open(ctx context.Context, gen *generation, now func() time.Time) (Stores, error) {
	s.generations.steps.Lock()
	defer s.generations.steps.Unlock()
	return s.stores.open(ctx, gen.opening, now)
}

// start makes gen the current generation.
func (s *State) start(gen *generation) {
	s.generations.steps.Lock()
	defer s.generations.steps.Unlock()
	s.generations.start(gen)
	s.apply(gen)
}

// apply makes the settings of the current generation the valid ones.
func (s *State) apply(gen *generation) {
	s.stores.retain(gen.keep)
	s.Bodies.SetLimit(gen.bodyMemory)
	s.Answers.SetLimit(gen.answerMemory)
	for _, f := range gen.gateway.features {
		if f.Apply != nil {
			f.Apply()
		}
	}
}

// stop runs when Caddy stops gen. If a newer generation has replaced it, that one is activated.
func (s *State) stop(gen *generation) {
	s.generations.steps.Lock()
	defer s.generations.steps.Unlock()
	exit := s.exit.Load()
	switch current := s.generations.current(); {
	case current == nil: // gen has not started
	case current != gen:
		desktop.Commit(s.Workstations, current.workstations, current.mayConnect)
		for _, f := range current.gateway.features {
			if f.Activate != nil {
				f.Activate()
			}
		}
	case s.generations.several(): // a roll-back: nothing was activated
	case exit != nil && exit.limit > 0: // until its end
	case exit != nil:
		s.Workstations.EndAll(desktop.ReasonShutdown)
	default: // the new configuration has no gatehouse app: nothing serves open desktops any more
		desktop.Commit(s.Workstations, nil, gen.mayConnect)
	}
}

// Exit says that the process is about to exit. When its last configuration stops, open desktops end;
// with a limit they go on until the [Drain.Wait] of Drain returns. Only the first call counts.
func (s *State) Exit(limit time.Duration) { s.exit.CompareAndSwap(nil, newDrain(s, limit)) }

// Drain returns the exit of the process if desktops are open that may go on, else nil.
func (s *State) Drain() *Drain {
	if d := s.exit.Load(); d != nil && d.limit > 0 && s.Workstations.Open() > 0 {
		return d
	}
	return nil
}

// retire ends gen. After a roll-back the older generation is current again.
func (s *State) retire(gen *generation) {
	s.generations.steps.Lock()
	defer s.generations.steps.Unlock()
	s.generations.retire(gen)
	if current := s.generations.current(); current != nil {
		s.apply(current)
		s.events.subscribe(current.emitter, current.observed, current.logger)
	}
}

// limitsHash returns the hash of the limits of the current configuration, "" before the first.
func (s *State) limitsHash() string {
	if current := s.generations.current(); current != nil {
		return current.hash()
	}
	return ""
}

// InCluster reports whether the stores are those of a cluster.
func (s *State) InCluster() bool { return s.stores.inCluster() != nil }

// Close writes what is queued and closes the stores.
func (s *State) Close() error {
	s.events.close()
	return s.stores.close()
}

// Shutdown is for a process that is about to exit. It ends all calls and sessions, also those of
// older generations, and waits until the last reference to the State is released, so that their
// records are written. After the timeout it closes the stores without them and returns an error.
func (s *State) Shutdown(timeout time.Duration) error {
	s.Exit(0)
	s.Workstations.EndAll(desktop.ReasonShutdown)
	interrupted := s.generations.interrupt(request.ErrShutdown)
	select {
	case <-s.stores.closed:
		if interrupted {
			time.Sleep(lastWrites)
		}
		return nil
	case <-time.After(timeout):
		return errors.Join(errLate, s.Close())
	}
}

// lastWrites is for the HTTP server. It ends an answer after the call has finished, and Caddy does
// not wait for the servers of older configurations.
const lastWrites = 50 * time.Millisecond

var errLate = errors.New("calls did not end in time; their records are lost")
