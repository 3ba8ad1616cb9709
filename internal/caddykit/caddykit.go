// Package caddykit is the little that all of Gatehouse's Caddy modules share:
// how a module finds the gateway, how options of a Caddyfile block are read,
// and how secrets are resolved. Of all rooms under internal it alone knows Caddy.
package caddykit

import (
	"errors"
	"fmt"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

// AppName is the name of the app, of its global option and of its CLI command.
const AppName = "gatehouse"

// App is what the gatehouse app shows to the other modules.
type App interface {
	Gateway() *gateway.Gateway
}

// ErrNoApp is the load error of a configuration that uses Gatehouse's handlers
// without saying what they shall serve.
var ErrNoApp = errors.New("the global option gatehouse { … } is missing")

// Gateway returns the gateway of the configuration that is being loaded. It
// never makes an empty one.
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
