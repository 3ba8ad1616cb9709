package tests

import (
	"strconv"
	"strings"
	"testing"
)

// The TLS of an earlier handler of the route counts as TLS first.
func TestVNCTheTLSOfAnEarlierHandlerCounts(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{route: "tls {\nconnection_policy {\nfallback_sni *." + vncDomain + "\n}\n}\nvnc", vnc: d.as("one", "")})
	w := h.view(h.issue("connect", "one", ""))
	end := w.busyViewer()
	h.release("one")
	wantEnd(t, "the viewer", end)
	w = h.tlsFirst(neverIssued)
	if text := w.refusal(); w.err != nil || !strings.Contains(text, "not valid") {
		t.Errorf("%q, %v", text, w.err)
	}
}

// On a port shared with HTTPS a live token's name goes to the desktop and all else to the site. A
// match uses nothing up: caddy-l4 asks repeatedly. The site is checked without the race detector
// only: caddy-l4 v0.1.2 reads a connection's counters after it has passed it to the site.
func TestVNCTheTokenMatcherOnlyLooks(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{vnc: "pin_client\n" + d.as("one", ""), global: `
	servers 127.0.0.1:HTTPS_PORT {
		listener_wrappers {
			layer4 {
				@vnc tls {
					vnc_token
				}
				route @vnc {
					tls
					vnc
				}
			}
			tls
		}
	}`}
	h := startVNC(t, s)
	h.change(h.caddyfile(s) + "https://localhost:HTTPS_PORT {\nbind 127.0.0.1\ntls internal\ngatehouse\n}\n")
	h.ports[2] = h.ports[1] // from here on viewers come to the port of HTTPS
	a := h.issue("connect", "one", `{"expires_in":600}`)
	for i := range 20 {
		w := h.dialVNC("127.0.5." + strconv.Itoa(1+i)).startTLS(a.host) // matches, and leaves
		h.good(w)
		w.leave()
	}
	h.vncClosed()
	v := parse(t, h.want(200, "GET", workstations+"/one", "manage", "").body)
	if at(v, "tokens") != number("1") || at(v, "sessions") != number("0") || d.connections() != 0 {
		t.Errorf("%v, %d connections", v, d.connections())
	}
	w := h.view(a) // it is not pinned to another address
	end := w.busyViewer()
	h.release("one")
	wantEnd(t, "the viewer", end)
	if raceDetector {
		return
	}
	h.secure = "https://localhost:" + strconv.Itoa(h.ports[1])
	h.trust()
	if a := h.get(h.secure+"/v1/models", "full"); a.status != 200 {
		t.Errorf("the site: %d %s", a.status, a.body)
	}
	w = h.dialVNC("").startTLSWith(h.trusting(a.host)) // now it is a name like any other
	if line := w.say("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n").take(5); w.err == nil && string(line) != "HTTP/" {
		t.Errorf("a dead token's name reaches %q", line)
	}
	w.leave()
}

// A connection policy may ask the matcher too.
func TestVNCAConnectionPolicyMayAskForALiveToken(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vncHandler: "connection_policy {\nmatch {\nvnc_token\n}\n}\nconnection_policy {\nmatch {\nsni plain." + vncDomain + "\n}\nprotocols tls1.3\n}", vnc: d.as("one", "")})
	a := h.issue("connect", "one", "")
	if !eventually(func() bool {
		w := h.dialVNC("").startTLS(a.host)
		defer w.leave()
		return w.err == nil
	}) {
		t.Fatal("a live token has no policy")
	}
	w := h.view(a)
	w.leave()
	dead := h.dialVNC("").startTLS("nobody." + vncDomain)
	if dead.err == nil {
		t.Error("a dead token has a policy")
	}
	dead.leave()
}
