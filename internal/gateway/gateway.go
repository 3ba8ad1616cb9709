// Package gateway puts the parts of one configuration together. A [Gateway] is one configuration and
// never changes; what outlives it is the [State]. Requests are of package request,
// model calls of package modelcall:
//
//	err := g.Ready(ctx)                                              // 503
//	caller, err := g.Authenticate(secret, "")                        // 401
//	q, err := request.Begin(&requests, w, r, caller, route, ids)     // 503
//	defer q.Finish()                                                 // once, however it ends
//	err = q.Require(scope)                                           // 403
//	err = modelcall.Serve(g.Requests(), q, wire.Chat, api)           // the steps of a model call
package gateway

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/secret"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// Config is what one configuration says, checked and resolved.
type Config struct {
	Keyring      *keys.Keyring
	Catalog      *catalog.Catalog
	Providers    []*provider.Provider
	Aliases      []models.Alias
	Discover     []models.Discovery
	Issued       []models.Issued  // credentials of others than providers
	Workstations *desktop.Service // nil = no workstations
	// VNCCertificate returns why viewers find no valid certificate, nil if they do.
	VNCCertificate func() error
	// VNCCertificateEnds returns when that of viewers expires; the zero time without one.
	VNCCertificateEnds func() time.Time
	// Certificates returns those that clients are shown; it is called after Start only. nil = none.
	Certificates func() []report.Certificate
	Emitter      Emitter        // nil = no subscribers
	Observed     Observed       // nil = every event is
	Secrets      []string       // to be taken out of provider text
	SecretFiles  []*secret.File // whose values are, too; they are followed
	Cluster      Cluster        // nil = this gateway is the only one
	// Features are those of the configuration, in the order in which they start. It is called once.
	Features     func(Core) []Feature
	State        *State
	Limits       *policy.Limits
	Guardrails   *policy.Guardrails
	BodyMemory   int64    // bytes; see upload.MinMemory
	AnswerMemory int64    // bytes; see modelcall.MinAnswers
	Routes       []string // that requests can have, for metrics
	NoEndUser    bool     // see modelcall.Deps
	Timeouts     modelcall.Timeouts
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
	keyring  *keys.Keyring
	others   keySources // keys beside those of keyring
	models   *models.Index
	desktops vncParts
	state    *State
	logger   *zap.Logger
	now      func() time.Time

	requests   modelcall.Deps // its stores are set before generation.ready is closed
	calls      inflight.Set
	generation *generation
	demo       sync.Map // built-in parts that were warned of
	conditions conditions
	scrape     scrape
	features   []Feature
	parts      []any
}

// New returns a gateway that is provisioned and not started: no file is open, nothing runs.
func New(c Config) (*Gateway, error) {
	if err := c.State.stores.checkCluster(c.Cluster); err != nil {
		return nil, err
	}
	g := &Gateway{
		keyring:  c.Keyring,
		desktops: vncParts{workstations: c.Workstations}, conditions: conditions{certificate: c.VNCCertificate, certificates: c.Certificates}, state: c.State, logger: c.Logger, now: c.Now,
	}
	redactor := redact.New(c.Secrets, g.IsKey)
	for _, f := range c.SecretFiles {
		f.Follow(secret.Follow{Now: c.Now, Logger: c.Logger, Changed: redactor.Replace})
	}
	g.requests = modelcall.Deps{
		Deps: admission.Deps{Deps: request.Deps{
			Limits: c.Limits, Uploads: upload.Config{Memory: &c.State.Bodies.Semaphore, Spool: c.State.Bodies.Spool, Timeout: c.Timeouts.Body, Now: c.Now}, Write: c.Timeouts.Write,
			InFlight: &g.calls, Metrics: c.State.Metrics, Redactor: redactor, Logger: c.Logger,
			Sampled: sync.OnceValue(func() *zap.Logger { return c.Logger.WithOptions(zap.WrapCore(sample)) }), Now: c.Now,
		}, Guardrails: c.Guardrails, Concurrency: c.State.Concurrency, Exhausted: c.State.exhausted},
		Providers: c.Providers, Health: c.State.Health, Answers: &c.State.Answers,
		Timeouts: c.Timeouts, NoEndUser: c.NoEndUser, WarnOfDemo: g.warnOfDemo,
	}
	if err := errors.Join(c.Limits.Prepare(), c.Guardrails.Check()); err != nil {
		return nil, err
	}
	var err error
	if g.models, err = models.New(models.Config{
		Catalog: c.Catalog, Providers: c.Providers, Aliases: c.Aliases, Discover: c.Discover, Issued: c.Issued,
		Health: c.State.Health, Lists: &c.State.discovered, Redact: redactor.Text, RedactName: redactor.Name, Logger: c.Logger, Now: c.Now,
	}); err != nil {
		return nil, err
	}
	g.requests.Models = g.models
	g.generation = &generation{
		opening: opening{cluster: c.Cluster, logger: c.Logger},
		gateway: g, calls: &g.calls, hash: sync.OnceValue(c.Limits.Hash),
		bodyMemory: c.BodyMemory, answerMemory: c.AnswerMemory, emitter: c.Emitter, observed: c.Observed,
		workstations: c.Workstations, mayConnect: mayConnectWith(g),
		ready: make(chan struct{}), retired: make(chan struct{}),
	}
	g.desktops.sessions = vncsession.Deps{Metrics: c.State.Metrics, Logger: c.Logger, Redact: redactor.Text, Now: c.Now}
	if c.Features != nil {
		g.features = c.Features(core(g))
	}
	for _, f := range g.features {
		if f.Keys != nil {
			g.others = append(g.others, f.Keys)
		}
	}
	g.parts = partsOffered(g)
	g.generation.features, g.generation.hard = g.features, c.Limits.Hard() || c.Limits.Made != nil || c.Limits.People != nil
	g.scrape = newScrape(g, &c)
	g.state.provision(g.generation, c.Reacquire, c.Release)
	return g, nil
}

// sample lets five equal lines a second through, then every hundredth.
func sample(core zapcore.Core) zapcore.Core {
	return zapcore.NewSamplerWithOptions(core, time.Second, 5, 100)
}

// Start opens the stores, unless an older generation has opened them, makes this generation the
// current one and lets calls in. Background work ends with ctx.
func (g *Gateway) Start(ctx context.Context, keep activity.Retention) error {
	g.generation.keep, g.generation.begun = keep, g.now()
	opened, err := g.state.open(ctx, g.generation, g.now)
	if err != nil {
		return err
	}
	g.requests.Activity, g.requests.Owners, g.requests.Rates, g.requests.Ledger = opened.Log, opened.Owners, opened.Rates, opened.Ledger
	if g.desktops.workstations != nil {
		startWorkstations(ctx, g.desktops.workstations, g.logger) // gateways of a cluster keep records in the stores
	}
	for _, f := range g.features {
		if f.Start != nil {
			f.Start(ctx)
		}
	}
	g.state.start(g.generation)
	g.state.Health.RetryLasting("") // this configuration may have another credential
	if err := warnOfUnnamed(ctx, opened.Ledger, g.now(), g.requests.Limits.Subjects(), g.others, g.logger); err != nil {
		return err
	}
	g.state.Metrics.Prepare(g.scrape.names)
	g.models.Start(ctx)
	close(g.generation.ready)
	return nil
}

// Ready waits until the gateway has started: Caddy starts its apps in no fixed order, so requests can
// come first.
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
func (g *Gateway) Subscribe() {
	g.state.events.subscribe(g.generation.emitter, g.generation.observed, g.logger)
}

// Stop activates the newer generation that has replaced this one. See [State.Exit] for a process that exits.
func (g *Gateway) Stop() { g.state.stop(g.generation) }

// Drain ends what the features have open, for a process that exits. It returns when that has ended,
// or ctx has. Calls go on.
func (g *Gateway) Drain(ctx context.Context) {
	for _, f := range g.features {
		if f.Drain != nil {
			f.Drain(ctx)
		}
	}
}

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

// warnOfDemo warns once of a part that is built in for trying out ("the test provider") and serves more
// than this machine.
func (g *Gateway) warnOfDemo(what string) {
	if _, warned := g.demo.LoadOrStore(what, true); !warned {
		g.logger.Warn(what+" is used through an address that is not loopback; it is built in for trying out", zap.String("what", what))
	}
}

// Models are those of this configuration.
func (g *Gateway) Models() *models.Index { return g.models }

// Requests are the parts that requests use, for [request.Begin]. Its stores are there once Ready has
// returned.
func (g *Gateway) Requests() *modelcall.Deps { return &g.requests }
