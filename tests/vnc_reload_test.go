package tests

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
)

func TestVNCFiftySessionsGoOnThroughReloads(t *testing.T) {
	const sessions, reloads = 50, 5
	d := newVNCServer(t, asNone)
	s := setup{vnc: "on_conflict share\n" + d.as("one", "")}
	h := startVNC(t, s)
	a := h.issue("connect", "one", "")
	var open []*wire
	for range sessions {
		open = append(open, h.view(a))
	}
	ids := h.sessions("one")
	for i := range reloads {
		h.become(s)
		for n, w := range open {
			if w.echo(i, n); w.err != nil {
				t.Fatalf("session %d after reload %d: %v", n, i+1, w.err)
			}
		}
	}
	if got := h.sessions("one"); strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("sessions %v, want %v", got, ids)
	}
	if n := d.connections(); n != sessions {
		t.Errorf("the workstation was reached %d times", n)
	}
	var ends []chan error
	for _, w := range open {
		ends = append(ends, w.quietViewer())
	}
	h.release("one")
	for _, end := range ends {
		wantEnd(t, "a viewer", end)
	}
}

// Caddy starts its apps in no fixed order, so it is tried several times: the
// new configuration may have started, or not, when its listener fails.
func TestVNCAReloadThatFailsRevokesAndClosesNothing(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{vnc: "on_conflict share\n" + d.as("one", "") + d.as("two", "")}
	h := startVNC(t, s)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	one, two, foreign := h.issue("connect", "one", ""), h.issue("connect", "two", ""), h.issue("desk", "one", "")
	open := []*wire{h.view(one), h.view(two), h.view(foreign)}
	// It has dropped a workstation and a key, and listens where it cannot.
	listener := fmt.Sprintf("127.0.0.1:%d", h.ports[2])
	next := h.caddyfile(setup{noKeys: true, keys: defaultKeys + dropKey("connect"), vnc: d.as("one", "")})
	next = strings.Replace(next, listener+" {\nroute", taken.Addr().String()+" {\nroute", 1)
	for range 6 {
		if err := h.load(next); err == nil || !strings.Contains(err.Error(), "address already in use") {
			t.Fatalf("loading: %v", err)
		}
		for i, w := range open {
			if w.echo(1, i); w.err != nil {
				t.Fatalf("session %d: %v", i, w.err)
			}
		}
		for _, a := range []address{one, two, foreign} {
			w := h.view(a)
			w.leave()
		}
	}
	h.want(200, "GET", workstations+"/two", "connect", "")
}

func TestVNCAConfigurationWithoutGatehouseEndsTheSessions(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{vnc: d.as("one", "")}
	h := startVNC(t, s)
	a := h.issue("connect", "one", "")
	end := h.view(a).busyViewer()
	h.change(fmt.Sprintf("{\nadmin off\npersist_config off\nstorage file_system DIR/storage\n}\nhttp://:%d {\nbind 127.0.0.1\nrespond bare\n}", h.ports[0]))
	wantEnd(t, "the viewer", end)
	h.become(s)
	if row := h.vncRecord("one"); at(row, "ended") != "removed" {
		t.Errorf("row %v", row)
	}
	w := h.tlsFirst(a.host)
	if text := w.refusal(); w.err != nil || !strings.Contains(text, "Ask for a new one") {
		t.Errorf("its token: %q, %v", text, w.err)
	}
}

func TestVNCEachHalfWorksAlone(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{keys: "\n", providers: "\n", vnc: d.as("one", "")})
	w := h.view(h.issue("connect", "one", ""))
	w.leave()
	h.stop()
	h = start(t, setup{noLayer4: true, vnc: d.as("one", "")}) // the port may be another process's
	h.issue("connect", "one", "")
	if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
		t.Errorf("a call: %d %s", a.status, a.body)
	}
}

// A release that was confirmed outlives the process; tokens do not.
func TestVNCARestartKeepsRegistrationsAndReleasesAndForgetsTokens(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{vnc: "register_networks 127.0.0.1/32\n" + d.as("one", "") + d.as("two", "")}
	h := vacant(t)
	c := h.run(s)
	h.vncReady()
	body := `{"address":"` + d.address() + `"}`
	for _, name := range []string{"kept", "gone"} {
		h.want(201, "PUT", workstations+"/"+name, "manage", body)
	}
	h.release("gone")
	h.release("two")
	a := h.issue("connect", "one", "")
	end := h.view(a).busyViewer()
	c.signal(syscall.SIGTERM)
	wantEnd(t, "the viewer", end)
	if err := c.wait(); err != nil {
		t.Error(err)
	}
	c = h.run(s)
	h.vncReady()
	if row := h.vncRecord("one"); at(row, "ended") != "shutdown" {
		t.Errorf("row %v", row)
	}
	if got := h.names("manage"); got != "gone released, kept available, one available, two released" {
		t.Errorf("workstations: %s", got)
	}
	h.refusedWith(a, "This VNC address is not valid. Ask for a new one.")
	w := h.view(h.issue("connect", "kept", ""))
	w.leave()

	// A release is durable when it is answered: it is still there after a kill.
	h.release("kept")
	c.signal(syscall.SIGKILL)
	_ = c.wait() // killed
	h.run(s)
	if got := h.names("manage"); got != "gone released, kept released, one available, two released" {
		t.Errorf("after a kill: %s", got)
	}
	h.restore("two")
	h.issue("connect", "two", "")
}
