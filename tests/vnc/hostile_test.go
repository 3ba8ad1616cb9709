package vnc

import (
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A client that is no viewer, or a hostile one, gets a clear end and is counted, and costs a live
// session nothing.
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
		{"a version of no sense", "garbage", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("RFB 0x3.008\n") }},
		{"a version of before", "version", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("RFB 002.000\n") }},
		{"SSH", "garbage", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("SSH-2.0-x\r\n") }},
		{"late HTTP", "http", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("GET / HTTP/1.1\r\n\r\n") }},
		{"late TLS", "late_tls", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send(record) }},
		{"a type that was not offered", "not_offered", func(w *harness.Conn) {
			w.Expect("RFB 003.008\n").Send("RFB 003.008\n").Expect(2, 19, 2).Send(1).Expect(uint32(1))
			if text := w.Text(); w.Err == nil && !strings.Contains(text, "not offered") {
				w.Fail("told %q", text)
			}
		}},
		{"another VeNCrypt version", "version", func(w *harness.Conn) { w.Greet("RFB 003.008\n", 19).Expect(0, 2).Send(0, 1).Expect(255) }},
		{"a sub-type that was not offered", "not_offered", func(w *harness.Conn) {
			w.Greet("RFB 003.008\n", 19).Expect(0, 2).Send(0, 2).Expect(0, 3).ReadN(12)
			w.Send(uint32(257)).Expect(0)
		}},
		{"Plain without TLS", "not_offered", func(w *harness.Conn) {
			w.Greet("RFB 003.008\n", 19).Expect(0, 2).Send(0, 2).Expect(0, 3).ReadN(12)
			w.Send(uint32(256)).Expect(0)
		}},
		{"plain text behind the choice", "plaintext", func(w *harness.Conn) {
			w.Greet("RFB 003.008\n", 19).Expect(0, 2).Send(0, 2).Expect(0, 3).ReadN(12)
			w.Send(uint32(262), uint32(0), uint32(26))
		}},
		{"plain text instead of TLS", "plaintext", func(w *harness.Conn) {
			chosen(w.Greet("RFB 003.008\n", 19), 262).Send(uint32(0), uint32(26), "abcdefghijklmnop")
		}},
		{"a ClientHello that is none", "tls", func(w *harness.Conn) { chosen(w.Greet("RFB 003.008\n", 19), 260).Send(record, "\x63\x00\x00\x01\x00") }},
		{"TLS 1.1", "tls", func(w *harness.Conn) {
			chosen(w.Greet("RFB 003.008\n", 19), 260)
			if w.StartTLSWith(&tls.Config{ServerName: "a." + harness.VNCDomain, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); w.Err != nil && strings.HasPrefix(w.Err.Error(), "TLS: ") {
				w.Err = nil
			}
		}},
		{"a long password", "too_long", func(w *harness.Conn) {
			chosen(w.Greet("RFB 003.008\n", 19), 262).StartTLS("").Send(uint32(0), uint32(256))
		}},
		{"a very long user", "too_long", func(w *harness.Conn) {
			chosen(w.Greet("RFB 003.008\n", 19), 262).StartTLS("").Send(uint32(0xffffffff), uint32(0))
		}},
		{"a guess", "unknown", func(w *harness.Conn) {
			chosen(w.Greet("RFB 003.008\n", 19), 262).StartTLS("").Plain("", strings.Repeat("a", 26)).Expect(uint32(1))
		}},
		{"a guess of VNC authentication", "unknown", func(w *harness.Conn) {
			w.Greet("RFB 003.008\n", 2).ReadN(16)
			w.Send("0123456789abcdef").Expect(uint32(1))
		}},
		{"half a version, and gone", "gone", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("RFB 00"); _ = halfClose(w) }},
		{"half a version, and silence", "timeout", func(w *harness.Conn) { w.Expect("RFB 003.008\n").Send("RFB 00") }},
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

func TestVNCWhoSpeaksFirstAndNoTLSIsAnswered(t *testing.T) {
	h := harness.StartVNC(t, harness.Setup{VNCHandler: "tls_first_wait 10s\nstep_timeout 1500ms", VNC: "workstation demo {\ntest_card\n}"})
	for _, request := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /v1 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "PRI * HTTP/2.0\r\n\r\n"} {
		w := h.VNC.Dial("").Send(request)
		answer, err := io.ReadAll(w)
		if w.Err != nil || err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 Bad Request\r\n") || !strings.Contains(string(answer), "speaks VNC") {
			t.Errorf("%.10q: %q, %v, %v", request, answer, w.Err, err)
		}
		w.Leave()
	}
	refusedSoon(h, "http", 3)
	for _, text := range []string{"RFB 003.008\n", "\x80\x2e\x01", "\x03\x00\x00\x13"} { // a server, SSL 2, RDP
		w := h.VNC.Dial("").Send(text)
		if w.End(); w.Err != nil {
			t.Errorf("%q: %v", text, w.Err)
		}
	}
	refusedSoon(h, "garbage", 3)
	for name, config := range map[string]*tls.Config{
		"TLS 1.1":        {ServerName: "a." + harness.VNCDomain, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
		"an ALPN of h2":  {ServerName: "a." + harness.VNCDomain, NextProtos: []string{"h2"}, RootCAs: h.VNC.Roots()},
		"half the hello": nil,
	} {
		w := h.VNC.Dial("")
		if config == nil {
			w.Send("\x16\x03\x01\x02\x00\x01\x00")
		} else if w.StartTLSWith(config); name == "TLS 1.1" && w.Err == nil {
			t.Error("TLS 1.1 is spoken")
		}
		if !closed(w) {
			t.Errorf("%s: it is not let go", name)
		}
		w.Leave()
	}
	h.VNC.WaitClosed()
}

// A byte now and then keeps no step open.
func TestVNCASlowViewerHasItsStepAndNoMore(t *testing.T) {
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent + "step_timeout 1s\nauth_timeout 1s", VNC: "workstation demo {\ntest_card\n}"})
	before := refusedBy(h, "timeout")
	steps := map[string]func(w *harness.Conn) *harness.Conn{
		"version": func(w *harness.Conn) *harness.Conn { return w.Expect("RFB 003.008\n") },
		"type": func(w *harness.Conn) *harness.Conn {
			return w.Expect("RFB 003.008\n").Send("RFB 003.008\n").Expect(1, 19)
		},
		"TLS":         func(w *harness.Conn) *harness.Conn { w.Greet("RFB 003.008\n", 19).VeNCrypt(262); return w },
		"credentials": func(w *harness.Conn) *harness.Conn { w.Greet("RFB 003.008\n", 19).VeNCrypt(262); return w.StartTLS("") },
	}
	drips := map[string]string{"version": "RFB 003.00", "type": "", "TLS": "\x16\x03\x01\x10\x00\x01", "credentials": "\x00\x00\x00\x00\x00\x00\x00\xff"}
	var all sync.WaitGroup
	for name, step := range steps {
		all.Go(func() {
			w := step(h.VNC.Dial(harness.ViewerAddress))
			defer w.Leave()
			if w.Err != nil {
				t.Errorf("%s: %v", name, w.Err)
				return
			}
			ended := make(chan bool, 1)
			go func() { ended <- closed(w) }()
			tick := time.NewTicker(250 * time.Millisecond)
			defer tick.Stop()
			for drip := drips[name]; ; {
				select {
				case clean := <-ended:
					if !clean {
						t.Errorf("%s: it is not let go", name)
					}
					return
				case <-tick.C:
					if drip != "" {
						_, _ = io.WriteString(w, drip[:1]) // it may be over
						drip = drip[1:]
					}
				}
			}
		})
	}
	all.Wait()
	refusedSoon(h, "timeout", before+float64(len(steps)))
}
