package vnc

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// asSilent takes a connection and says nothing, as a host that hangs does.
func asSilent(w *harness.Conn) { w.ReadN(1) }

// Viewers that wait for a workstation are authenticated. They do not count as half open, and the
// result of the first one's login holds for all.
func TestVNCASilentWorkstationDoesNotShutOutTheNeighbours(t *testing.T) {
	const office, viewers = "127.0.3.11", 12
	dead, fine := harness.NewVNCServer(t, asSilent), harness.NewVNCServer(t, harness.VNCAuth)
	const password = "password {env.DESK_PASSWORD}"
	h := harness.StartVNC(t, harness.Setup{
		VNCHandler: harness.WaitForTLS + "step_timeout 3s\nmax_pending_per_network 4",
		VNC:        dead.As("dead", password) + fine.As("fine", password),
	})
	silent, good := h.VNC.Issue("connect", "dead", ""), h.VNC.Issue("connect", "fine", "")
	var waiting []*harness.Conn
	for range viewers {
		w := h.VNC.TLSFirstFrom(office, silent.Host)
		mustSucceed(h, w)
		waiting = append(waiting, w)
	}
	begun := time.Now()
	w := h.VNC.TLSFirstFrom(office, good.Host).Accepted().Echo(1, 1)
	if took := time.Since(begun); w.Err != nil || took > atOnce {
		t.Errorf("a neighbour came in after %s: %v", took, w.Err)
	}
	w.Leave()
	const text = "The workstation did not answer in time. Try again later."
	for _, w := range waiting {
		if got := w.Refusal(); w.Err != nil || got != text {
			t.Errorf("told %q, %v", got, w.Err)
		}
	}
	begun = time.Now()
	refusedWith(h, silent, text) // it is not asked again at once
	if took := time.Since(begun); took > atOnce {
		t.Errorf("the next was told after %s", took)
	}
	if n := dead.Connections(); n != 1 {
		t.Errorf("the workstation was reached %d times", n)
	}
	refusedSoon(h, "workstation_timeout", viewers+1)
	if n := refusedBy(h, "too_many_connections"); n != 0 {
		t.Errorf("%v were sent away", n)
	}
}

// A viewer that was accepted may ask its user about the certificate before it goes on.
func TestVNCAcceptedViewersAreNotHalfOpen(t *testing.T) {
	const office = "127.0.3.12"
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: harness.WaitForTLS + "max_pending_per_network 4", VNC: "on_conflict share\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	var accepted []*harness.Conn
	for range 8 {
		w := h.VNC.TLSFirstFrom(office, a.Host).Expect(uint32(0))
		mustSucceed(h, w)
		accepted = append(accepted, w)
	}
	mustSucceed(h, h.VNC.TLSFirstFrom(office, a.Host).Accepted().Echo(1, 1))
	for _, w := range accepted {
		mustSucceed(h, w.Desktop(0).Echo(1, 1))
		w.Leave()
	}
}

// Nobody waits for a workstation that is gone: a viewer, and agents at each of their ways in.
func TestVNCNobodyWaitsForASilentWorkstationAfterItsReleaseOrMove(t *testing.T) {
	for name, ends := range map[string]struct{ method, body string }{
		"released":            {http.MethodDelete, ""},
		"another machine":     {http.MethodPut, `{"address":"127.0.0.1:1","generation":"vm-2"}`},
		"at another address":  {http.MethodPut, `{"address":"127.0.0.1:1","generation":"vm-1"}`},
		"with another secret": {http.MethodPut, `{"address":"SILENT","generation":"vm-1","credential":"lab"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var hangs atomic.Bool
			dead := harness.NewVNCServer(t, func(w *harness.Conn) {
				if hangs.Load() {
					asSilent(w)
				} else {
					harness.NoSecurity(w)
				}
			})
			h := startToolsAtDesktops(t, "register_networks 127.0.0.1/32\nautomation control\ncredential lab {\npassword {env.DESK_PASSWORD}\n}\n")
			const path = workstations + "/run"
			h.Client.Want(201, "PUT", path, "manage", `{"address":"`+dead.Address()+`","generation":"vm-1"}`)
			h.VNC.View(h.VNC.Issue("connect", "run", "")).Leave() // from now on each logs in by itself
			hangs.Store(true)
			viewer := h.VNC.TLSFirst(h.VNC.Issue("connect", "run", "").Host)
			mustSucceed(h, viewer)
			var calls sync.WaitGroup
			wantGone := func(who string, call func() harness.Answer) {
				calls.Go(func() {
					if a := call(); a.Status != http.StatusNotFound {
						t.Errorf("%s: %d %s", who, a.Status, a.Body)
					}
				})
			}
			wantGone("a picture", func() harness.Answer { return h.Client.Get(path+"/screenshot", "agent") })
			wantGone("input", func() harness.Answer { return h.Client.Post(path+"/input", "agent", `{"action":"left_click"}`) })
			calls.Go(func() {
				if a := useTool(t, h, "full", "look", `{"desktop":"run"}`); !a.Result.IsError || !strings.Contains(a.text(), "not_found") {
					t.Errorf("a tool: %+v", a)
				}
			})
			if !harness.Eventually(func() bool { return h.Records.Metric(`gatehouse_requests_in_flight`) >= 3 && dead.Connections() == 4 }) {
				t.Fatal("they do not wait")
			}
			begun := time.Now()
			status := map[string]int{http.MethodDelete: 204, http.MethodPut: 200}[ends.method]
			h.Client.Want(status, ends.method, path, "manage", strings.ReplaceAll(ends.body, "SILENT", dead.Address()))
			if text := viewer.Refusal(); viewer.Err != nil || text != "This workstation was released." {
				t.Errorf("told %q, %v", text, viewer.Err)
			}
			calls.Wait()
			if took := time.Since(begun); took > atOnce {
				t.Errorf("they waited for %s", took)
			}
		})
	}
}
