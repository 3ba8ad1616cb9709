//go:build unix

package valkey_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// BenchmarkVisit is one viewer: an address is issued, it comes, and leaves. That is seven messages.
func BenchmarkVisit(b *testing.B) {
	e := newEngines(b)
	g := e.gateway(b, "a", func(p *desktop.Policy) { p.ReconnectWithin = time.Millisecond })
	for b.Loop() {
		mustJoin(b, g.Service, issue(b, g.Service, "desk1", desktop.Options{}), viewer).Leave()
		e.Move(2 * time.Millisecond) // its token ends
	}
}
