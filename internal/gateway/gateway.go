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
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
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

// Discovery is a provider whose own list of models is read at an interval.
type Discovery struct {
	Provider *provider.Provider
	Every    time.Duration
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
	// Released runs when the configuration is closed and its last call has
	// finished: the reference to State can be let go.
	Released func()
	// Hold takes the reference again, for a call that comes after Released;
	// it is false when State is closed.
	Hold func() bool
}

// Gateway is one configuration at work.
type Gateway struct {
	keyring      *keys.Keyring
	catalog      *catalog.Catalog
	providers    map[string]*provider.Provider
	discover     map[string]*discovery // by provider
	workstations *workstation.Service
	emitter      Emitter
	redactor     *redact.Redactor
	state        *State
	limits       Limits
	guards       Guards
	sets         sets
	bodyMemory   int64
	keep         activity.Retention // set by Start
	timeouts     Timeouts
	logger       *zap.Logger
	sampled      func() *zap.Logger // made when it is needed: its counters have 0.7 MiB
	now          func() time.Time

	demo  sync.Map // what was warned of
	calls inflight.Set
	ready chan struct{} // closed by Start
	gone  chan struct{} // closed by Close
	log   *activity.Log // set before ready is closed
	own   *owners.Owners

	rates  *limits.Rates // set before ready is closed
	ledger limits.Ledger
}

// New returns a gateway that is not started: no file is open, nothing runs.
func New(c Config) (*Gateway, error) {
	g := &Gateway{
		keyring: c.Keyring, catalog: c.Catalog, providers: make(map[string]*provider.Provider, len(c.Providers)),
		discover: make(map[string]*discovery, len(c.Discover)), workstations: c.Workstations, emitter: c.Emitter, redactor: redact.New(c.Secrets, c.Keyring.IsSecret), state: c.State, limits: c.Limits, guards: c.Guards, bodyMemory: c.BodyMemory,
		timeouts: c.Timeouts, logger: c.Logger, now: c.Now,
		sampled: sync.OnceValue(func() *zap.Logger { return c.Logger.WithOptions(zap.WrapCore(sample)) }),
		ready:   make(chan struct{}), gone: make(chan struct{}),
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
	for _, d := range c.Discover {
		g.discover[d.Provider.Name] = &discovery{Discovery: d, firstAnswer: make(chan struct{})}
	}
	g.calls.Init(func() bool {
		if !c.Hold() {
			return false
		}
		g.state.attach(g)
		return true
	}, func() {
		g.state.detach(g)
		c.Released()
	})
	g.state.attach(g)
	return g, nil
}

// sample lets five equal lines a second through, then every hundredth.
func sample(core zapcore.Core) zapcore.Core {
	return zapcore.NewSamplerWithOptions(core, time.Second, 5, 100)
}

// Start opens the store (unless an older configuration has it open already)
// and lets calls in. Background work ends with ctx.
func (g *Gateway) Start(ctx context.Context, keep activity.Retention) error {
	g.keep = keep
	if g.workstations != nil {
		g.startWorkstations(ctx)
	}
	if err := g.state.open(ctx, g); err != nil {
		return err
	}
	if err := g.warnOfUnnamed(ctx); err != nil {
		return err
	}
	for _, d := range g.discover {
		known := g.state.discovered(d.Provider)
		if known != nil {
			g.catalog.SetDiscovered(d.Provider.Name, known)
		}
		go g.keepDiscovering(ctx, d, known != nil)
	}
	close(g.ready)
	return nil
}

// Ready waits until the gateway has started: Caddy starts its apps in no fixed
// order, so requests can be there first.
func (g *Gateway) Ready(ctx context.Context) error {
	select {
	case <-g.ready:
		return nil
	default:
	}
	select {
	case <-g.ready:
		return nil
	case <-g.gone:
		return apierror.New(apierror.ShuttingDown, "the gateway did not start")
	case <-ctx.Done():
		return apierror.New(apierror.ClientGone, "the client left").WithCause(ctx.Err())
	}
}

// Started makes the configuration's subscribers to events the current ones. It is called
// when all apps of the configuration have started.
func (g *Gateway) Started() { g.state.events.subscribe(g.emitter, g.logger) }

// Stop tells the State that this configuration was replaced.
func (g *Gateway) Stop(exiting bool) { g.state.commit(g, exiting) }

// InForce is the gateway itself, or, once it is closed, the newest one: a
// listener of a configuration that failed to start may still take connections.
// It is nil when there is none.
func (g *Gateway) InForce() *Gateway {
	select {
	case <-g.gone:
		return g.state.newest()
	default:
		return g
	}
}

// mayConnect tells whether a key may still open the desktops that it asked for,
// by the secret with which it asked.
func (g *Gateway) mayConnect(by workstation.Issuer) bool {
	key, ok := g.keyring.Holding(by.KeyHash)
	return ok && key.Name == by.Key && key.Tenant == by.Tenant && key.Has(keys.WorkstationsConnect) && key.Valid(g.now())
}

// Close lets no-one wait any more for a start that will not come, and releases
// the State as soon as the last call has finished. Calls under way go on.
func (g *Gateway) Close() {
	close(g.gone)
	g.state.retire(g)
	g.calls.Close()
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
