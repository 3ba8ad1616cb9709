//go:build unix && !race

package clustertest_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
	"github.com/gatehouse-proxy/gatehouse/tests/clustertest"
)

// held are engines that a test can cut gateways off from, or have hang.
type held struct {
	*clustertest.Engines
	redis, postgres *enginetest.Proxy
}

func holdable(t *testing.T) held {
	t.Helper()
	e := held{Engines: clustertest.StartEngines(t)}
	e.redis, e.postgres = enginetest.NewProxy(t, e.Redis.Addr), enginetest.NewProxy(t, e.Postgres.Addr)
	e.Valkey = strings.Replace(e.Valkey, e.Redis.Addr, e.redis.Addr, 1)
	e.DSN = strings.Replace(e.DSN, e.Postgres.Addr, e.postgres.Addr, 1)
	return e
}

// desktops is a cluster in which a new viewer replaces the one before.
func desktops(t *testing.T, e *clustertest.Engines) *proof {
	t.Helper()
	return newProof(t, clustertest.Start(t, clustertest.Config{
		Caddy: caddy(t), Gateways: 2, Engines: e, Options: keys, Environment: environment, VNC: "on_conflict replace", Alone: true,
	}))
}

// view opens a desktop at gateway i with an address of gateway by.
func (p *proof) view(by, i int, desk string) (v *clustertest.Viewer, host string) {
	p.t.Helper()
	host, err := p.at(by, "desk").Issue(p.t.Context(), desk)
	if err != nil {
		p.t.Fatal(err)
	}
	if v, err = p.View(p.t.Context(), p.Gateways[i].VNC, host); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(v.Close)
	return v, host
}

// stays fails the test if one of the sessions ends within a time.
func (p *proof) stays(during time.Duration, open ...*clustertest.Viewer) {
	p.t.Helper()
	for i, v := range open {
		if _, err := v.Ended(during); err == nil {
			p.t.Errorf("session %d of %d has ended", i+1, len(open))
		}
		during = 0
	}
}

// Sessions outlive reloads of both gateways and the loss of one of the two engines. The viewers of a
// gateway that stops, or is killed, come back at the other one.
func TestDesktopsStayOpen(t *testing.T) {
	e := holdable(t)
	p := desktops(t, e.Engines)
	ctx := t.Context()
	first, _ := p.view(0, 1, "demo")
	second, host := p.view(1, 0, "demo")
	if _, err := first.Ended(time.Second); err != nil {
		t.Errorf("on_conflict replace: %v", err)
	}
	other, otherHost := p.view(0, 1, "second")

	if err := e.Redis.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	p.stays(5*time.Second, second, other)
	if _, err := p.View(ctx, p.Gateways[1].VNC, host); err == nil {
		t.Error("a viewer is let in while nobody knows who is there")
	}
	if err := e.Redis.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}

	e.postgres.Cut()
	for _, g := range p.Gateways {
		if err := g.Reload(); err != nil {
			t.Fatal(err)
		}
	}
	p.stays(0, second, other)
	third, _ := p.view(0, 1, "third") // with the records that were read before
	if a := p.do(p.at(0, "desk"), "DELETE", "/v1/workstations/third", ""); a.Status != 503 {
		t.Errorf("a release that cannot be stored: %s", a)
	}
	if _, err := third.Ended(time.Second); err != nil {
		t.Errorf("a release that cannot be stored: %v", err)
	}
	e.postgres.Pass()
	p.soon("the release", func() error {
		if a := p.do(p.at(0, "desk"), "DELETE", "/v1/workstations/third", ""); a.Status != 204 {
			return fmt.Errorf("%s", a)
		}
		return nil
	})

	p.Gateways[0].Stop() // its viewer comes back at the other one
	if _, err := second.Ended(waitLimit); err != nil {
		t.Fatal(err)
	}
	p.soon("the desktop at the other gateway", func() error {
		again, err := p.View(ctx, p.Gateways[1].VNC, host)
		if err == nil {
			again.Close()
		}
		return err
	})
	p.stays(0, other)
	if err := p.Gateways[0].Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.at(0, "desk").Issue(ctx, "third"); err == nil {
		t.Error("a gateway that has started again issues for a released desktop")
	}
	p.Gateways[1].Kill() // its lease lives, but the viewer has the address
	again, err := p.View(ctx, p.Gateways[0].VNC, otherHost)
	if err != nil {
		t.Fatalf("the viewer of a killed gateway at the other one: %v", err)
	}
	p.stays(0, again)
	again.Close()
}

// Both engines hang: nobody could end a session, so all end after half a minute.
func TestLongDesktopsEndWithoutBothEngines(t *testing.T) {
	e := holdable(t)
	p := desktops(t, e.Engines)
	open, _ := p.view(0, 1, "demo")
	began := time.Now()
	e.redis.Hold()
	e.postgres.Hold()
	p.stays(25*time.Second, open)
	end, err := open.Ended(waitLimit)
	if err != nil {
		t.Fatal(err)
	}
	took := end.Sub(began)
	t.Logf("the session ended after %v", took)
	if took > 35*time.Second {
		t.Errorf("it took %v", took)
	}
	p.soon("its log", func() error {
		if !strings.Contains(p.Gateways[1].Log(), "engine_lost") {
			return fmt.Errorf("it does not say why: %s", complaints(p.Gateways[1].Log()))
		}
		return nil
	})
	e.redis.Pass()
	e.postgres.Pass()
	p.soon("a desktop", func() error {
		host, err := p.at(0, "desk").Issue(t.Context(), "second")
		if err != nil {
			return err
		}
		v, err := p.View(t.Context(), p.Gateways[1].VNC, host)
		if err == nil {
			v.Close()
		}
		return err
	})
}
