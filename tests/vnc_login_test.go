package tests

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// vncLogLines are the log lines of the connections to a workstation.
func (h *harness) vncLogLines(workstation string) (found []string) {
	for _, line := range h.logLines(`"msg":"vnc `) {
		if strings.Contains(line, `"workstation":"`+workstation+`"`) {
			found = append(found, line)
		}
	}
	return found
}

// Xvnc shuts out an address after five failed logins: viewers that try again must not cause that.
func TestVNCAWorkstationThatRefusedTheLoginIsNotAskedAtOnceAgain(t *testing.T) {
	var mended atomic.Bool
	wrong := newVNCServer(t, func(w *wire) {
		if mended.Load() {
			asVNCAuth(w)
			return
		}
		offering(w, 2).hear(2).say("0123456789abcdef").take(16)
		w.refuse("Authentication failed")
	})
	shut := newVNCServer(t, func(w *wire) { w.say("RFB 003.003\n", uint32(0), uint32(26), "Too many security failures") })
	fine := newVNCServer(t, asVNCAuth)
	const password = "password {env.DESK_PASSWORD}"
	s := setup{vnc: wrong.as("wrong", password) + shut.as("shut", password) + fine.as("fine", password)}
	h := startVNC(t, s)
	for name, c := range map[string]struct {
		d          *vncServer
		code, text string
	}{
		"wrong": {wrong, "workstation_password", "The workstation refused the gateway's password. Tell your administrator."},
		"shut":  {shut, "workstation_blacklisted", "The workstation refuses connections for a while. Try again in a minute."},
	} {
		const viewers = 8
		for range viewers / 2 {
			h.refusedWith(h.issue("connect", name, ""), c.text)
			h.refusedWith(h.issue("desk", name, ""), c.text)
		}
		if n := c.d.connections(); n != 1 {
			t.Errorf("%s: the workstation was reached %d times", name, n)
		}
		h.refusedSoon(c.code, viewers)
		if n := len(h.vncLogLines(name)); n != viewers {
			t.Errorf("%s: %d lines", name, n)
		}
		if row := h.vncRecord(name); at(row, "status") != number("502") || at(row, "code") != c.code {
			t.Errorf("%s: row %v", name, row)
		}
	}
	w := h.view(h.issue("connect", "fine", ""))
	w.leave()

	// A reload may have corrected the password.
	mended.Store(true)
	h.become(s)
	w = h.view(h.issue("connect", "wrong", ""))
	w.leave()
	if n := wrong.connections(); n != 2 {
		t.Errorf("it was reached %d times", n)
	}
}

// Many viewers at once share the result of the first one's login.
func TestVNCManyViewersAtOnceMakeOneLoginWithAWrongPassword(t *testing.T) {
	const viewers = 12
	wrong := newVNCServer(t, func(w *wire) {
		offering(w, 2).hear(2).say("0123456789abcdef").take(16)
		w.refuse("Authentication failed")
	})
	h := startVNC(t, setup{vnc: wrong.as("wrong", "password {env.DESK_PASSWORD}")})
	var all sync.WaitGroup
	for range viewers {
		url := h.issue("connect", "wrong", "")
		all.Go(func() { h.refusedWith(url, "The workstation refused the gateway's password. Tell your administrator.") })
	}
	all.Wait()
	if n := wrong.connections(); n != 1 {
		t.Errorf("%d viewers at once made %d logins", viewers, n)
	}
	h.refusedSoon("workstation_password", viewers)
}

// A viewer that cannot stay is refused before the workstation is dialled.
func TestVNCABusyWorkstationIsNotDialled(t *testing.T) {
	d := newVNCServer(t, asVNCAuth)
	h := startVNC(t, setup{vnc: "max_sessions 1\n" + d.as("one", "password {env.DESK_PASSWORD}") + d.as("two", "password {env.DESK_PASSWORD}")})
	shared := h.issue("connect", "one", `{"shared":true}`)
	w := h.view(h.issue("connect", "one", ""))
	const viewers = 6
	for range viewers / 2 {
		h.refusedWith(h.issue("desk", "one", ""), busy)
		h.refusedWith(shared, busy)
	}
	h.refusedWith(h.issue("connect", "two", ""), "Too many viewers are connected. Try again later.")
	if n := d.connections(); n != 1 {
		t.Errorf("the workstation was reached %d times", n)
	}
	h.refusedSoon("busy", viewers)
	h.refusedSoon("full", 1)
	if row := h.vncRecord("one"); at(row, "status") != number("403") || at(row, "code") != "busy" {
		t.Errorf("row %v", row)
	}
	h.good(w.echo(1, 1))
	w.leave()
	h.vncClosed()
	w = h.view(shared) // it was not used up
	w.leave()
}
