package vnc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A viewer that is refused shows the reason in its window, from the SecurityResult, and is counted
// by reason.
func TestVNCEveryBadTokenIsRefusedWithItsReason(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	all := d.As("one", "") + d.As("two", "") + d.As("three", "")
	h := harness.StartVNC(t, harness.Setup{VNC: all})
	live := h.VNC.Issue("connect", "one", "")
	expired := h.VNC.Issue("connect", "one", `{"expires_in":1}`)
	released := h.VNC.Issue("connect", "two", "")
	h.VNC.Release("two")
	ended := h.VNC.Issue("connect", "three", "")
	w := h.VNC.View(ended)
	for _, id := range h.VNC.Sessions("three") {
		h.Client.Want(204, "DELETE", "/v1/workstations/three/sessions/"+id, "desk", "")
	}
	if w.End(); w.Err != nil {
		t.Error(w.Err)
	}
	if !harness.Eventually(func() bool {
		return !strings.Contains(string(h.Client.Get("/v1/workstations/one", "desk").Body), `"tokens":2`)
	}) {
		t.Fatal("the token does not expire")
	}
	const invalid, old = "This VNC address is not valid. Ask for a new one.", "This VNC address has expired. Ask for a new one."
	counts := map[string]float64{}
	cases := []struct{ name, host, reason, text string }{ // the first five have the form of an address
		{"a random token", strings.Repeat("a2", 13) + "." + harness.VNCDomain, "unknown", invalid},
		{"an expired token", expired.Host, "expired", old},
		{"a released workstation", released.Host, "released", "This workstation was released."},
		{"a session ended by hand", ended.Host, "revoked", "This VNC address was withdrawn. Ask for a new one."},
		{"another random token", strings.Repeat("2b", 13) + "." + harness.VNCDomain, "unknown", invalid},
		{"a short label", "abc." + harness.VNCDomain, "unknown", invalid},
		{"a label before the token", "www." + live.Host, "unknown", invalid},
		{"a label behind the token", live.Token + ".x." + harness.VNCDomain, "unknown", invalid},
		{"another domain", live.Token + ".vnc.example", "unknown", invalid},
		{"the domain alone", harness.VNCDomain, "unknown", invalid},
		{"no server name", "", "no_server_name", "Your viewer did not send the host name. " +
			"Connect again and enter the first part of the VNC address (before the first dot) as the password."},
	}
	for i, c := range cases {
		w := h.VNC.Dial(fmt.Sprintf("127.0.1.%d", i+1))
		w.StartTLSWith(trusting(h, c.host)).Expect("RFB 003.008\n").Send("RFB 003.008\n")
		if i < 5 {
			w.Expect(1, 1).Send(1)
		} else {
			w.Expect(2, 19, 1).Send(1) // a password would do
		}
		if text := w.Refusal(); w.Err != nil || text != c.text {
			t.Errorf("%s: %q, %v; want %q", c.name, text, w.Err, c.text)
		}
		counts[c.reason]++
	}
	become(h, harness.Setup{VNCHandler: silent, VNC: all}) // tokens know nothing of it
	for i, c := range cases {
		w := h.VNC.Dial(fmt.Sprintf("127.0.1.%d", i+101)).Greet("RFB 003.008\n", 19)
		w.VeNCrypt(260)
		w.StartTLSWith(trusting(h, c.host))
		if text := w.Refusal(); w.Err != nil || text != c.text {
			t.Errorf("%s, VeNCrypt: %q, %v; want %q", c.name, text, w.Err, c.text)
		}
		counts[c.reason]++
	}
	for reason, n := range counts {
		refusedSoon(h, reason, n)
	}
	if n := d.Connections(); n != 1 {
		t.Errorf("the workstations were reached %d times", n)
	}
	w = h.VNC.Dial("").Greet("RFB 003.008\n", 19) // the live token has suffered nothing
	w.VeNCrypt(260)
	if w.StartTLS(live.Host).Accepted().Echo(1, 2).Leave(); w.Err != nil {
		t.Error(w.Err)
	}
	for _, a := range []harness.Address{live, expired, released, ended} {
		if lines := harness.Log.Lines(a.Token); len(lines) > 0 {
			t.Errorf("the log holds a token: %s", lines[0])
		}
	}
}

func TestVNCOldViewersAreRefusedAsTheyUnderstand(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: both, VNC: d.As("one", "")})
	name := strings.Repeat("a2", 13) + "." + harness.VNCDomain
	const text = "This VNC address is not valid. Ask for a new one."
	w := h.VNC.Dial("").StartTLS(name).Expect("RFB 003.008\n").Send("RFB 003.007\n").Expect(0)
	if got := w.Text(); w.Err != nil || got != text {
		t.Errorf("TLS first, 3.7: %q, %v", got, w.Err)
	}
	w.End()
	w3 := h.VNC.Dial("").StartTLS(name).Expect("RFB 003.008\n").Send("RFB 003.003\n").Expect(uint32(0))
	if got := w3.Text(); w3.Err != nil || got != text {
		t.Errorf("TLS first, 3.3: %q, %v", got, w3.Err)
	}
	w3.End()
	v := h.VNC.Dial("").Greet("RFB 003.007\n", 19) // a result has no reason in 3.7
	v.VeNCrypt(260)
	v.StartTLS(name).Expect(uint32(1)).End()
	for _, w := range []*harness.Conn{w, w3, v} {
		if w.Err != nil {
			t.Error(w.Err)
		}
	}
	refusedSoon(h, "unknown", 3)
}
