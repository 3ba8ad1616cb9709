package screen_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

func TestADesktopStaysOpenForTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		for range 3 {
			x := l.mustOpen()
			l.look(x, screen.Want{})
			_, done, err := x.Turn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			done(2, 5)
			x.Release()
			time.Sleep(50 * time.Second)
		}
		open := l.Service.OpenSessions(func(desktop.SessionView) bool { return true })
		if l.dials.Load() != 1 || len(open) != 1 || open[0].Role != desktop.RoleAgent || open[0].Security != "automation" || open[0].Rules.Automation != 0 {
			t.Errorf("%d connections, %+v", l.dials.Load(), open)
		}
		begun := time.Now()
		<-l.Left
		if took := time.Since(begun); took < 10*time.Second || took > 11*time.Second {
			t.Errorf("it was closed %v later", took)
		}
		r := l.WantRecord("", "viewer_left")
		if r.Role != "agent" || r.Actions != 6 || r.Typed != 15 || r.Screenshots != 3 || r.BytesDown < 4*640*400 || r.BytesUp == 0 {
			t.Errorf("%+v", r)
		}
		l.wantNothingLeft()
		l.mustOpen().Release()
		if l.dials.Load() != 2 {
			t.Errorf("%d connections", l.dials.Load())
		}
		<-l.Left
	})
}

func TestCallsOfAKeyShareADesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		l.several = true
		var calls sync.WaitGroup
		for n := range 24 {
			calls.Go(func() {
				x, err := l.open("agent" + strconv.Itoa(n%3))
				if err != nil {
					t.Error(err)
					return
				}
				defer x.Release()
				l.look(x, screen.Want{MaxWidth: n + 1})
			})
		}
		calls.Wait()
		if l.dials.Load() != 3 || l.State.Open() != 3 {
			t.Errorf("%d connections, %d sessions", l.dials.Load(), l.State.Open())
		}
		for range 3 {
			<-l.Left
		}
		l.wantNothingLeft()
	})
}

func TestTooManyDesktopsAreRefused(t *testing.T) {
	for name, limits := range map[string]screen.Limits{
		"sessions": {Sessions: 2},
		"memory":   {Memory: 4 * 640 * 400 * 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			l.several = true
			l.screens.SetLimits(limits)
			for n := range 2 {
				x, err := l.open(strconv.Itoa(n))
				if err != nil {
					t.Fatal(err)
				}
				defer x.Release()
			}
			_, err := l.open("one more")
			wantCode(t, err, apierror.AutomationBusy)
			var e *apierror.Error
			if errors.As(err, &e); e.RefusedBy != "vnc: automation_"+name {
				t.Errorf("refused by %q", e.RefusedBy)
			}
			x, err := l.open("0")
			if err != nil {
				t.Errorf("%s: an open desktop is refused: %v", name, err)
			}
			x.Release()
		})
	}
}

// The last eighths of places and memory are for tenants that have no desktop open.
func TestATenantLeavesDesktopsToOthers(t *testing.T) {
	const picture = 4 * 640 * 400
	for name, limits := range map[string]screen.Limits{
		"sessions": {Sessions: 8},
		"memory":   {Memory: 10 * picture},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			l.several = true
			l.screens.SetLimits(limits)
			open := func(tenant, workstation, key string) error {
				x, err := l.screens.Open(t.Context(), screen.Who{
					Gateway: l, Issuer: desktop.Issuer{Tenant: tenant, Key: key}, Workstation: workstation, Client: viewer,
				})
				if err == nil {
					x.Release()
				}
				return err
			}
			for n := range 7 {
				if err := open("default", "one", strconv.Itoa(n)); err != nil {
					t.Fatal(err)
				}
			}
			err := open("default", "one", "7")
			wantCode(t, err, apierror.AutomationBusy)
			var e *apierror.Error
			if errors.As(err, &e); e.RefusedBy != "vnc: automation_"+name {
				t.Errorf("refused by %q", e.RefusedBy)
			}
			if err := open("acme", "one", "a"); err != nil {
				t.Errorf("%s: another tenant: %v", name, err)
			}
		})
	}
}

// A release must not wait for a call that waits.
func TestAReleaseEndsACallUnderWay(t *testing.T) {
	for name, want := range map[string]screen.Want{
		"waits":   {Wait: 50 * time.Second},
		"settles": {Quiet: 40 * time.Second, Max: 50 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			x := l.mustOpen()
			var begun time.Time
			released := make(chan struct{})
			time.AfterFunc(5*time.Second, func() {
				defer close(released)
				begun = time.Now()
				if err := l.Service.Release(t.Context(), "default", "one", desktop.Releaser{}); err != nil {
					t.Error(err)
				}
			})
			_, err := x.Look(t.Context(), want)
			wantCode(t, err, apierror.NotFound)
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			x.Release()
			<-released
			l.wantClosed(desktop.ReasonReleased)
			wantCode(t, x.Key('a', true), apierror.NotFound)
			_, err = l.open("agent")
			wantCode(t, err, apierror.NotFound)
		})
	}
}

func TestADesktopEndsAsOtherSessionsDo(t *testing.T) {
	for name, c := range map[string]struct {
		policy func(p *desktop.Policy)
		end    func(l *lab, x *screen.Screen) // nil: it is waited for
		reason desktop.Reason
		code   apierror.Code
		after  time.Duration
	}{
		"longest time": {func(p *desktop.Policy) { p.MaxDuration, p.ConnectWithin = 20*time.Second, 10*time.Second }, nil, desktop.ReasonMaxDuration, apierror.SessionEnded, 20 * time.Second},
		"idle":         {func(p *desktop.Policy) { p.Session.IdleTimeout = 15 * time.Second }, nil, desktop.ReasonIdle, apierror.SessionEnded, 15 * time.Second},
		"by hand":      {nil, func(_ *lab, x *screen.Screen) { x.Session().End(desktop.ReasonEnded) }, desktop.ReasonEnded, apierror.SessionEnded, 0},
		"key gone":     {nil, func(l *lab, _ *screen.Screen) { l.State.Revoke("default", "agent") }, desktop.ReasonRemoved, apierror.SessionEnded, 0},
		"shutdown":     {nil, func(l *lab, _ *screen.Screen) { l.State.EndAll(desktop.ReasonShutdown) }, desktop.ReasonShutdown, apierror.ShuttingDown, 0},
		"server gone":  {nil, func(l *lab, _ *screen.Screen) { l.server.hangUp() }, desktop.ReasonWorkstation, apierror.WorkstationUnreachable, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, c.policy)
			x := l.mustOpen()
			begun := time.Now()
			ended := make(chan struct{})
			if c.end != nil {
				time.AfterFunc(3*time.Second, func() { defer close(ended); c.end(l, x) })
				c.after = 3 * time.Second
			} else {
				close(ended)
			}
			_, err := x.Look(t.Context(), screen.Want{Wait: 55 * time.Second})
			wantCode(t, err, c.code)
			if took := time.Since(begun); took < c.after || took > c.after+time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			x.Release()
			<-ended
			l.wantClosed(c.reason)
			if c.reason != desktop.ReasonShutdown {
				l.mustOpen().Release() // another one
				<-l.Left
			}
		})
	}
}

// A process that drains waits for persons; an agent can make no call any more.
func TestADrainEndsAnAgentsDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		ctx, drain := context.WithCancelCause(t.Context())
		l.Context = ctx
		x := l.mustOpen()
		x.Release()
		begun := time.Now()
		drain(errors.Join(errors.New("the process ends"), vncsession.ErrDrain))
		l.wantClosed(desktop.ReasonShutdown)
		if took := time.Since(begun); took > time.Second {
			t.Errorf("after %v", took)
		}
	})
}

func TestACallerWhoLeavesDoesNotHoldTheDesktop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, nil)
		x := l.mustOpen()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		_, err := x.Look(ctx, screen.Want{Wait: time.Minute})
		wantCode(t, err, apierror.ClientGone)
		x.Release()
		l.wantClosed(desktop.ReasonViewer)
	})
}
