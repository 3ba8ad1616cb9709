package vnc

import (
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// The TLS of an earlier handler of the route counts as TLS first.
func TestVNCTheTLSOfAnEarlierHandlerCounts(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Route: "tls {\nconnection_policy {\nfallback_sni *." + harness.VNCDomain + "\n}\n}\nvnc", VNC: d.As("one", "")})
	w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	end := busyViewer(w)
	h.VNC.Release("one")
	harness.WantEnd(t, "the viewer", end)
	w = h.VNC.TLSFirst(neverIssued)
	if text := w.Refusal(); w.Err != nil || !strings.Contains(text, "not valid") {
		t.Errorf("%q, %v", text, w.Err)
	}
}

// On a port shared with HTTPS a live token's name goes to the desktop and all else to the site. A
// match uses nothing up: caddy-l4 asks repeatedly. The site is checked without the race detector
// only: caddy-l4 v0.1.2 reads a connection's counters after it has passed it to the site.
func TestVNCTheTokenMatcherOnlyLooks(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	s := harness.Setup{VNC: "pin_client\n" + d.As("one", ""), Global: `
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
	h := harness.StartVNC(t, s)
	h.Change(h.Caddyfile(s) + "https://localhost:HTTPS_PORT {\nbind 127.0.0.1\ntls internal\ngatehouse\n}\n")
	h.Ports.VNC = h.Ports.HTTPS // from here on viewers come to the port of HTTPS
	a := h.VNC.Issue("connect", "one", `{"expires_in":600}`)
	for i := range 20 {
		w := h.VNC.Dial("127.0.5." + strconv.Itoa(1+i)).StartTLS(a.Host) // matches, and leaves
		mustSucceed(h, w)
		w.Leave()
	}
	h.VNC.WaitClosed()
	v := harness.Parse(t, h.Client.Want(200, "GET", workstations+"/one", "manage", "").Body)
	if harness.At(v, "tokens") != harness.Number("1") || harness.At(v, "sessions") != harness.Number("0") || d.Connections() != 0 {
		t.Errorf("%v, %d connections", v, d.Connections())
	}
	w := h.VNC.View(a) // it is not pinned to another address
	end := busyViewer(w)
	h.VNC.Release("one")
	harness.WantEnd(t, "the viewer", end)
	if harness.RaceDetector {
		return
	}
	h.Client.Secure = h.Ports.SecureOrigin()
	h.Trust()
	if a := h.Client.Get(h.Client.Secure+"/v1/models", "full"); a.Status != 200 {
		t.Errorf("the site: %d %s", a.Status, a.Body)
	}
	w = h.VNC.Dial("").StartTLSWith(trusting(h, a.Host)) // now it is a name like any other
	if line := w.Send("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n").ReadN(5); w.Err == nil && string(line) != "HTTP/" {
		t.Errorf("a dead token's name reaches %q", line)
	}
	w.Leave()
}

// A connection policy may ask the matcher too.
func TestVNCAConnectionPolicyMayAskForALiveToken(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNCHandler: "connection_policy {\nmatch {\nvnc_token\n}\n}\nconnection_policy {\nmatch {\nsni plain." + harness.VNCDomain + "\n}\nprotocols tls1.3\n}", VNC: d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	if !harness.Eventually(func() bool {
		w := h.VNC.Dial("").StartTLS(a.Host)
		defer w.Leave()
		return w.Err == nil
	}) {
		t.Fatal("a live token has no policy")
	}
	w := h.VNC.View(a)
	w.Leave()
	dead := h.VNC.Dial("").StartTLS("nobody." + harness.VNCDomain)
	if dead.Err == nil {
		t.Error("a dead token has a policy")
	}
	dead.Leave()
}
