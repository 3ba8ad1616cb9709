package gateway_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
)

// waiting is an exit that waits for desktops.
type waiting struct {
	*rig
	native, browser *desktop.Session
	over            chan struct{} // closed when it has ended
}

func startExit(t *testing.T, limit time.Duration) *waiting {
	t.Helper()
	r := startDesktops(t, gateway.NewState(t.TempDir(), time.Now), "dev", "one", "two")
	w := &waiting{rig: r, over: make(chan struct{})}
	w.native, w.browser = r.view(t, "one"), r.viewWith(t, "two", "browser")
	r.state.Exit(limit)
	r.Stop()
	if d := r.state.Drain(); d == nil {
		close(w.over)
	} else {
		go func() { defer close(w.over); d.Wait() }()
	}
	t.Cleanup(func() {
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return w
}

// wantOver reports an error unless the exit has ended, or has not.
func (w *waiting) wantOver(t *testing.T, when string, want bool) {
	t.Helper()
	time.Sleep(time.Second)
	select {
	case <-w.over:
		if !want {
			t.Errorf("%s: the exit does not wait", when)
		}
	default:
		if want {
			t.Errorf("%s: the exit waits", when)
		}
	}
}

func TestAnExitWaitsForDesktops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startExit(t, time.Hour)
		w.wantOver(t, "with two desktops", false)
		if s := gateway.VNCOf(w.Gateway).DrainStatus(); !s.Draining || s.Sessions != 2 || s.Until.Sub(*s.Since) != time.Hour || gateway.ReadCondition(w.Gateway).State != report.StateShuttingDown {
			t.Errorf("status %+v", s)
		}
		w.native.Leave()
		w.wantOver(t, "with a browser", false)
		w.browser.Leave()
		w.wantOver(t, "without a desktop", true)
		if w.state.Drain() != nil {
			t.Error("it would wait again")
		}
	})
}

func TestAnExitWaitsNoLongerThanItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startExit(t, time.Minute)
		time.Sleep(time.Minute - 1500*time.Millisecond)
		w.wantOver(t, "before", false)
		w.wantOver(t, "after", true)
		wantSession(t, "until a shutdown", w.native, "")
		w.native.Leave()
		w.browser.Leave()
	})
}

func TestAnExitIsEndedByAnOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startExit(t, time.Hour)
		for range 2 { // again has no effect
			if !gateway.VNCOf(w.Gateway).EndDrain() {
				t.Error("it is not ended")
			}
		}
		wantSession(t, "ended", w.native, desktop.ReasonShutdown)
		wantSession(t, "ended", w.browser, desktop.ReasonShutdown)
		w.native.Leave()
		w.browser.Leave()
		w.wantOver(t, "ended", true)
	})
}

func TestAnExitWithoutALimitEndsDesktopsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startExit(t, 0)
		w.wantOver(t, "without a limit", true)
		wantSession(t, "at once", w.native, desktop.ReasonShutdown)
		w.native.Leave()
		w.browser.Leave()
	})
	r := newRig(t, gateway.Config{}).start(t, t.Context())
	if gateway.VNCOf(r.Gateway).EndDrain() || gateway.VNCOf(r.Gateway).DrainStatus() != (report.DrainStatus{}) {
		t.Error("a gateway drains before its exit")
	}
	r.Close()
}

// Browsers come back by themselves, so the next process can have them when only they are left.
func TestAnExitMovesBrowsersLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := startDesktops(t, gateway.NewState(t.TempDir(), time.Now), "dev", "one", "two")
		native := r.view(t, "one")
		pass := r.pass(t, "two", "", desktop.Options{})
		browser, err := gateway.VNCOf(r.Gateway).Open(pass, viewer, "browser")
		if err != nil {
			t.Fatal(err)
		}
		if err := browser.Join(); err != nil {
			t.Fatal(err)
		}
		moved := make(chan struct{})
		browser.OnMove(func() { close(moved) })
		r.state.Exit(time.Hour)
		r.Stop()
		over := make(chan struct{})
		go func() { defer close(over); r.state.Drain().Wait() }()
		time.Sleep(time.Minute)
		select {
		case <-moved:
			t.Error("a browser is to move while a native viewer keeps the process")
		default:
		}
		native.Leave()
		<-moved
		browser.Finish(desktop.ReasonShutdown)
		<-over
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}
