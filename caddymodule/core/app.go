// Package core is the gatehouse app and its global option, with the HTTP handlers and the layer-4
// handler of the core: keys, limits, model calls, activity and desktops.
package core

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyevents"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/inspect"
	"github.com/gatehouse-proxy/gatehouse/handlers" // registers the HTTP handlers too
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	_ "github.com/gatehouse-proxy/gatehouse/l4vnc" // the layer-4 handler
)

func init() {
	caddy.RegisterModule(App{})
}

// App is the gatehouse app: a gateway to model providers, for clients of OpenAI's, OpenRouter's,
// Anthropic's and Google's APIs and of MCP, and to the desktops of workstations, for native VNC
// viewers. The HTTP handlers (http.handlers.gatehouse and its single endpoints) and the layer-4
// handler vnc get from it what they need.
type App struct {
	Settings
	features features

	ctx         caddy.Context
	logger      *zap.Logger
	state       *gateway.State
	stateDir    string // of state; "" until a reference to it is held
	gateway     *gateway.Gateway
	certificate *certificate  // nil without VNC
	presented   []certificate // set before the gateway starts
	credentials *heldCredentials
	manyKeys    bool
	end         func() error // ends the gateway, once
	leaves      leaving      // what ends with the process
}

// UnmarshalJSON reads the members of the core and of the features.
func (a *App) UnmarshalJSON(text []byte) error {
	a.features = newFeatures(InApp)
	return a.features.decode(InApp, text, &a.Settings)
}

// MarshalJSON is the reverse of UnmarshalJSON.
func (a *App) MarshalJSON() ([]byte, error) { return a.features.encode(&a.Settings) }

// JSONShape returns the core's part of the members.
func (App) JSONShape() any { return Settings{} }

// CaddyModule returns the module's information.
func (App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: caddykit.AppName, New: func() caddy.Module { return new(App) }}
}

// Parts implements [caddykit.App].
func (a *App) Parts() []any { return a.gateway.Parts() }

// Listens implements [caddykit.App]. A server that has begun to listen would take connections of
// the other process until it has ended. Commands such as validate may run beside a gateway.
func (a *App) Listens(addresses []string) error {
	if a.SharePorts || len(os.Args) < 2 || os.Args[1] != "run" {
		return nil
	}
	return freePorts(addresses)
}

// Provision checks the configuration and makes the gateway. It only reads files, and changes
// nothing that outlives a failed load.
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx, a.logger, a.credentials = ctx, ctx.Logger(), new(heldCredentials)
	if a.features == nil { // there is no JSON of it
		a.features = newFeatures(InApp)
	}
	if err := a.placeholders(); err != nil {
		return err
	}
	dir, err := filepath.Abs(a.dataDir())
	if err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	if a.state, err = acquireState(dir); err != nil {
		return err
	}
	a.stateDir = dir
	if err := a.state.Metrics.Register(ctx.GetMetricsRegistry()); err != nil {
		return fmt.Errorf("registering metrics: %w", err)
	}
	if a.Keys, err = withKeyFiles(a.Keys, a.KeyFiles); err != nil {
		return err
	}
	if _, err := a.Activity.build(); err != nil {
		return err
	}
	b, err := a.build()
	if err != nil {
		return err
	}
	config := &b.Config
	if a.VNC != nil {
		if a.certificate, err = newCertificate(ctx, a.VNC.Domain); err != nil {
			return err
		}
		config.VNCCertificate, config.VNCCertificateEnds = a.certificate.check, a.certificate.ends
	}
	if config.Emitter, config.Observed, err = a.events(); err != nil {
		return err
	}
	config.Certificates = func() []report.Certificate { return presented(a.presented) }
	config.Release, config.Reacquire = a.releaseState, a.reacquireState
	config.Routes = handlers.RouteNames()
	inspect.Provisioned(func() *inspect.Config { return inspected(a, b) })
	a.gateway, err = gateway.New(*config)
	a.end = sync.OnceValue(a.endOnce)
	// The gateway has what it needs of them; without this every key would be in memory twice.
	a.manyKeys = len(a.Keys) >= manyKeys
	a.Keys, a.Tenants, a.Models = nil, nil, nil
	return err
}

// placeholders refuses those that nothing replaces.
func (a *App) placeholders() error {
	if err := caddykit.CheckPlaceholders(a); err != nil {
		return err
	}
	if a.VNC != nil {
		return errors.Join(a.features.checkPlaceholders(), a.VNC.features.checkPlaceholders())
	}
	return a.features.checkPlaceholders()
}

// dataDir returns the folder of the database.
func (a *App) dataDir() string {
	if a.DataDir != "" {
		return a.DataDir
	}
	return filepath.Join(caddy.AppDataDir(), "gatehouse")
}

// manyKeys is from how many keys on a load leaves garbage that is worth a collection: tens of MiB.
const manyKeys = 10_000

// events returns what hands events to Caddy's event app, and what reports whether that has a
// subscriber for them. It also subscribes onStarted to the event that all apps have started.
func (a *App) events() (gateway.Emitter, gateway.Observed, error) {
	module, err := a.ctx.App("events")
	if err != nil {
		return nil, nil, err
	}
	app := module.(*caddyevents.App)
	if err := errors.Join(app.On("started", onStarted{a}), app.On("stopping", onStopping{a})); err != nil {
		return nil, nil, err
	}
	return func(name string, data map[string]any) { app.Emit(a.ctx, name, data) }, app.ShouldEmit, nil
}

// Start opens the stores and lets calls in.
func (a *App) Start() error {
	keep, err := a.Activity.build() // Provision has checked it
	if err != nil {
		return err
	}
	if !a.SharePorts {
		if err := freeServers(a.ctx); err != nil {
			return err
		}
	}
	// When the process exits, Caddy cleans up its modules in no fixed order, and that of tracing
	// may wait long for its collector. Calls must not wait for it too.
	context.AfterFunc(a.ctx, func() {
		if caddy.Exiting() {
			_ = a.end() // Cleanup returns the error
		}
	})
	a.presented = presentedNames(a.ctx, a.certificate)
	err = a.gateway.Start(a.ctx, keep)
	if err == nil && started.CompareAndSwap(false, true) {
		logVersion(a.logger)
	}
	return err
}

// atStart runs when all apps of a configuration have started.
var atStart []func(ctx caddy.Context, logger *zap.Logger)

// AtStart adds what runs when all apps of a configuration have started. It must be called before
// the program begins.
func AtStart(f func(ctx caddy.Context, logger *zap.Logger)) { atStart = append(atStart, f) }

// onStarted does what needs the other apps. They start in no fixed order, and the event app must
// not be used while it starts. The TLS app uses it when it begins to manage a certificate.
type onStarted struct{ app *App }

// Handle runs when all apps of the configuration have started.
func (s onStarted) Handle(context.Context, caddy.Event) error {
	a := s.app
	a.gateway.Subscribe()
	for _, f := range atStart {
		f(a.ctx, a.logger)
	}
	if a.certificate != nil {
		if err := a.certificate.manage(); err != nil {
			a.logger.Error("viewers will find no certificate", zap.Error(err))
		}
	}
	if a.manyKeys {
		debug.FreeOSMemory() // calls are served while it collects
	}
	return nil
}

// Stop activates the newer configuration, if there is one. Calls under way go on, and so do
// sessions that the newer one allows. The background work of this one ends with its context.
func (a *App) Stop() error {
	a.gateway.Stop()
	return nil
}

// Cleanup retires the gateway, which releases the State after the last call of this configuration.
// Caddy also calls it after a Provision that has failed.
func (a *App) Cleanup() error {
	if a.stateDir == "" {
		return nil
	}
	if a.gateway == nil {
		a.credentials.release()
		return releaseState(a.stateDir)
	}
	return a.end()
}

// releaseState runs after the last call.
func (a *App) releaseState() {
	a.credentials.release()
	if err := releaseState(a.stateDir); err != nil {
		a.logger.Error("closing the store failed", zap.Error(err))
	}
}

// reacquireState is for a call that comes after releaseState.
func (a *App) reacquireState() bool { return reacquireState(a.stateDir, a.state) }

var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
	_ caddykit.App       = (*App)(nil)
)
