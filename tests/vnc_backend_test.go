package tests

import (
	"strings"
	"testing"
)

func TestVNCEveryKindOfWorkstationIsReached(t *testing.T) {
	const password = "password {env.DESK_PASSWORD}\n"
	ca := newAuthority(t)
	leaf := ca.leaf("desk.example")
	trust := "tls {\ntrust_pool file " + ca.file + "\n}\n"
	pinned := "tls {\npinned_key " + pin(t, leaf) + "\n}\n"
	kinds := []struct {
		name, options string
		greet         func(*wire)
	}{
		{"none", "", asNone},
		{"none-3.3", "", func(w *wire) { w.say("RFB 003.003\n").hear("RFB 003.003\n").say(uint32(1)) }},
		{"none-3.7", "", func(w *wire) { w.say("RFB 003.007\n").hear("RFB 003.007\n").say(1, 1).hear(1) }},
		{"vncauth", password, asVNCAuth},
		{"vncauth-3.3", password, func(w *wire) {
			w.say("RFB 003.003\n").hear("RFB 003.003\n").say(uint32(2)).checkResponse()
		}},
		{"x509none-ca", trust, asVeNCrypt(260, leaf)},
		{"x509none-pin", pinned, asVeNCrypt(260, leaf)},
		{"x509vnc-ca", password + trust, asVeNCrypt(261, leaf)},
		{"x509vnc-pin", password + pinned, asVeNCrypt(261, leaf)},
		{"x509plain-ca", "user ann\n" + password + trust, asVeNCrypt(262, leaf)},
		{"x509plain-pin", "user ann\n" + password + pinned, asVeNCrypt(262, leaf)},
		{"x509none-name", "tls {\ntrust_pool file " + ca.file + "\nserver_name desk.example\n}\n", asVeNCrypt(260, leaf)},
	}
	vnc := ""
	servers := map[string]*vncServer{}
	for _, k := range kinds {
		servers[k.name] = newVNCServer(t, k.greet)
		vnc += servers[k.name].as(k.name, k.options)
	}
	h := startVNC(t, setup{vnc: vnc})
	for _, k := range kinds {
		w := h.tlsFirst(h.issue("connect", k.name, "").host).accepted().echo(11, 12)
		if w.leave(); w.err != nil {
			t.Errorf("%s: %v", k.name, w.err)
		}
		if n := servers[k.name].connections(); n != 1 {
			t.Errorf("%s: %d connections", k.name, n)
		}
	}
}

// The viewer is shown what is wrong with a workstation, and the operator finds it in a log line and
// a count. There is one attempt, so that a server that counts failures does not shut the gateway
// out.
func TestVNCAWorkstationThatCannotBeOpenedIsReported(t *testing.T) {
	const password = "password {env.DESK_PASSWORD}\n"
	ca, other := newAuthority(t), newAuthority(t)
	leaf, foreign := ca.leaf(), other.leaf()
	trust := "tls {\ntrust_pool file " + ca.file + "\n}\n"
	pinned := "tls {\npinned_key " + pin(t, leaf) + "\n}\n"
	cases := []struct {
		name, options, code, text, cause string
		greet                            func(*wire)
	}{
		{"password", password, "workstation_password", "refused the gateway's password", "wrong user or password",
			func(w *wire) {
				offering(w, 2).hear(2).say("0123456789abcdef").take(16)
				w.refuse("Authentication failed")
			}},
		{"password-plain", "user bob\n" + password + trust, "workstation_password", "refused the gateway's password", "wrong user or password", asVeNCrypt(262, leaf)},
		{"blacklisting", password, "workstation_blacklisted", "refuses connections for a while", "Too many security failures",
			func(w *wire) { w.say("RFB 003.003\n", uint32(0), uint32(26), "Too many security failures") }},
		{"refusing", "", "workstation_refused", "refused the connection", "Closed today",
			func(w *wire) { offering(w).say(uint32(12), "Closed today") }},
		{"closing", "", "workstation_failed", "did not answer as a VNC server", "reading the workstation's version", func(w *wire) { w.fail("closed") }},
		{"stalling", "", "workstation_timeout", "did not answer in time", "timeout", func(w *wire) { w.take(1) }},
		{"garbage", "", "workstation_failed", "did not answer as a VNC server", "SSH-", func(w *wire) { w.say("SSH-2.0-OpenSSH_9.2\r\n").take(1) }},
		{"huge-name", "", "workstation_failed", "did not answer as a VNC server", "name of the desktop",
			func(w *wire) { asNone(w); w.hear(1).say(serverInit[:20], uint32(1<<31), "x").take(1) }},
		{"nothing-in-common", "", "workstation_security", "offers no security type", "no security type in common", func(w *wire) { offering(w, 16, 30).take(1) }},
		{"no-tls", trust, "workstation_security", "offers no security type", "no security type in common", func(w *wire) { offering(w, 1, 2).take(1) }},
		{"no-password", "", "workstation_security", "offers no security type", "no security type in common", func(w *wire) { offering(w, 2).take(1) }},
		{"wrong-ca", trust, "workstation_certificate", "did not show the expected certificate", "certificate signed by unknown authority", asVeNCrypt(260, foreign)},
		{"wrong-pin", pinned, "workstation_certificate", "did not show the expected certificate", "not the pinned one", asVeNCrypt(260, foreign)},
	}
	vnc, servers := "workstation nobody 127.0.0.1:1\n", map[string]*vncServer{}
	for _, c := range cases {
		servers[c.name] = newVNCServer(t, c.greet)
		vnc += servers[c.name].as(c.name, c.options)
	}
	h := startVNC(t, setup{vnc: vnc, vncHandler: "step_timeout 1500ms"})
	cases = append(cases, struct {
		name, options, code, text, cause string
		greet                            func(*wire)
	}{"nobody", "", "workstation_unreachable", "cannot be reached", "connection refused", nil})
	counts := map[string]float64{}
	for _, c := range cases {
		a := h.issue("connect", c.name, "")
		w := h.tlsFirst(a.host)
		if text := w.refusal(); w.err != nil || !strings.Contains(text, c.text) || strings.Contains(text, c.cause) {
			t.Errorf("%s: the viewer is told %q, %v", c.name, text, w.err)
		}
		counts[c.code]++
		line := h.vncLogLine(`"msg":"vnc connection refused"`, `"workstation":"`+c.name+`"`, c.cause)
		if at(line, "code") != c.code || at(line, "key") != "connect" || at(line, "level") != "warn" {
			t.Errorf("%s: line %v", c.name, line)
		}
		if d := servers[c.name]; d != nil && d.connections() != 1 {
			t.Errorf("%s: %d connections", c.name, d.connections())
		}
		row := h.vncRecord(c.name)
		if at(row, "status") != number("502") || at(row, "code") != c.code {
			t.Errorf("%s: row %v", c.name, row)
		}
	}
	for code, n := range counts {
		h.refusedSoon(code, n)
	}
	// The viewer has done nothing wrong: its address is not slowed down, and its token is good
	// still.
	if n := h.metric("gatehouse_vnc_sessions_open"); n != 0 {
		t.Errorf("%v sessions are open", n)
	}
}
