package vnc

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A client that is no viewer, or a hostile one, gets a clear end and is counted, and costs a live
// session nothing. What else a viewer may do wrong: TestBadViewersEndClearly in internal/rfb.
func TestVNCBadInputEndsClearly(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent + "step_timeout 1500ms", VNC: "vncauth on\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	live := h.VNC.Dial("").Greet("RFB 003.008\n", 19)
	live.VeNCrypt(260)
	mustSucceed(h, live.StartTLS(a.Host).Accepted().Echo(1, 1))
	record := string([]byte{0x16, 3, 1, 0, 5})
	chosen := func(w *harness.Conn, sub uint32) *harness.Conn { w.VeNCrypt(sub); return w }
	counts := map[string]float64{}
	for i, c := range []struct {
		name, reason string
		come         func(w *harness.Conn)
	}{
		{"bytes of no protocol", "garbage", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("\x00\x01\x02\x03\x04") }},
		{"late HTTP", "http", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("GET / HTTP/1.1\r\n\r\n") }},
		{"late TLS", "late_tls", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send(record) }},
		{"plain text behind the choice", "plaintext", func(w *harness.Conn) {
			w.Greet("RFB 003.008\n", 19).Expect(0, 2).Send(0, 2).Expect(0, 3).ReadN(12)
			w.Send(uint32(262), uint32(0), uint32(26))
		}},
		{"a long password", "too_long", func(w *harness.Conn) {
			chosen(w.Greet("RFB 003.008\n", 19), 262).StartTLS("").Send(uint32(0), uint32(256))
		}},
		{"a guess", "unknown", func(w *harness.Conn) {
			chosen(w.Greet("RFB 003.008\n", 19), 262).StartTLS("").Plain("", strings.Repeat("a", 26)).Expect(uint32(1))
		}},
		{"silence", "timeout", func(w *harness.Conn) { w.Expect("RFB 003.008\n") }},
	} {
		if _, known := counts[c.reason]; !known {
			counts[c.reason] = refusedBy(h, c.reason)
		}
		counts[c.reason]++
		w := h.VNC.Dial(fmt.Sprintf("127.0.6.%d", i+1))
		if c.come(w); w.Err != nil {
			t.Errorf("%s: %v", c.name, w.Err)
		}
		if !closed(w) {
			t.Errorf("%s: it is not let go", c.name)
		}
		w.Leave()
		if !harness.Eventually(func() bool { return refusedBy(h, c.reason) >= counts[c.reason] }) {
			t.Errorf("%s: not counted as %s", c.name, c.reason)
		}
	}
	mustSucceed(h, live.Echo(1, 2))
	live.Leave()
	h.VNC.WaitClosed()
}
