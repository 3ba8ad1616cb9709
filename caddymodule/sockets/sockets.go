// Package sockets is the block responses_websocket of the configuration, with its endpoint.
package sockets

import (
	"embed"
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/sockets" // its endpoint
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
	WebSocket *ResponsesWebSocket `json:"responses_websocket,omitempty"`
}

// Options implements [core.Feature].
func (f *Feature) Options() caddykit.Options {
	return caddykit.Options{"responses_websocket": caddykit.Single(&f.WebSocket, (*ResponsesWebSocket).read)}
}

// Build implements [core.Feature].
func (f *Feature) Build(b *core.Build) error {
	if err := f.WebSocket.check(); err != nil {
		return fmt.Errorf("responses_websocket: %w", err)
	}
	limits := f.WebSocket.limits()
	b.Add(func(c gateway.Core, _ []gateway.Feature) gateway.Feature { return sockets.Feature(c, limits) })
	return nil
}

// ResponsesWebSocket lets Responses come over WebSockets, within limits. A handshake above one is
// 429.
type ResponsesWebSocket struct {
	// Connections is how many may be open at the same time. Default: 1000.
	Connections int `json:"connections,omitempty"`
	// PerKey is how many of them a key may have. Default: 10.
	PerKey int `json:"per_key,omitempty"`
}

// read reads the block:
//
//	responses_websocket {
//		connections NUMBER
//		per_key NUMBER
//	}
func (w *ResponsesWebSocket) read(d *caddyfile.Dispenser) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	return caddykit.Options{
		"connections": caddykit.Value(&w.Connections, caddykit.ParseCount),
		"per_key":     caddykit.Value(&w.PerKey, caddykit.ParseCount),
	}.Block(d)
}

// check refuses limits below 0.
func (w *ResponsesWebSocket) check() error {
	if w != nil && (w.Connections < 0 || w.PerKey < 0) {
		return fmt.Errorf("connections %d, per_key %d: want numbers above 0", w.Connections, w.PerKey)
	}
	return nil
}

// limits returns the limits of connections, nil if none are opened.
func (w *ResponsesWebSocket) limits() *sockets.Limits {
	if w == nil {
		return nil
	}
	return &sockets.Limits{Most: w.Connections, PerKey: w.PerKey}
}
