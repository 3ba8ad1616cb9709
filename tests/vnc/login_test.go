package vnc

import (
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
