package vnc

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestVNCFiftySessionsGoOnThroughReloads(t *testing.T) {
	const sessions, reloads = 50, 5
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{VNC: "on_conflict share\n" + d.As("one", "")}
	h := harness.StartVNC(t, s)
	a := h.VNC.Issue("connect", "one", "")
	var open []*harness.Conn
	for range sessions {
		open = append(open, h.VNC.View(a))
	}
	ids := h.VNC.Sessions("one")
	for i := range reloads {
		h.Become(s)
		for n, w := range open {
			if w.Echo(i, n); w.Err != nil {
				t.Fatalf("session %d after reload %d: %v", n, i+1, w.Err)
			}
		}
	}
	if got := h.VNC.Sessions("one"); strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("sessions %v, want %v", got, ids)
	}
	if n := d.Connections(); n != sessions {
		t.Errorf("the workstation was reached %d times", n)
	}
	var ends []chan error
	for _, w := range open {
		ends = append(ends, w.ReadToEnd())
	}
	h.VNC.Release("one")
	for _, end := range ends {
		harness.WantEnd(t, "a viewer", end)
	}
}

// Caddy starts its apps in no fixed order, so it is tried several times: the
// new configuration may have started, or not, when its listener fails.
func TestVNCAReloadThatFailsRevokesAndClosesNothing(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{VNC: "on_conflict share\n" + d.As("one", "") + d.As("two", "")}
	h := harness.StartVNC(t, s)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	one, two, foreign := h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "two", ""), h.VNC.Issue("desk", "one", "")
	open := []*harness.Conn{h.VNC.View(one), h.VNC.View(two), h.VNC.View(foreign)}
	// It has dropped a workstation and a key, and listens where it cannot.
	listener := fmt.Sprintf("127.0.0.1:%d", h.Ports.VNC)
	next := h.Caddyfile(harness.Setup{NoKeys: true, Keys: harness.DefaultKeys + dropKey("connect"), VNC: d.As("one", "")})
	next = strings.Replace(next, listener+" {\nroute", taken.Addr().String()+" {\nroute", 1)
	for range 6 {
		if err := h.Load(next); err == nil || !strings.Contains(err.Error(), "address already in use") {
			t.Fatalf("loading: %v", err)
		}
		for i, w := range open {
			if w.Echo(1, i); w.Err != nil {
				t.Fatalf("session %d: %v", i, w.Err)
			}
		}
		for _, a := range []harness.Address{one, two, foreign} {
			w := h.VNC.View(a)
			w.Leave()
		}
	}
	h.Client.Want(200, "GET", workstations+"/two", "connect", "")
}

func TestVNCAConfigurationWithoutGatehouseEndsTheSessions(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{VNC: d.As("one", "")}
	h := harness.StartVNC(t, s)
	a := h.VNC.Issue("connect", "one", "")
	end := busyViewer(h.VNC.View(a))
	h.Change(fmt.Sprintf("{\nadmin off\npersist_config off\nstorage file_system DIR/storage\n}\nhttp://:%d {\nbind 127.0.0.1\nrespond bare\n}", h.Ports.HTTP))
	harness.WantEnd(t, "the viewer", end)
	h.Become(s)
	if row := vncRecord(h, "one"); harness.At(row, "ended") != "removed" {
		t.Errorf("row %v", row)
	}
	w := h.VNC.TLSFirst(a.Host)
	if text := w.Refusal(); w.Err != nil || !strings.Contains(text, "Ask for a new one") {
		t.Errorf("its token: %q, %v", text, w.Err)
	}
}

func TestVNCEachHalfWorksAlone(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Keys: "\n", Providers: "\n", VNC: d.As("one", "")})
	w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	w.Leave()
	h.Stop()
	h = harness.Start(t, harness.Setup{NoLayer4: true, VNC: d.As("one", "")}) // the port may be another process's
	h.VNC.Issue("connect", "one", "")
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("a call: %d %s", a.Status, a.Body)
	}
}

// A release that was confirmed outlives the process; tokens do not.
func TestVNCARestartKeepsRegistrationsAndReleasesAndForgetsTokens(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{VNC: "register_networks 127.0.0.1/32\n" + d.As("one", "") + d.As("two", "")}
	h := harness.Vacant(t)
	c := h.Run(s)
	h.VNC.Ready()
	body := `{"address":"` + d.Address() + `"}`
	for _, name := range []string{"kept", "gone"} {
		h.Client.Want(201, "PUT", workstations+"/"+name, "manage", body)
	}
	h.VNC.Release("gone")
	h.VNC.Release("two")
	a := h.VNC.Issue("connect", "one", "")
	end := busyViewer(h.VNC.View(a))
	c.Signal(syscall.SIGTERM)
	harness.WantEnd(t, "the viewer", end)
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	c = h.Run(s)
	h.VNC.Ready()
	if row := vncRecord(h, "one"); harness.At(row, "ended") != "shutdown" {
		t.Errorf("row %v", row)
	}
	if got := names(h, "manage"); got != "gone released, kept available, one available, two released" {
		t.Errorf("workstations: %s", got)
	}
	refusedWith(h, a, "This VNC address is not valid. Ask for a new one.")
	w := h.VNC.View(h.VNC.Issue("connect", "kept", ""))
	w.Leave()

	// A release is durable when it is answered: it is still there after a kill.
	h.VNC.Release("kept")
	c.Signal(syscall.SIGKILL)
	_ = c.Wait() // killed
	h.Run(s)
	if got := names(h, "manage"); got != "gone released, kept released, one available, two released" {
		t.Errorf("after a kill: %s", got)
	}
	restoreWorkstation(h, "two")
	h.VNC.Issue("connect", "two", "")
}
