// Package sockets is the blocks responses_websocket and realtime of the configuration, with their
// endpoints.
package sockets

import (
	"embed"
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/realtime" // their endpoints
	_ "github.com/gatehouse-proxy/gatehouse/handlers/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
)

//go:embed *.go
var sources embed.FS

func init() { core.Register("sockets", func() core.Feature { return new(Feature) }, sources) }

// Feature is the member of the app.
type Feature struct {
	// WebSocket lets Responses come over WebSockets. Default: they are answered 426.
	WebSocket *WebSockets `json:"responses_websocket,omitempty"`

	// Realtime lets sessions of the Realtime API open. Default: they are answered 404.
	Realtime *WebSockets `json:"realtime,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{
		"responses_websocket": caddykit.Single(&f.WebSocket, (*WebSockets).read),
		"realtime":            caddykit.Single(&f.Realtime, (*WebSockets).read),
	}
}

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) error {
	for _, kind := range []struct {
		option  string
		block   *WebSockets
		feature func(gateway.Core, *sockets.Limits) gateway.Feature
	}{{"responses_websocket", f.WebSocket, sockets.Feature}, {"realtime", f.Realtime, sockets.Realtime}} {
		if err := kind.block.check(); err != nil {
			return fmt.Errorf("%s: %w", kind.option, err)
		}
		limits := kind.block.limits()
		b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature { return kind.feature(c, limits) })
	}
	return nil
}

// WebSockets lets WebSockets of an API open, within limits. A handshake above one is 429.
type WebSockets struct {
	// Connections is how many may be open at the same time. Default: 1000.
	Connections int `json:"connections,omitempty"`
	// PerKey is how many of them a key may have. Default: 10.
	PerKey int `json:"per_key,omitempty"`
}

// read reads a block:
//
//	responses_websocket|realtime {
//		connections NUMBER
//		per_key NUMBER
//	}
func (w *WebSockets) read(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{
		"connections": caddykit.Value(&w.Connections, caddykit.ParseCount),
		"per_key":     caddykit.Value(&w.PerKey, caddykit.ParseCount),
	}.Block(d)
}

// check refuses limits below 0.
func (w *WebSockets) check() error {
	if w != nil && (w.Connections < 0 || w.PerKey < 0) {
		return fmt.Errorf("connections %d, per_key %d: want numbers above 0", w.Connections, w.PerKey)
	}
	return nil
}

// limits returns the limits of connections, nil if none are opened.
func (w *WebSockets) limits() *sockets.Limits {
	if w == nil {
		return nil
	}
	return &sockets.Limits{Most: w.Connections, PerKey: w.PerKey}
}
