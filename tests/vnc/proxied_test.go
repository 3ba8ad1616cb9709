package vnc

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// balancer is the address of a load balancer that sends PROXY headers.
const balancer = "127.0.0.50"

// behindBalancer is a route that trusts only the balancer's headers.
const behindBalancer = "proxy_protocol {\nallow " + balancer + "/32\nfallback_policy reject\n}\nvnc {\n"

// balanced dials as the balancer does for a client.
func balanced(h *harness.Gateway, client string) *harness.Conn {
	return h.VNC.Dial(balancer).Send("PROXY TCP4 " + client + " 127.0.0.1 40000 5900\r\n")
}

func TestVNCViewersBehindALoadBalancerAreKnownByTheirOwnAddress(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Route: behindBalancer + both + "\n}", VNC: "vncauth on\non_conflict share\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	viewer := func() any {
		h.T.Helper()
		list := h.Client.Do("GET", "/v1/workstations/one/sessions", "desk", "")
		return harness.At(harness.Parse(t, list.Body), "data", 0, "viewer")
	}

	w := balanced(h, "203.0.113.7").Greet("RFB 003.008\n", 2).AnswerChallenge(a.Token).Accepted().Echo(1, 2)
	if got := viewer(); w.Err != nil || got != "203.0.113.7:40000" {
		t.Errorf("viewer %v, %v", got, w.Err)
	}
	// A release reaches the viewer through the balancer's connection: its end
	// is not kept back until the last waitLimit is over.
	released := time.Now()
	h.VNC.Release("one")
	if w.End(); w.Err != nil || time.Since(released) > 2*oneSecond {
		t.Errorf("the end came after %v, %v", time.Since(released), w.Err)
	}
	h.VNC.WaitClosed()
	restoreWorkstation(h, "one")

	a = h.VNC.Issue("connect", "one", "")
	direct := h.VNC.Dial("127.0.0.51").Greet("RFB 003.008\n", 2).AnswerChallenge(a.Token).Accepted().Echo(1, 2)
	defer direct.Leave()
	if got := viewer(); direct.Err != nil || got != direct.LocalAddr().String() {
		t.Errorf("without the balancer: viewer %v, %v", got, direct.Err)
	}
	direct.Leave()
	h.VNC.WaitClosed()

	first := balanced(h, "203.0.113.9").StartTLS(a.Host).Expect("RFB 003.008\n").Send("RFB 003.008\n").Expect(1, 1).Send(1).Accepted()
	defer first.Leave()
	if got := viewer(); first.Err != nil || got != "203.0.113.9:40000" {
		t.Errorf("TLS first: viewer %v, %v", got, first.Err)
	}

	// The header of any other sender is refused.
	h.VNC.Dial("127.0.0.51").Send("PROXY TCP4 203.0.113.7 127.0.0.1 40000 5900\r\n").End()
	refusedSoon(h, "http", 1)
}

func TestVNCLimitsBehindALoadBalancerAreOfTheViewersNetwork(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Route: behindBalancer + silent + "\nmax_pending_per_network 1\n}", VNC: d.As("one", "")})
	first := balanced(h, "203.0.113.7").Expect("RFB 003.008\n")
	defer first.Leave()
	other := balanced(h, "203.0.113.8").Expect("RFB 003.008\n")
	defer other.Leave()
	if first.Err != nil || other.Err != nil {
		t.Errorf("two networks: %v, %v", first.Err, other.Err)
	}
}
