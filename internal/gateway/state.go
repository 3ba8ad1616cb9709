package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// State is everything that outlives a configuration: the activity store, the
// owners of stored responses, the metrics' values, the memory that request
// bodies hold, the lists that providers gave of their models, the tokens and
// sessions of workstations, and the VNC connections in their handshake. There is one for each
// data directory in a process. Making one costs nothing: no file is opened and
// nothing runs before the first Start.
type State struct {
	Metrics      *metrics.Metrics
	Memory       Memory
	Workstations *workstation.State
	ConnLimiter  *connlimit.Limiter
	Concurrency  *limits.ConcurrencyLimiter // calls at once

	exhausted exhausted

	events *events

	dir string

	mu      sync.Mutex // guards the following
	store   *store.Store
	log     *activity.Log
	own     *owners.Owners
	pruner  *activity.Pruner
	rates   *limits.Rates
	ledger  *limits.SQLiteLedger
	known   map[string][]catalog.Model // discovered models by provider name and base URL
	running map[*Gateway]struct{}      // configurations that are open or have calls under way
	started []*Gateway                 // configurations that have started and are not closed, oldest first

	closed chan struct{} // closed by Close
	once   sync.Once     // for closed
}

// NewState returns the State of a data directory.
func NewState(dir string, now func() time.Time) *State {
	s := &State{
		Workstations: workstation.NewState(now), ConnLimiter: connlimit.New(now), Concurrency: limits.NewConcurrencyLimiter(), events: newEvents(), dir: dir,
		known: make(map[string][]catalog.Model), running: make(map[*Gateway]struct{}), closed: make(chan struct{}),
	}
	s.Metrics = metrics.New(metrics.Gauges{
		ActivityLost: s.lost, InFlight: s.inFlight,
		Sessions: func() float64 { return float64(s.Workstations.Open()) },
		HalfOpen: func() float64 { return float64(s.ConnLimiter.Pending()) },
	})
	return s
}

// open opens the store unless it is open, applies g's retention and memory
// bound, and hands g what it opened.
func (s *State) open(ctx context.Context, g *Gateway) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		pruner := activity.NewPruner(g.now, g.keep)
		opened, err := store.Open(s.dir, store.Options{
			Schemas: []store.Schema{activity.Schema, owners.Schema, limits.LedgerSchema, limits.RateSchema},
			Prune:   []store.PruneFunc{pruner.Prune, owners.Prune(g.now), limits.PruneLedger(g.now), limits.PruneRates(g.now)},
			Logger:  g.logger,
			Health:  reportHealth(g.logger),
		})
		if err != nil {
			return err
		}
		rates, err := limits.NewRates(ctx, opened, g.now)
		if err != nil {
			return errors.Join(fmt.Errorf("rates: %w", opened.Explain(err)), opened.Close())
		}
		ledger, crashed, err := limits.OpenSQLiteLedger(ctx, opened)
		if err != nil {
			return errors.Join(fmt.Errorf("ledger: %w", opened.Explain(err)), opened.Close())
		}
		s.store, s.log, s.own, s.pruner = opened, activity.New(opened), owners.New(opened, g.now), pruner
		s.rates, s.ledger = rates, ledger
		s.recordCrashes(g, crashed)
	}
	g.log, g.own, g.rates, g.ledger = s.log, s.own, s.rates, s.ledger
	s.started = append(s.started, g)
	s.settle()
	return nil
}

// commit makes the newest configuration final, when an older one, g, is
// stopped: what the newest no longer has is revoked. Where the newest itself is
// stopped, because another app of its could not start, nothing is; and where
// the only one is, nobody is left to answer for open desktops.
func (s *State) commit(g *Gateway, exiting bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch newest := s.last(); {
	case newest == nil:
	case newest != g:
		s.Workstations.Commit(newest.workstations, newest.mayConnect)
	case len(s.started) > 1: // a roll-back
	case exiting:
		s.Workstations.EndAll(workstation.ReasonShutdown)
	default:
		s.Workstations.Commit(nil, g.mayConnect)
	}
}

// retire ends g's time as the newest configuration. Where that was because
// another app of its could not start, the one before is current again.
func (s *State) retire(g *Gateway) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = slices.DeleteFunc(s.started, func(other *Gateway) bool { return other == g })
	s.settle()
	if newest := s.last(); newest != nil {
		s.events.subscribe(newest.emitter, newest.logger)
	}
}

// newest is the current configuration, nil before the first has started.
func (s *State) newest() *Gateway {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last()
}

// last is newest with mu held.
func (s *State) last() *Gateway {
	if len(s.started) == 0 {
		return nil
	}
	return s.started[len(s.started)-1]
}

// settle applies what the newest configuration says; mu is held.
func (s *State) settle() {
	newest := s.last()
	if newest == nil {
		return
	}
	s.pruner.Set(newest.keep)
	s.Memory.SetLimit(newest.bodyMemory)
}

func reportHealth(logger *zap.Logger) func(error) {
	return func(err error) {
		if err != nil {
			logger.Error("the activity store cannot be written; calls go on, their records are dropped and counted", zap.Error(err))
			return
		}
		logger.Info("the activity store can be written again")
	}
}

// Close writes what is queued and closes the store.
func (s *State) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.once.Do(func() { close(s.closed) })
	s.events.close()
	if s.store == nil {
		return nil
	}
	err := s.store.Close()
	if errors.Is(err, store.ErrClosed) {
		err = nil
	}
	return err
}

// Shutdown is for a process that is about to exit. It ends every call under
// way, of older configurations too, and waits until the last one has let go of
// the State, so that their records are written; after patience it closes the
// store without them and says so.
func (s *State) Shutdown(patience time.Duration) error {
	s.mu.Lock()
	running := slices.Collect(maps.Keys(s.running))
	s.mu.Unlock()
	s.Workstations.EndAll(workstation.ReasonShutdown)
	interrupted := false
	for _, g := range running {
		interrupted = g.calls.Interrupt(errShutdown) || interrupted
	}
	select {
	case <-s.closed:
		if interrupted {
			time.Sleep(lastWords)
		}
		return nil
	case <-time.After(patience):
		return errors.Join(errLate, s.Close())
	}
}

// lastWords is for the HTTP server, which ends an answer after its call has
// finished, and for whose older configurations Caddy does not wait.
const lastWords = 50 * time.Millisecond

var errLate = errors.New("calls did not end in time; their records are lost")

func (s *State) lost() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.store == nil {
		return 0
	}
	return float64(s.store.Dropped())
}

func (s *State) inFlight() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	calls := 0
	for g := range s.running {
		calls += g.calls.Len()
	}
	return float64(calls)
}

func (s *State) attach(g *Gateway) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[g] = struct{}{}
}

func (s *State) detach(g *Gateway) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, g)
}

// keepDiscovered remembers a provider's list for the next configuration: after
// a reload the models must not vanish until the provider is asked again.
func (s *State) keepDiscovered(p *provider.Provider, models []catalog.Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[p.Identity()] = models
}

func (s *State) discovered(p *provider.Provider) []catalog.Model {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[p.Identity()]
}
