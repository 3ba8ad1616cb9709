package screen_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

// deaf reads what an agent begins with and n bytes more, says so, and reads nothing until the end of the test.
func deaf(t *testing.T, n int) (serve func(conn net.Conn), begun chan struct{}) {
	begun = make(chan struct{})
	return func(conn net.Conn) {
		_, _ = io.ReadFull(conn, make([]byte, 20+4+4*len(framebuffer.Live())+n))
		close(begun)
		<-t.Context().Done()
	}, begun
}

// These tests are in no bubble of synctest: its time stands still while a goroutine waits for a lock.

// The lock under which an event is sent is what a person's first key waits for.
func TestAnEventThatIsNotTakenIsGivenUpSoon(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	l.real = true
	l.server.after, _ = deaf(t, 0)
	x := l.mustOpen()
	defer x.Release()
	begun := time.Now()
	wantCode(t, x.Key('a', true), apierror.WorkstationUnreachable)
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("after %v", took)
	}
}

// A request of the agent that its workstation does not read holds up no person.
func TestAPersonTakesTheInputFromAnAgentThatIsStuck(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(p *desktop.Policy) { p.OnConflict = desktop.Share })
	l.real = true
	serve, stuck := deaf(t, 8+1) // the key, and a byte of the request
	l.server.after = serve
	x := l.mustOpen()
	defer x.Release()
	person := desktoptest.MustJoin(t, l.Service, desktoptest.Issue(t, l.Service, desktop.Issuer{Tenant: "default", Key: "ann"}, "one", desktop.Options{Shared: true}), desktoptest.Other)
	defer person.Leave()
	if err := x.Key('a', true); err != nil {
		t.Fatal(err)
	}
	looks := make(chan error)
	go func() {
		_, err := x.Look(t.Context(), screen.Want{})
		looks <- err
	}()
	<-stuck
	begun := time.Now()
	person.Input.Press()
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("the key waits for %v", took)
	}
	if <-looks == nil {
		t.Error("there is a picture")
	}
}
