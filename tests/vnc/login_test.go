package vnc

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// vncLogLines are the log lines of the connections to a workstation.
func vncLogLines(h *harness.Gateway, workstation string) (found []string) {
	for _, line := range harness.Log.Lines(`"msg":"vnc `) {
		if jsontest.Has(h.T, line, `{"workstation":"`+workstation+`"}`) {
			found = append(found, line)
		}
	}
	return found
}

// Xvnc shuts out an address after five failed logins: viewers that try again must not cause that.
func TestVNCAWorkstationThatRefusedTheLoginIsNotAskedAtOnceAgain(t *testing.T) {
	var mended atomic.Bool
	wrong := harness.NewVNCServer(t, func(w *harness.Conn) {
		if mended.Load() {
			harness.VNCAuth(w)
			return
		}
		harness.Offer(w, 2).Expect(2).Send("0123456789abcdef").ReadN(16)
		w.Refuse("Authentication failed")
	})
	shut := harness.NewVNCServer(t, func(w *harness.Conn) { w.Send("RFB 003.003\n", uint32(0), uint32(26), "Too many security failures") })
	fine := harness.NewVNCServer(t, harness.VNCAuth)
	const password = "password {env.DESK_PASSWORD}"
	s := harness.Setup{VNC: wrong.As("wrong", password) + shut.As("shut", password) + fine.As("fine", password)}
	h := harness.StartVNC(t, s)
	for name, c := range map[string]struct {
		d          *harness.VNCServer
		code, text string
	}{
		"wrong": {wrong, "workstation_password", "The workstation refused the gateway's password. Tell your administrator."},
		"shut":  {shut, "workstation_blacklisted", "The workstation refuses connections for a while. Try again in a minute."},
	} {
		const viewers = 8
		for range viewers / 2 {
			refusedWith(h, h.VNC.Issue("connect", name, ""), c.text)
			refusedWith(h, h.VNC.Issue("desk", name, ""), c.text)
		}
		if n := c.d.Connections(); n != 1 {
			t.Errorf("%s: the workstation was reached %d times", name, n)
		}
		refusedSoon(h, c.code, viewers)
		if n := len(vncLogLines(h, name)); n != viewers {
			t.Errorf("%s: %d lines", name, n)
		}
		if row := vncRecord(h, name); harness.At(row, "status") != harness.Number("502") || harness.At(row, "code") != c.code {
			t.Errorf("%s: row %v", name, row)
		}
	}
	w := h.VNC.View(h.VNC.Issue("connect", "fine", ""))
	w.Leave()

	// A reload may have corrected the password.
	mended.Store(true)
	h.Become(s)
	w = h.VNC.View(h.VNC.Issue("connect", "wrong", ""))
	w.Leave()
	if n := wrong.Connections(); n != 2 {
		t.Errorf("it was reached %d times", n)
	}
}

// Many viewers at once share the result of the first one's login.
func TestVNCManyViewersAtOnceMakeOneLoginWithAWrongPassword(t *testing.T) {
	const viewers = 12
	wrong := harness.NewVNCServer(t, func(w *harness.Conn) {
		harness.Offer(w, 2).Expect(2).Send("0123456789abcdef").ReadN(16)
		w.Refuse("Authentication failed")
	})
	h := harness.StartVNC(t, harness.Setup{VNC: wrong.As("wrong", "password {env.DESK_PASSWORD}")})
	var all sync.WaitGroup
	for range viewers {
		url := h.VNC.Issue("connect", "wrong", "")
		all.Go(func() {
			refusedWith(h, url, "The workstation refused the gateway's password. Tell your administrator.")
		})
	}
	all.Wait()
	if n := wrong.Connections(); n != 1 {
		t.Errorf("%d viewers at once made %d logins", viewers, n)
	}
	refusedSoon(h, "workstation_password", viewers)
}

// A viewer that cannot stay is refused before the workstation is dialled.
func TestVNCABusyWorkstationIsNotDialled(t *testing.T) {
	d := harness.NewVNCServer(t, harness.VNCAuth)
	h := harness.StartVNC(t, harness.Setup{VNC: "max_sessions 1\n" + d.As("one", "password {env.DESK_PASSWORD}") + d.As("two", "password {env.DESK_PASSWORD}")})
	shared := h.VNC.Issue("connect", "one", `{"shared":true}`)
	w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	const viewers = 6
	for range viewers / 2 {
		refusedWith(h, h.VNC.Issue("desk", "one", ""), busy)
		refusedWith(h, shared, busy)
	}
	refusedWith(h, h.VNC.Issue("connect", "two", ""), "Too many viewers are connected. Try again later.")
	if n := d.Connections(); n != 1 {
		t.Errorf("the workstation was reached %d times", n)
	}
	refusedSoon(h, "busy", viewers)
	refusedSoon(h, "full", 1)
	if row := vncRecord(h, "one"); harness.At(row, "status") != harness.Number("403") || harness.At(row, "code") != "busy" {
		t.Errorf("row %v", row)
	}
	mustSucceed(h, w.Echo(1, 1))
	w.Leave()
	h.VNC.WaitClosed()
	w = h.VNC.View(shared) // it was not used up
	w.Leave()
}
