package screen_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"io"
	"net"
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
			x.Acted(2, 5)
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
		"memory":   {Memory: 4*640*400*2 + 1},
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
			time.AfterFunc(5*time.Second, func() {
				begun = time.Now()
				if err := l.Service.Release(t.Context(), "default", "one"); err != nil {
					t.Error(err)
				}
			})
			_, err := x.Look(t.Context(), want)
			wantCode(t, err, apierror.NotFound)
			if took := time.Since(begun); took > time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			x.Release()
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
			if c.end != nil {
				time.AfterFunc(3*time.Second, func() { c.end(l, x) })
				c.after = 3 * time.Second
			}
			_, err := x.Look(t.Context(), screen.Want{Wait: 55 * time.Second})
			wantCode(t, err, c.code)
			if took := time.Since(begun); took < c.after || took > c.after+time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			x.Release()
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

// What a workstation sends must not hold a call or memory for long.
func TestAHostileWorkstationIsGivenUp(t *testing.T) {
	drip := func(conn net.Conn, p []byte, every time.Duration) {
		for {
			for i := range p {
				if _, err := conn.Write(p[i : i+1]); err != nil {
					return
				}
				time.Sleep(every)
			}
		}
	}
	drain := func(conn net.Conn) { go func() { _, _ = io.Copy(io.Discard, conn) }() }
	whole := []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4}
	for name, after := range map[string]func(conn net.Conn){
		"reads nothing":       func(conn net.Conn) { drip(conn, []byte{2}, time.Second) },
		"says nothing":        func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) },
		"one byte a second":   func(conn net.Conn) { drain(conn); drip(conn, whole, time.Second) },
		"bells only":          func(conn net.Conn) { drain(conn); drip(conn, []byte{2}, 10*time.Millisecond) },
		"cursors only":        func(conn net.Conn) { drain(conn); drip(conn, []byte{0, 0, 0, 0}, 10*time.Millisecond) },
		"another size always": func(conn net.Conn) { drain(conn); sizes(conn) },
		"an endless update":   func(conn net.Conn) { drain(conn); endless(conn) },
		"too large a size":    func(conn net.Conn) { drain(conn); drip(conn, size(65535, 65535), 0) },
		"more than memory":    func(conn net.Conn) { drain(conn); drip(conn, size(4000, 4000), 0) },
		"nonsense":            func(conn net.Conn) { drain(conn); drip(conn, []byte{77}, 0) },
		"is gone":             func(conn net.Conn) {},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			l.server.after = after
			l.screens.SetLimits(screen.Limits{Memory: 32 << 20})
			begun := time.Now()
			x, err := l.open("agent")
			if err == nil {
				_, err = x.Look(t.Context(), screen.Want{})
				x.Release()
			}
			wantCode(t, err, apierror.WorkstationUnreachable)
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			<-l.Left
			l.wantNothingLeft()
			time.Sleep(2 * time.Second) // the server notices
		})
	}
}

func TestAWorkstationThatIsNotReachedIsReported(t *testing.T) {
	for name, dial := range map[string]func(*lab) (net.Conn, error){
		"refused": func(*lab) (net.Conn, error) { return nil, errors.New("connection refused") },
		"silent":  func(*lab) (net.Conn, error) { ours, _ := net.Pipe(); return ours, nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLab(t, nil)
			l.screens = screen.New(func(context.Context, *desktop.Pass) (net.Conn, error) { return dial(l) })
			begun := time.Now()
			_, err := l.open("agent")
			wantCode(t, err, apierror.WorkstationUnreachable)
			if took := time.Since(begun); took > 10*time.Second {
				t.Errorf("%s: after %v", name, took)
			}
			<-l.Left
			l.wantNothingLeft()
		})
	}
}

// size is an update with DesktopSize.
func size(w, h int) []byte {
	return []byte{0, 0, 0, 1, 0, 0, 0, 0, byte(w >> 8), byte(w), byte(h >> 8), byte(h), 255, 255, 255, 33}
}

func sizes(conn net.Conn) {
	for n := 100; ; n = 300 - n {
		if _, err := conn.Write(size(n, 100)); err != nil {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func endless(conn net.Conn) {
	if _, err := conn.Write([]byte{0, 0, 255, 255}); err != nil {
		return
	}
	for {
		if _, err := conn.Write([]byte{0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4}); err != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestAnAgentWithoutTheRuleIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t, func(p *desktop.Policy) { p.Session.Automation = desktop.AutomationView })
		_, err := l.open("agent")
		wantCode(t, err, apierror.AutomationOff)
		x, err := l.screens.Open(t.Context(), screen.Who{Gateway: l, Issuer: desktop.Issuer{Tenant: "default", Key: "agent"}, Workstation: "one", Client: viewer})
		if err != nil {
			t.Fatal(err)
		}
		if shot := l.look(x, screen.Want{Region: image.Rect(0, 0, 2, 2)}); at(t, shot.PNG, 0, 0) != (color.RGBA{30, 60, 90, 255}) {
			t.Error("another picture")
		}
		x.Release()
		l.wantClosed(desktop.ReasonViewer)
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
