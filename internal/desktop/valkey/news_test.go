//go:build unix

package valkey_test

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// All events of a gateway arrive on one goroutine.
func TestAnEventDoesNotWaitForTheEngine(t *testing.T) {
	e, a, b := two(t, nil)
	x := mustJoin(t, b.Service, issue(t, a.Service, "desk1", desktop.Options{}), viewer)
	e.bus.hold()
	if err := a.EndSession("default", "desk1", x.ID, ""); err != nil {
		t.Fatal(err)
	}
	answer, delivered := make(chan struct{}), make(chan struct{})
	b.node.before = func(string) error {
		<-answer
		return nil
	}
	go func() {
		e.bus.deliver("desktop-changed", "default/desk1")
		close(delivered)
	}()
	select {
	case <-delivered:
		wantOpen(t, x)
	case <-time.After(5 * time.Second):
		t.Error("it waits")
	}
	close(answer)
	wantEnded(t, x, desktop.ReasonEnded)
	x.Leave()
}
