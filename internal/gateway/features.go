package gateway

import (
	"context"
	"iter"
	"reflect"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// Feature is what a configuration has beside the core. Only Offers is required. The functions run in
// the order of the list, at the steps of generation.
type Feature struct {
	// Offers is what endpoints and modules can ask for, see [Offered] and [Parts].
	Offers any
	// Schemas are its tables in the database of the gateway.
	Schemas []store.Schema
	// Open reads what the database has of it, once a process: when the first configuration opens it.
	Open func(ctx context.Context, opened *store.Store) error
	// Start runs before the first call is let in. Its work in the background ends with ctx.
	Start func(ctx context.Context)
	// Apply makes its settings the valid ones: after Start, and again after a roll-back.
	Apply func()
	// Activate runs when the configuration before has stopped: what this one does not allow ends.
	Activate func()
	// Drain runs when the process exits, while the servers stop and before calls are interrupted.
	// What the feature has open ends; Drain may wait for it until ctx ends.
	Drain func(ctx context.Context)
	// Keys are keys beside those of the configuration.
	Keys KeySource
	// About adds what a key may know of it.
	About func(a *About, key *keys.Key)
	// Made is what people have made with it that outlives their tokens; nil: nothing.
	Made Made
	// MayUse reports whether a user whom the feature has signed in may still use a key.
	MayUse func(user, key string) bool
	// Status returns the states of its parts, for probes and operators.
	Status func() []report.PartStatus
	// Gauges are shown while its configuration is the current one.
	Gauges []metrics.Collector
}

// Made is what people have made by the rights of a role, such as keys.
type Made interface {
	// Owners yields the ID of a person and the name for display, for each thing.
	Owners() iter.Seq2[string, string]
	// EndOf ends all that a person has made, at all gateways, and returns how many things there
	// were.
	EndOf(ctx context.Context, person string) (n int, err error)
}

// Core is what the features of a configuration may use of it.
type Core struct {
	Ready      func(context.Context) error // see [Gateway.Ready]
	Callers    Callers
	Several    bool // the gateway is one of several
	Models     *models.Index
	Requests   *modelcall.Deps // its stores are there from Start on
	Desktops   *desktop.State  // tokens and sessions
	VNC        VNC
	Sessions   *vncsession.Deps      // what sessions of desktops use
	CatchUp    func(context.Context) // reads what other gateways have changed, if there are any
	Slots      *Slots                // for what outlives the configuration
	Replaced   <-chan struct{}       // closed when another configuration has replaced this one
	WarnOfDemo func(what string)
	Made       func() []Made // of all features, once they are there
}

// core returns what the features of g may use.
func core(g *Gateway) Core {
	return Core{
		Models: g.models, Requests: &g.requests, Desktops: g.state.Workstations, CatchUp: g.state.stores.catchUp, VNC: VNCOf(g), Slots: &g.state.slots, Replaced: g.generation.retired,
		WarnOfDemo: g.warnOfDemo, Sessions: &g.desktops.sessions,
		Ready: g.Ready, Callers: Callers{g}, Several: g.generation.cluster != nil, Made: g.made,
	}
}

// Offered returns the first part of a gateway that is a T.
func Offered[T any](g *Gateway) (part T, ok bool) {
	for _, offered := range g.Parts() {
		if part, ok := offered.(T); ok {
			return part, true
		}
	}
	return part, false
}

// Parts are what a gateway offers to the endpoints and modules of its configuration: each asks for
// what it needs by an interface of its own.
func (g *Gateway) Parts() []any { return g.parts }

func partsOffered(g *Gateway) []any {
	parts := []any{g, VNCOf(g), status{g}, g.keyring}
	for _, f := range g.features {
		parts = append(parts, f.Offers)
	}
	return parts
}

func (g *Gateway) made() (all []Made) {
	for _, f := range g.features {
		if f.Made != nil {
			all = append(all, f.Made)
		}
	}
	return all
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
