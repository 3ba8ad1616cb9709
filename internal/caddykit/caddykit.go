// Package caddykit is what all of Gatehouse's Caddy modules share: how a module finds the gateway,
// and how options of a Caddyfile block are read. It is the only package under internal that imports
// Caddy.
package caddykit

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// AppName is the name of the app, of its global option and of its CLI command.
const AppName = "gatehouse"

// App is the interface of the gatehouse app for the other modules.
type App interface {
	Gateway() *gateway.Gateway
}

// ErrNoApp is the load error of a configuration that uses Gatehouse's handlers without the global
// option.
var ErrNoApp = errors.New("the global option gatehouse { … } is missing")

// Gateway returns the gateway of the configuration that is being loaded. It never creates one.
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
	return app.Gateway(), nil
}
