// Package caddykit is what all of Gatehouse's Caddy modules share: how a module finds the gateway,
// and how options of a Caddyfile block are read. It is the only package under internal that imports
// Caddy.
package caddykit

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// AppName is the name of the app, of its global option and of its CLI command.
const AppName = "gatehouse"

// App is the interface of the gatehouse app for the other modules.
type App interface {
	Gateway() *gateway.Gateway
	// Listens returns an error if a server may not listen at these addresses, because another process
	// does.
	Listens(addresses []string) error
}

// ErrNoApp is the load error of a configuration that uses Gatehouse's handlers without the global
// option.
var ErrNoApp = errors.New("the global option gatehouse { … } is missing")

// exiting is the app with which the process exits, nil until then.
var exiting atomic.Pointer[App]

// Exit notes the app of the last configuration of a process that exits: no configuration is active
// from then on.
func Exit(a App) { exiting.Store(&a) }

// Exiting returns the app with which the process exits, nil if it does not.
func Exiting() App {
	if a := exiting.Load(); a != nil {
		return *a
	}
	return nil
}

// Running returns the gateway of the active configuration, or of the last one while the process exits.
// The error is [caddy.ErrNotConfigured] if that has none.
func Running() (*gateway.Gateway, error) {
	if a := Exiting(); a != nil {
		return a.Gateway(), nil
	}
	module, err := caddy.ActiveContext().AppIfConfigured(AppName)
	if err != nil {
		return nil, err
	}
	return module.(App).Gateway(), nil
}

// Gateway returns the gateway of the configuration that is being loaded, for a handler of a server that may
// listen. It never creates one.
func Gateway(ctx caddy.Context) (*gateway.Gateway, error) {
	module, err := ctx.AppIfConfigured(AppName)
	if errors.Is(err, caddy.ErrNotConfigured) {
		return nil, ErrNoApp
	}
	if err != nil {
		return nil, err
	}
	app, ok := module.(App)
	if !ok {
		return nil, fmt.Errorf("the app %q is a %T, which has no gateway", AppName, module)
	}
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		if err := app.Listens(server.Listen); err != nil {
			return nil, err
		}
	}
	return app.Gateway(), nil
}
