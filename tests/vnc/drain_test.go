package vnc

import (
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// draining is a process that was asked to stop with a native desktop open, and has closed its listeners.
type draining struct {
	*harness.Process
	h      *harness.Gateway
	setup  harness.Setup
	admin  string
	viewer *harness.Conn
	call   *harness.Stream // of a model, which does not end by itself
}

func drain(t *testing.T, limit string) *draining {
	t.Helper()
	desk := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Vacant(t)
	d := &draining{h: h, admin: "unix/" + h.Dir + "/admin"}
	d.setup = harness.Setup{
		Global: "admin " + d.admin + "\nlog file {\noutput file " + h.Dir + "/gatehouse.log\ninclude gatehouse\n}",
		VNC:    "drain " + limit + "\n" + desk.As("one", ""),
	}
	d.Process = h.Run(d.setup)
	h.VNC.Ready()
	d.viewer = h.VNC.View(h.VNC.Issue("connect", "one", ""))
	if out := d.operate("drain"); !strings.Contains(out, "does not stop. It has 1 open desktop.") {
		t.Errorf("before the stop: %s", out)
	}
	d.call = h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/stall", harness.Streaming)))
	d.call.MustNext()
	d.Signal(syscall.SIGTERM)
	if !harness.Eventually(func() bool {
		for _, port := range []int{h.Ports.HTTP, h.Ports.VNC} {
			if conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
				_ = conn.Close()
				return false
			}
		}
		return true
	}) {
		t.Fatal("the listeners do not close")
	}
	return d
}

// operate runs a command that must succeed.
func (d *draining) operate(args ...string) string {
	d.h.T.Helper()
	out, failure, err := d.Operate(append(args, "--address", d.admin)...)
	if err != nil {
		d.h.T.Errorf("%v: %v: %s", args, err, failure)
	}
	return out
}

// over waits for the end of the process, starts it again, and wants the reason of the desktop's end.
func (d *draining) over(within time.Duration, ended string) {
	d.h.T.Helper()
	begun := time.Now()
	if err := d.Wait(); err != nil {
		d.h.T.Error(err)
	}
	if took := time.Since(begun); took > within {
		d.h.T.Errorf("the process ended after %v", took)
	}
	if text, err := os.ReadFile(d.h.Dir + "/gatehouse.log"); err != nil || !jsontest.Has(d.h.T, text, `{"ended":"`+ended+`"}`) {
		d.h.T.Errorf("the log of the session: %s %v", text, err)
	}
	d.h.Run(d.setup)
	if row := vncRecord(d.h, "one"); harness.At(row, "ended") != ended {
		d.h.T.Errorf("row %v, want %q", row, ended)
	}
}

// An operator sees the desktops for which a process waits. Its data directory is its own meanwhile, and
// it ends soon after the last desktop.
func TestVNCAStopWaitsForDesktops(t *testing.T) {
	d := drain(t, "1h")
	if events, err := d.call.Rest(); err != nil || len(events) == 0 || !strings.Contains(events[len(events)-1].Data, "shutting down") {
		t.Errorf("a model call ended with %v, %v", events, err)
	}
	if d.viewer.Echo(3, 4); d.viewer.Err != nil {
		t.Fatal("the desktop after the stop: ", d.viewer.Err)
	}
	if out := d.operate("drain"); !strings.Contains(out, "It waits for 1 open desktop, ") {
		t.Errorf("drain: %s", out)
	}
	if out := d.operate("sessions"); !strings.Contains(out, "one") {
		t.Errorf("sessions: %s", out)
	}
	if out, failure, err := d.Operate("health", "--address", d.admin); !strings.Contains(out, "shutting down") {
		t.Errorf("health: %s %s %v", out, failure, err)
	}
	next := d.setup
	next.Global = "admin unix/" + d.h.Dir + "/admin2"
	second := d.h.Spawn(next)
	if err := second.Wait(); err == nil {
		t.Error("a second process has the same data directory")
	}
	if text := second.Output.Text(); !strings.Contains(text, "in use by another gatehouse (process "+strconv.Itoa(d.Cmd.Process.Pid)+")") {
		t.Errorf("it does not say who holds the directory: %s", text)
	}
	if d.viewer.Echo(5, 6); d.viewer.Err != nil {
		t.Fatal("the desktop after another start: ", d.viewer.Err)
	}
	d.viewer.Leave()
	d.over(10*time.Second, "viewer_left")
}

func TestVNCAnOperatorEndsTheWait(t *testing.T) {
	d := drain(t, "1h")
	end := busyViewer(d.viewer)
	begun := time.Now()
	d.operate("drain", "--now")
	harness.WantEnd(t, "the viewer", end)
	took := time.Since(begun)
	t.Logf("the desktop ended %v after the command began", took)
	if took > 10*time.Second {
		t.Error("that is too late")
	}
	d.over(10*time.Second, "shutdown")
}

func TestVNCTheWaitHasALimit(t *testing.T) {
	d := drain(t, "1s")
	end := busyViewer(d.viewer)
	harness.WantEnd(t, "the viewer", end)
	d.over(10*time.Second, "shutdown")
}
