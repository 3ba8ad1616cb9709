package caddymodule

import (
	"fmt"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/features/sockets"
)

// ResponsesWebSocket lets Responses come over WebSockets, within limits. A handshake above one is
// 429.
type ResponsesWebSocket struct {
	// Connections is how many may be open at the same time. Default: 1000.
	Connections int `json:"connections,omitempty"`
	// PerKey is how many of them a key may have. Default: 10.
	PerKey int `json:"per_key,omitempty"`
}

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
