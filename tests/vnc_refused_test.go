package tests

import (
	"fmt"
	"strings"
	"testing"
)

// A viewer that is refused shows the reason in its window, from the SecurityResult, and is counted
// by reason.
func TestVNCEveryBadTokenIsRefusedWithItsReason(t *testing.T) {
	d := newVNCServer(t, asNone)
	all := d.as("one", "") + d.as("two", "") + d.as("three", "")
	h := startVNC(t, setup{vnc: all})
	live := h.issue("connect", "one", "")
	expired := h.issue("connect", "one", `{"expires_in":1}`)
	released := h.issue("connect", "two", "")
	h.release("two")
	ended := h.issue("connect", "three", "")
	w := h.view(ended)
	for _, id := range h.sessions("three") {
		h.want(204, "DELETE", "/v1/workstations/three/sessions/"+id, "desk", "")
	}
	if w.over(); w.err != nil {
		t.Error(w.err)
	}
	if !eventually(func() bool {
		return !strings.Contains(string(h.get("/v1/workstations/one", "desk").body), `"tokens":2`)
	}) {
		t.Fatal("the token does not expire")
	}
	const invalid, old = "This VNC address is not valid. Ask for a new one.", "This VNC address has expired. Ask for a new one."
	counts := map[string]float64{}
	cases := []struct{ name, host, reason, text string }{ // the first five have the form of an address
		{"a random token", strings.Repeat("a2", 13) + "." + vncDomain, "unknown", invalid},
		{"an expired token", expired.host, "expired", old},
		{"a released workstation", released.host, "released", "This workstation was released."},
		{"a session ended by hand", ended.host, "revoked", "This VNC address was withdrawn. Ask for a new one."},
		{"another random token", strings.Repeat("2b", 13) + "." + vncDomain, "unknown", invalid},
		{"a short label", "abc." + vncDomain, "unknown", invalid},
		{"a label before the token", "www." + live.host, "unknown", invalid},
		{"a label behind the token", live.token + ".x." + vncDomain, "unknown", invalid},
		{"another domain", live.token + ".vnc.example", "unknown", invalid},
		{"the domain alone", vncDomain, "unknown", invalid},
		{"no server name", "", "no_server_name", "Your viewer did not send the host name. " +
			"Connect again and enter the first part of the VNC address (before the first dot) as the password."},
	}
	for i, c := range cases {
		w := h.dialVNC(fmt.Sprintf("127.0.1.%d", i+1))
		w.startTLSWith(h.trusting(c.host)).hear("RFB 003.008\n").say("RFB 003.008\n")
		if i < 5 {
			w.hear(1, 1).say(1)
		} else {
			w.hear(2, 19, 1).say(1) // a password would do
		}
		if text := w.refusal(); w.err != nil || text != c.text {
			t.Errorf("%s: %q, %v; want %q", c.name, text, w.err, c.text)
		}
		counts[c.reason]++
	}
	h.become(setup{vncHandler: silent, vnc: all}) // tokens know nothing of it
	for i, c := range cases {
		w := h.dialVNC(fmt.Sprintf("127.0.1.%d", i+101)).greeted("RFB 003.008\n", 19)
		w.veNCrypt(260)
		w.startTLSWith(h.trusting(c.host))
		if text := w.refusal(); w.err != nil || text != c.text {
			t.Errorf("%s, VeNCrypt: %q, %v; want %q", c.name, text, w.err, c.text)
		}
		counts[c.reason]++
	}
	for reason, n := range counts {
		h.refusedSoon(reason, n)
	}
	if n := d.connections(); n != 1 {
		t.Errorf("the workstations were reached %d times", n)
	}
	w = h.dialVNC("").greeted("RFB 003.008\n", 19) // the live token has suffered nothing
	w.veNCrypt(260)
	if w.startTLS(live.host).accepted().echo(1, 2).leave(); w.err != nil {
		t.Error(w.err)
	}
	for _, a := range []address{live, expired, released, ended} {
		if lines := h.logLines(a.token); len(lines) > 0 {
			t.Errorf("the log holds a token: %s", lines[0])
		}
	}
}

func TestVNCOldViewersAreRefusedAsTheyUnderstand(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: both, vnc: d.as("one", "")})
	name := strings.Repeat("a2", 13) + "." + vncDomain
	const text = "This VNC address is not valid. Ask for a new one."
	w := h.dialVNC("").startTLS(name).hear("RFB 003.008\n").say("RFB 003.007\n").hear(0)
	if got := w.text(); w.err != nil || got != text {
		t.Errorf("TLS first, 3.7: %q, %v", got, w.err)
	}
	w.over()
	w3 := h.dialVNC("").startTLS(name).hear("RFB 003.008\n").say("RFB 003.003\n").hear(uint32(0))
	if got := w3.text(); w3.err != nil || got != text {
		t.Errorf("TLS first, 3.3: %q, %v", got, w3.err)
	}
	w3.over()
	v := h.dialVNC("").greeted("RFB 003.007\n", 19) // a result has no reason in 3.7
	v.veNCrypt(260)
	v.startTLS(name).hear(uint32(1)).over()
	for _, w := range []*wire{w, w3, v} {
		if w.err != nil {
			t.Error(w.err)
		}
	}
	h.refusedSoon("unknown", 3)
}
