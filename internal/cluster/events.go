package cluster

import (
	"context"

	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// mostEvents is about how many the stream keeps.
const mostEvents = "10000"

// events are what nodes tell each other.
//
//	T ev   stream: kind, text
type events struct {
	engine *valkey.Client
	key    string
	heard  map[string][]func(text string) // by kind
}

// Publish tells all nodes, this one too, that something has happened. They hear it within
// milliseconds, or never: a beat must find out what matters.
func (e *events) Publish(ctx context.Context, kind, text string) error {
	_, err := e.engine.Do(ctx, "XADD", e.key, "MAXLEN", "~", mostEvents, "*", "kind", kind, "text", text)
	return err
}

// On calls f for each event of a kind. All are called on one goroutine: f must not wait for others. It
// must be called before Start.
func (e *events) On(kind string, f func(text string)) { e.heard[kind] = append(e.heard[kind], f) }

// follow reads the stream until ctx ends.
func (e *events) follow(ctx context.Context, after string) {
	e.engine.Follow(ctx, e.key, after, func(fields map[string]string) {
		for _, f := range e.heard[fields["kind"]] {
			f(fields["text"])
		}
	})
}
