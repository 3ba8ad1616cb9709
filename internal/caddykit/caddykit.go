// Package caddykit is what all of Gatehouse's Caddy modules share: how a module finds what it needs
// of the app, and how options of a Caddyfile block are read. It is the only package under internal
// that imports Caddy, and it knows no gateway.
package caddykit

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// AppName is the name of the app, of its global option and of its CLI command.
const AppName = "gatehouse"

// App is the interface of the gatehouse app for the other modules.
type App interface {
	// Parts are what the app offers to other modules, see [Part].
	Parts() []any
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

// Running returns a part of the app of the active configuration, or of the last one while the
// process exits. The error is [caddy.ErrNotConfigured] if that has no app.
func Running[T any]() (part T, err error) {
	if a := Exiting(); a != nil {
		return find[T](a)
	}
	module, err := caddy.ActiveContext().AppIfConfigured(AppName)
	if err != nil {
		return part, err
	}
	return find[T](module.(App))
}

// Part returns what the app of the configuration that is being loaded offers as a T, for a handler
// of a server that may listen. T is mostly an interface of the package that asks, with what it
// needs. Part never creates an app.
func Part[T any](ctx caddy.Context) (part T, err error) {
	module, err := ctx.AppIfConfigured(AppName)
	if errors.Is(err, caddy.ErrNotConfigured) {
		return part, ErrNoApp
	}
	if err != nil {
		return part, err
	}
	app, ok := module.(App)
	if !ok {
		return part, fmt.Errorf("the app %q is a %T, which offers nothing", AppName, module)
	}
	if server, ok := ctx.Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok {
		if err := app.Listens(server.Listen); err != nil {
			return part, err
		}
	}
	return find[T](app)
}

// find returns the first part of the app that is a T.
func find[T any](app App) (part T, err error) {
	for _, offered := range app.Parts() {
		if part, ok := offered.(T); ok {
			return part, nil
		}
	}
	return part, fmt.Errorf("the app %q offers no %v", AppName, reflect.TypeFor[T]())
}
