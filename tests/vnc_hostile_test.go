package tests

import (
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// A client that is no viewer, or a hostile one, gets a clear end and is counted, and costs a live
// session nothing.
func TestVNCBadInputEndsClearly(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: silent + "step_timeout 1500ms", vnc: "vncauth on\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	live := h.dialVNC("").greeted("RFB 003.008\n", 19)
	live.veNCrypt(260)
	h.good(live.startTLS(a.host).accepted().echo(1, 1))
	record := string([]byte{0x16, 3, 1, 0, 5})
	chosen := func(w *wire, sub uint32) *wire { w.veNCrypt(sub); return w }
	counts := map[string]float64{}
	for i, c := range []struct {
		name, reason string
		come         func(w *wire)
	}{
		{"bytes of no protocol", "garbage", func(w *wire) { w.hear("RFB 003.008\n").say("\x00\x01\x02\x03\x04") }},
		{"a version of no sense", "garbage", func(w *wire) { w.hear("RFB 003.008\n").say("RFB 0x3.008\n") }},
		{"a version of before", "version", func(w *wire) { w.hear("RFB 003.008\n").say("RFB 002.000\n") }},
		{"SSH", "garbage", func(w *wire) { w.hear("RFB 003.008\n").say("SSH-2.0-x\r\n") }},
		{"late HTTP", "http", func(w *wire) { w.hear("RFB 003.008\n").say("GET / HTTP/1.1\r\n\r\n") }},
		{"late TLS", "late_tls", func(w *wire) { w.hear("RFB 003.008\n").say(record) }},
		{"a type that was not offered", "not_offered", func(w *wire) {
			w.hear("RFB 003.008\n").say("RFB 003.008\n").hear(2, 19, 2).say(1).hear(uint32(1))
			if text := w.text(); w.err == nil && !strings.Contains(text, "not offered") {
				w.fail("told %q", text)
			}
		}},
		{"another VeNCrypt version", "version", func(w *wire) { w.greeted("RFB 003.008\n", 19).hear(0, 2).say(0, 1).hear(255) }},
		{"a sub-type that was not offered", "not_offered", func(w *wire) {
			w.greeted("RFB 003.008\n", 19).hear(0, 2).say(0, 2).hear(0, 3).take(12)
			w.say(uint32(257)).hear(0)
		}},
		{"Plain without TLS", "not_offered", func(w *wire) {
			w.greeted("RFB 003.008\n", 19).hear(0, 2).say(0, 2).hear(0, 3).take(12)
			w.say(uint32(256)).hear(0)
		}},
		{"plain text behind the choice", "plaintext", func(w *wire) {
			w.greeted("RFB 003.008\n", 19).hear(0, 2).say(0, 2).hear(0, 3).take(12)
			w.say(uint32(262), uint32(0), uint32(26))
		}},
		{"plain text instead of TLS", "plaintext", func(w *wire) {
			chosen(w.greeted("RFB 003.008\n", 19), 262).say(uint32(0), uint32(26), "abcdefghijklmnop")
		}},
		{"a ClientHello that is none", "tls", func(w *wire) { chosen(w.greeted("RFB 003.008\n", 19), 260).say(record, "\x63\x00\x00\x01\x00") }},
		{"TLS 1.1", "tls", func(w *wire) {
			chosen(w.greeted("RFB 003.008\n", 19), 260)
			if w.startTLSWith(&tls.Config{ServerName: "a." + vncDomain, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); w.err != nil && strings.HasPrefix(w.err.Error(), "TLS: ") {
				w.err = nil
			}
		}},
		{"a long password", "too_long", func(w *wire) {
			chosen(w.greeted("RFB 003.008\n", 19), 262).startTLS("").say(uint32(0), uint32(256))
		}},
		{"a very long user", "too_long", func(w *wire) {
			chosen(w.greeted("RFB 003.008\n", 19), 262).startTLS("").say(uint32(0xffffffff), uint32(0))
		}},
		{"a guess", "unknown", func(w *wire) {
			chosen(w.greeted("RFB 003.008\n", 19), 262).startTLS("").plain("", strings.Repeat("a", 26)).hear(uint32(1))
		}},
		{"a guess of VNC authentication", "unknown", func(w *wire) { w.greeted("RFB 003.008\n", 2).take(16); w.say("0123456789abcdef").hear(uint32(1)) }},
		{"half a version, and gone", "gone", func(w *wire) { w.hear("RFB 003.008\n").say("RFB 00"); _ = w.halfClose() }},
		{"half a version, and silence", "timeout", func(w *wire) { w.hear("RFB 003.008\n").say("RFB 00") }},
		{"silence", "timeout", func(w *wire) { w.hear("RFB 003.008\n") }},
	} {
		if _, known := counts[c.reason]; !known {
			counts[c.reason] = h.refusedBy(c.reason)
		}
		counts[c.reason]++
		w := h.dialVNC(fmt.Sprintf("127.0.6.%d", i+1))
		if c.come(w); w.err != nil {
			t.Errorf("%s: %v", c.name, w.err)
		}
		if !w.closed() {
			t.Errorf("%s: it is not let go", c.name)
		}
		w.leave()
		if !eventually(func() bool { return h.refusedBy(c.reason) >= counts[c.reason] }) {
			t.Errorf("%s: not counted as %s", c.name, c.reason)
		}
	}
	h.good(live.echo(1, 2))
	live.leave()
	h.vncClosed()
}

func TestVNCWhoSpeaksFirstAndNoTLSIsAnswered(t *testing.T) {
	h := startVNC(t, setup{vncHandler: "tls_first_wait 10s\nstep_timeout 1500ms", vnc: "workstation demo {\ntest_card\n}"})
	for _, request := range []string{"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /v1 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", "PRI * HTTP/2.0\r\n\r\n"} {
		w := h.dialVNC("").say(request)
		answer, err := io.ReadAll(w)
		if w.err != nil || err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 400 Bad Request\r\n") || !strings.Contains(string(answer), "speaks VNC") {
			t.Errorf("%.10q: %q, %v, %v", request, answer, w.err, err)
		}
		w.leave()
	}
	h.refusedSoon("http", 3)
	for _, text := range []string{"RFB 003.008\n", "\x80\x2e\x01", "\x03\x00\x00\x13"} { // a server, SSL 2, RDP
		w := h.dialVNC("").say(text)
		if w.over(); w.err != nil {
			t.Errorf("%q: %v", text, w.err)
		}
	}
	h.refusedSoon("garbage", 3)
	for name, config := range map[string]*tls.Config{
		"TLS 1.1":        {ServerName: "a." + vncDomain, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11},
		"an ALPN of h2":  {ServerName: "a." + vncDomain, NextProtos: []string{"h2"}, RootCAs: h.roots()},
		"half the hello": nil,
	} {
		w := h.dialVNC("")
		if config == nil {
			w.say("\x16\x03\x01\x02\x00\x01\x00")
		} else if w.startTLSWith(config); name == "TLS 1.1" && w.err == nil {
			t.Error("TLS 1.1 is spoken")
		}
		if !w.closed() {
			t.Errorf("%s: it is not let go", name)
		}
		w.leave()
	}
	h.vncClosed()
}

// A byte now and then keeps no step open.
func TestVNCASlowViewerHasItsStepAndNoMore(t *testing.T) {
	h := startVNC(t, setup{vncHandler: silent + "step_timeout 1s\nauth_timeout 1s", vnc: "workstation demo {\ntest_card\n}"})
	before := h.refusedBy("timeout")
	steps := map[string]func(w *wire) *wire{
		"version":     func(w *wire) *wire { return w.hear("RFB 003.008\n") },
		"type":        func(w *wire) *wire { return w.hear("RFB 003.008\n").say("RFB 003.008\n").hear(1, 19) },
		"TLS":         func(w *wire) *wire { w.greeted("RFB 003.008\n", 19).veNCrypt(262); return w },
		"credentials": func(w *wire) *wire { w.greeted("RFB 003.008\n", 19).veNCrypt(262); return w.startTLS("") },
	}
	drips := map[string]string{"version": "RFB 003.00", "type": "", "TLS": "\x16\x03\x01\x10\x00\x01", "credentials": "\x00\x00\x00\x00\x00\x00\x00\xff"}
	var all sync.WaitGroup
	for name, step := range steps {
		all.Go(func() {
			w := step(h.dialVNC(ownAddress))
			defer w.leave()
			if w.err != nil {
				t.Errorf("%s: %v", name, w.err)
				return
			}
			ended := make(chan bool, 1)
			go func() { ended <- w.closed() }()
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
	h.refusedSoon("timeout", before+float64(len(steps)))
}
