package tests

import (
	"testing"
	"time"

	_ "github.com/mholt/caddy-l4/modules/l4proxyprotocol" // a build with xcaddy has all of caddy-l4
)

// balancer is the address of a load balancer that sends PROXY headers.
const balancer = "127.0.0.50"

// behindBalancer is a route that trusts only the balancer's headers.
const behindBalancer = "proxy_protocol {\nallow " + balancer + "/32\nfallback_policy reject\n}\nvnc {\n"

// balanced dials as the balancer does for a client.
func (h *harness) balanced(client string) *wire {
	return h.dialVNC(balancer).say("PROXY TCP4 " + client + " 127.0.0.1 40000 5900\r\n")
}

func TestVNCViewersBehindALoadBalancerAreKnownByTheirOwnAddress(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{route: behindBalancer + both + "\n}", vnc: "vncauth on\non_conflict share\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	viewer := func() any {
		h.t.Helper()
		list := h.do("GET", "/v1/workstations/one/sessions", "desk", "")
		return at(parse(t, list.body), "data", 0, "viewer")
	}

	w := h.balanced("203.0.113.7").greeted("RFB 003.008\n", 2).answerChallenge(a.token).accepted().echo(1, 2)
	if got := viewer(); w.err != nil || got != "203.0.113.7:40000" {
		t.Errorf("viewer %v, %v", got, w.err)
	}
	// A release reaches the viewer through the balancer's connection: its end
	// is not kept back until the last waitLimit is over.
	released := time.Now()
	h.release("one")
	if w.over(); w.err != nil || time.Since(released) > 2*oneSecond {
		t.Errorf("the end came after %v, %v", time.Since(released), w.err)
	}
	h.vncClosed()
	h.restore("one")

	a = h.issue("connect", "one", "")
	direct := h.dialVNC("127.0.0.51").greeted("RFB 003.008\n", 2).answerChallenge(a.token).accepted().echo(1, 2)
	defer direct.leave()
	if got := viewer(); direct.err != nil || got != direct.LocalAddr().String() {
		t.Errorf("without the balancer: viewer %v, %v", got, direct.err)
	}
	direct.leave()
	h.vncClosed()

	first := h.balanced("203.0.113.9").startTLS(a.host).hear("RFB 003.008\n").say("RFB 003.008\n").hear(1, 1).say(1).accepted()
	defer first.leave()
	if got := viewer(); first.err != nil || got != "203.0.113.9:40000" {
		t.Errorf("TLS first: viewer %v, %v", got, first.err)
	}

	// The header of any other sender is refused.
	h.dialVNC("127.0.0.51").say("PROXY TCP4 203.0.113.7 127.0.0.1 40000 5900\r\n").over()
	h.refusedSoon("http", 1)
}

func TestVNCLimitsBehindALoadBalancerAreOfTheViewersNetwork(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{route: behindBalancer + silent + "\nmax_pending_per_network 1\n}", vnc: d.as("one", "")})
	first := h.balanced("203.0.113.7").hear("RFB 003.008\n")
	defer first.leave()
	other := h.balanced("203.0.113.8").hear("RFB 003.008\n")
	defer other.leave()
	if first.err != nil || other.err != nil {
		t.Errorf("two networks: %v, %v", first.err, other.err)
	}
}
