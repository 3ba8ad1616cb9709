// Package gateway wires the rooms together and holds the life of one call:
//
//	credential, err := g.Authenticate(secret)     // 401
//	call, err := g.Begin(credential, route, ids)  // 503
//	defer call.Finish()                           // exactly once, whatever happens
//	err = call.Require(scope)                     // 403
//	body, err := call.ReadBody(w, r)              // 413, 415, 429, 400
//	err = call.Admit(ctx, provider.Chat, model)   // 404, 503
//	body, err = call.AdmitText(ctx, body)         // 422, 503, 400
//	resp, err := call.Send(r.Context(), …)        // 502
//
// The order is the order of checks: nothing later runs after a refusal. A
// [Gateway] is one configuration and never changes; what outlives it is the
// [State].
package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// Timeouts of a call. All are positive.
type Timeouts struct {
	Body   time.Duration // for the request's body to arrive
	Header time.Duration // for the provider's answer to begin
	Idle   time.Duration // between two reads of the provider's answer
	// Commit is how long a stream may be silent at its start before the
	// gateway answers 200 and keeps the line open with comments.
	Commit time.Duration
	// Heartbeat is the longest silence within a stream to the client.
	Heartbeat time.Duration
}

// DefaultTimeouts follow the SDKs, which wait 600 s for an answer.
var DefaultTimeouts = Timeouts{
	Body:      2 * time.Minute,
	Header:    10 * time.Minute,
	Idle:      5 * time.Minute,
	Commit:    20 * time.Second,
	Heartbeat: 15 * time.Second,
}

// Config is what one configuration says, checked and resolved.
type Config struct {
	Keyring      *keys.Keyring
	Catalog      *catalog.Catalog
	Providers    []*provider.Provider
	Discover     []Discovery
	Workstations *workstation.Service // nil = no workstations
	Emitter      Emitter              // nil = no subscribers
	Secrets      []string             // to be taken out of provider text
	State        *State
	Limits       Limits
	Guards       Guards
	BodyMemory   int64 // bytes; see DefaultBodyMemory
	Timeouts     Timeouts
	Logger       *zap.Logger
	Now          func() time.Time
	// Release gives the reference to State back. It runs when the configuration is closed and its
	// last call has finished, and then for each Reacquire.
	Release func()
	// Reacquire takes the reference again, for a call that comes after Release. It returns false if
	// State is closed.
	Reacquire func() bool
}

// Gateway is one configuration at work.
type Gateway struct {
	keyring      *keys.Keyring
	catalog      *catalog.Catalog
	providers    map[string]*provider.Provider
	discovery    *discovery
	workstations *workstation.Service
	redactor     *redact.Redactor
	state        *State
	limits       Limits
	guards       Guards
	sets         sets
	timeouts     Timeouts
	logger       *zap.Logger
	sampled      func() *zap.Logger // made when it is needed: its counters have 0.7 MiB
	now          func() time.Time

	demo       sync.Map // what was warned of
	calls      inflight.Set
	generation *generation
	tables     // set before generation.ready is closed
}

// New returns a gateway that is provisioned and not started: no file is open, nothing runs.
func New(c Config) (*Gateway, error) {
	g := &Gateway{
		keyring: c.Keyring, catalog: c.Catalog, providers: make(map[string]*provider.Provider, len(c.Providers)),
		workstations: c.Workstations, redactor: redact.New(c.Secrets, c.Keyring.IsSecret),
		state: c.State, limits: c.Limits, guards: c.Guards, timeouts: c.Timeouts, logger: c.Logger, now: c.Now,
		sampled: sync.OnceValue(func() *zap.Logger { return c.Logger.WithOptions(zap.WrapCore(sample)) }),
	}
	if err := errors.Join(g.limits.check(), g.guards.check()); err != nil {
		return nil, err
	}
	for _, p := range c.Providers {
		if _, twice := g.providers[p.Name]; twice {
			return nil, fmt.Errorf("provider %q is configured twice", p.Name)
		}
		g.providers[p.Name] = p
	}
	g.discovery = newDiscovery(c.Discover, c.Catalog, &c.State.discovered, g.redactor.Text, c.Logger)
	g.generation = &generation{
		gateway: g, calls: &g.calls, bodyMemory: c.BodyMemory, emitter: c.Emitter, logger: c.Logger,
		workstations: c.Workstations, mayConnect: mayConnect(c.Keyring, c.Now),
		ready: make(chan struct{}), retired: make(chan struct{}),
	}
	g.state.provision(g.generation, c.Reacquire, c.Release)
	return g, nil
}

// sample lets five equal lines a second through, then every hundredth.
func sample(core zapcore.Core) zapcore.Core {
	return zapcore.NewSamplerWithOptions(core, time.Second, 5, 100)
}

// Start opens the stores, unless an older generation has opened them, makes this generation the
// current one and lets calls in. Background work ends with ctx.
func (g *Gateway) Start(ctx context.Context, keep activity.Retention) (err error) {
	g.generation.keep = keep
	if g.workstations != nil {
		startWorkstations(ctx, g.workstations, g.logger)
	}
	if g.tables, err = g.state.start(ctx, g.generation, g.now); err != nil {
		return err
	}
	if err := warnOfUnnamed(ctx, g.ledger, g.now(), g.limits.subjects(), g.logger); err != nil {
		return err
	}
	g.discovery.start(ctx)
	close(g.generation.ready)
	return nil
}

// Ready waits until the gateway has started: Caddy starts its apps in no fixed
// order, so requests can be there first.
func (g *Gateway) Ready(ctx context.Context) error {
	select {
	case <-g.generation.ready:
		return nil
	default:
	}
	select {
	case <-g.generation.ready:
		return nil
	case <-g.generation.retired:
		return apierror.New(apierror.ShuttingDown, "the gateway did not start")
	case <-ctx.Done():
		return apierror.New(apierror.ClientGone, "the client left").WithCause(ctx.Err())
	}
}

// Subscribe sends events to the subscribers of this configuration from now on. It is called when
// all apps of the configuration have started.
func (g *Gateway) Subscribe() { g.state.events.subscribe(g.generation.emitter, g.logger) }

// Stop activates the newer generation that has replaced this one. Without one, exiting says whether
// open desktops end because the process does.
func (g *Gateway) Stop(exiting bool) { g.state.stop(g.generation, exiting) }

// Close retires the generation. Calls under way go on; the reference to the State is released after
// the last one. A Ready that waits for a start ends.
func (g *Gateway) Close() {
	close(g.generation.retired)
	g.state.retire(g.generation)
	g.calls.Close()
}

// Current returns the gateway that serves new connections: this one until Close, then the newest
// one. The listener of a configuration that failed to start may still accept connections. Current
// returns nil if there is none.
func (g *Gateway) Current() *Gateway {
	select {
	case <-g.generation.retired:
	default:
		return g
	}
	if current := g.state.generations.current(); current != nil {
		return current.gateway
	}
	return nil
}

// WarnOfDemo warns, once, that something built in for trying out ("the test
// provider") serves more than this machine.
func (g *Gateway) WarnOfDemo(what string) {
	if _, warned := g.demo.LoadOrStore(what, true); !warned {
		g.logger.Warn(what+" is used through an address that is not loopback; it is built in for trying out", zap.String("what", what))
	}
}

// Timeouts are the configured ones.
func (g *Gateway) Timeouts() Timeouts { return g.timeouts }

// Now is the gateway's clock.
func (g *Gateway) Now() time.Time { return g.now() }

// Unauthenticated counts and logs a request without a valid key. It leaves no
// record, and its log is sampled: such requests cost an attacker nothing.
func (g *Gateway) Unauthenticated(route string, fields ...zap.Field) {
	g.state.Metrics.Unauthenticated(route)
	g.sampled().Warn("request without a valid key", append(fields, zap.String("route", route))...)
}

// Redact takes every known secret out of provider text, and the caller's own,
// of which the configuration may know only the hash.
func (g *Gateway) Redact(text, own string) string {
	if len(own) >= keys.MinSecret {
		text = strings.ReplaceAll(text, own, redact.Mark)
	}
	return g.redactor.Text(text)
}

// Activity is the log of calls.
func (g *Gateway) Activity() *activity.Log { return g.log }
