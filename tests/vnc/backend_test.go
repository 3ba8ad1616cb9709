package vnc

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestVNCEveryKindOfWorkstationIsReached(t *testing.T) {
	const password = "password {env.DESK_PASSWORD}\n"
	ca := newAuthority(t)
	leaf := ca.leaf("desk.example")
	trust := "tls {\ntrust_pool file " + ca.file + "\n}\n"
	pinned := "tls {\npinned_key " + pin(t, leaf) + "\n}\n"
	kinds := []struct {
		name, options string
		greet         func(*harness.Conn)
	}{
		{"none", "", harness.NoSecurity},
		{"none-3.3", "", func(w *harness.Conn) { w.Send("RFB 003.003\n").Expect("RFB 003.003\n").Send(uint32(1)) }},
		{"none-3.7", "", func(w *harness.Conn) { w.Send("RFB 003.007\n").Expect("RFB 003.007\n").Send(1, 1).Expect(1) }},
		{"vncauth", password, harness.VNCAuth},
		{"vncauth-3.3", password, func(w *harness.Conn) {
			w.Send("RFB 003.003\n").Expect("RFB 003.003\n").Send(uint32(2)).CheckResponse()
		}},
		{"x509none-ca", trust, harness.VeNCrypt(260, leaf)},
		{"x509none-pin", pinned, harness.VeNCrypt(260, leaf)},
		{"x509vnc-ca", password + trust, harness.VeNCrypt(261, leaf)},
		{"x509vnc-pin", password + pinned, harness.VeNCrypt(261, leaf)},
		{"x509plain-ca", "user ann\n" + password + trust, harness.VeNCrypt(262, leaf)},
		{"x509plain-pin", "user ann\n" + password + pinned, harness.VeNCrypt(262, leaf)},
		{"x509none-name", "tls {\ntrust_pool file " + ca.file + "\nserver_name desk.example\n}\n", harness.VeNCrypt(260, leaf)},
	}
	vnc := ""
	servers := map[string]*harness.VNCServer{}
	for _, k := range kinds {
		servers[k.name] = harness.NewVNCServer(t, k.greet)
		vnc += servers[k.name].As(k.name, k.options)
	}
	h := harness.StartVNC(t, harness.Setup{VNC: vnc})
	for _, k := range kinds {
		w := h.VNC.TLSFirst(h.VNC.Issue("connect", k.name, "").Host).Accepted().Echo(11, 12)
		if w.Leave(); w.Err != nil {
			t.Errorf("%s: %v", k.name, w.Err)
		}
		if n := servers[k.name].Connections(); n != 1 {
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
		greet                            func(*harness.Conn)
	}{
		{"password", password, "workstation_password", "refused the gateway's password", "wrong user or password",
			func(w *harness.Conn) {
				harness.Offer(w, 2).Expect(2).Send("0123456789abcdef").ReadN(16)
				w.Refuse("Authentication failed")
			}},
		{"password-plain", "user bob\n" + password + trust, "workstation_password", "refused the gateway's password", "wrong user or password", harness.VeNCrypt(262, leaf)},
		{"blacklisting", password, "workstation_blacklisted", "refuses connections for a while", "Too many security failures",
			func(w *harness.Conn) { w.Send("RFB 003.003\n", uint32(0), uint32(26), "Too many security failures") }},
		{"refusing", "", "workstation_refused", "refused the connection", "Closed today",
			func(w *harness.Conn) { harness.Offer(w).Send(uint32(12), "Closed today") }},
		{"closing", "", "workstation_failed", "did not answer as a VNC server", "reading the workstation's version", func(w *harness.Conn) { w.Fail("closed") }},
		{"stalling", "", "workstation_timeout", "did not answer in time", "timeout", func(w *harness.Conn) { w.ReadN(1) }},
		{"garbage", "", "workstation_failed", "did not answer as a VNC server", "SSH-", func(w *harness.Conn) { w.Send("SSH-2.0-OpenSSH_9.2\r\n").ReadN(1) }},
		{"huge-name", "", "workstation_failed", "did not answer as a VNC server", "name of the desktop",
			func(w *harness.Conn) {
				harness.NoSecurity(w)
				w.Expect(1).Send(harness.ServerInit[:20], uint32(1<<31), "x").ReadN(1)
			}},
		{"nothing-in-common", "", "workstation_security", "offers no security type", "no security type in common", func(w *harness.Conn) { harness.Offer(w, 16, 30).ReadN(1) }},
		{"no-tls", trust, "workstation_security", "offers no security type", "no security type in common", func(w *harness.Conn) { harness.Offer(w, 1, 2).ReadN(1) }},
		{"no-password", "", "workstation_security", "offers no security type", "no security type in common", func(w *harness.Conn) { harness.Offer(w, 2).ReadN(1) }},
		{"wrong-ca", trust, "workstation_certificate", "did not show the expected certificate", "certificate signed by unknown authority", harness.VeNCrypt(260, foreign)},
		{"wrong-pin", pinned, "workstation_certificate", "did not show the expected certificate", "not the pinned one", harness.VeNCrypt(260, foreign)},
	}
	vnc, servers := "workstation nobody 127.0.0.1:1\n", map[string]*harness.VNCServer{}
	for _, c := range cases {
		servers[c.name] = harness.NewVNCServer(t, c.greet)
		vnc += servers[c.name].As(c.name, c.options)
	}
	h := harness.StartVNC(t, harness.Setup{VNC: vnc, VNCHandler: "step_timeout 1500ms"})
	cases = append(cases, struct {
		name, options, code, text, cause string
		greet                            func(*harness.Conn)
	}{"nobody", "", "workstation_unreachable", "cannot be reached", "connection refused", nil})
	counts := map[string]float64{}
	for _, c := range cases {
		a := h.VNC.Issue("connect", c.name, "")
		w := h.VNC.TLSFirst(a.Host)
		if text := w.Refusal(); w.Err != nil || !strings.Contains(text, c.text) || strings.Contains(text, c.cause) {
			t.Errorf("%s: the viewer is told %q, %v", c.name, text, w.Err)
		}
		counts[c.code]++
		line := vncLogLine(h, `"msg":"vnc connection refused"`, `"workstation":"`+c.name+`"`, c.cause)
		if harness.At(line, "code") != c.code || harness.At(line, "key") != "connect" || harness.At(line, "level") != "warn" {
			t.Errorf("%s: line %v", c.name, line)
		}
		if d := servers[c.name]; d != nil && d.Connections() != 1 {
			t.Errorf("%s: %d connections", c.name, d.Connections())
		}
		row := vncRecord(h, c.name)
		if harness.At(row, "status") != harness.Number("502") || harness.At(row, "code") != c.code {
			t.Errorf("%s: row %v", c.name, row)
		}
	}
	for code, n := range counts {
		refusedSoon(h, code, n)
	}
	// The viewer has done nothing wrong: its address is not slowed down, and its token is good
	// still.
	if n := h.Records.Metric("gatehouse_vnc_sessions_open"); n != 0 {
		t.Errorf("%v sessions are open", n)
	}
}
