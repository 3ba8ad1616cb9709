package gateway

import (
	"context"
	"reflect"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// Feature is what a configuration has beside the core. Only Part is required. The functions run in
// the order of the list, at the steps of generation.
type Feature struct {
	// Part is what the feature offers to endpoints and modules, see [Offered] and [Parts].
	Part any
	// Start runs before the first call is let in. Its work in the background ends with ctx.
	Start func(ctx context.Context)
	// Apply makes its settings the valid ones: after Start, and again after a roll-back.
	Apply func()
	// Status returns the states of its parts, for probes and operators.
	Status func() []Part
	// Gauges are shown while its configuration is the current one.
	Gauges []metrics.Collector
}

// Core is what the features of a configuration may use of it.
type Core struct {
	Requests   *modelcall.Deps // its stores are there from Start on
	VNC        VNC
	Sessions   *vncsession.Deps // what sessions of desktops use
	Slots      *Slots           // for what outlives the configuration
	Replaced   <-chan struct{}  // closed when another configuration has replaced this one
	WarnOfDemo func(what string)
	Shared     func() Shared // nil without a cluster, and before Start
	// CallerOf returns the caller that has once shown a secret of this SHA-256 (hex), as its key is now.
	CallerOf func(tenant, key, secretHash string) (request.Caller, error)
	// AnyCaller reports whether ok holds for that caller in a configuration that has started and is not
	// retired.
	AnyCaller func(tenant, key, secretHash string, ok func(request.Caller) bool) bool
}

// core returns what the features of g may use.
func core(g *Gateway) Core {
	return Core{
		Requests: &g.requests, VNC: g.VNC(), Slots: &g.state.slots, Replaced: g.generation.retired,
		WarnOfDemo: g.warnOfDemo, Shared: g.state.stores.inCluster, CallerOf: g.callerOf, Sessions: &g.desktops.sessions,
		AnyCaller: func(tenant, key, secretHash string, ok func(request.Caller) bool) bool {
			return g.state.generations.any(func(other *Gateway) bool {
				caller, err := other.callerOf(tenant, key, secretHash)
				return err == nil && ok(caller)
			})
		},
	}
}

// Offered returns the first part of a gateway that is a T.
func Offered[T any](g *Gateway) (part T, ok bool) {
	for _, offered := range Parts(g) {
		if part, ok := offered.(T); ok {
			return part, true
		}
	}
	return part, false
}

// Parts are what a gateway offers to the modules of its configuration: each asks for what it needs
// by an interface of its own.
func Parts(g *Gateway) []any {
	parts := []any{g, g.VNC(), ForConsole(g)}
	for _, f := range g.features {
		parts = append(parts, f.Part)
	}
	return parts
}

// Slots keep what features have in a [State]: one value of each type.
type Slots struct {
	mu   sync.Mutex // guards the following
	kept map[reflect.Type]any
}

// Kept returns the value of a type, which first makes once.
func Kept[T any](s *Slots, first func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := reflect.TypeFor[T]()
	value, found := s.kept[of].(T)
	if !found {
		if s.kept == nil {
			s.kept = map[reflect.Type]any{}
		}
		value = first()
		s.kept[of] = value
	}
	return value
}
