package vnc

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const busy = "Another viewer is connected."

// refusedWith connects with an address and must be refused with the text.
func refusedWith(h *harness.Gateway, a harness.Address, text string) {
	h.T.Helper()
	w := h.VNC.TLSFirst(a.Host)
	if got := w.Refusal(); w.Err != nil || got != text {
		h.T.Errorf("told %q, %v; want %q", got, w.Err, text)
	}
}

func TestVNCASecondViewerIsRefusedReplacesOrShares(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	first := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	refusedWith(h, h.VNC.Issue("desk", "one", ""), busy)
	refusedSoon(h, "busy", 1)

	h.Become(harness.Setup{VNC: "on_conflict replace\n" + d.As("one", "")})
	second := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	if first.End(); first.Err != nil {
		t.Errorf("the one that was replaced: %v", first.Err)
	}
	if line := vncLogLine(h, `"ended":"replaced"`); harness.At(line, "remote") != first.LocalAddr().String() {
		t.Errorf("%v", line)
	}

	h.Become(harness.Setup{VNC: "on_conflict share\n" + d.As("one", "")})
	third := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	for _, w := range []*harness.Conn{second, third} {
		mustSucceed(h, w.Echo(20, 30))
	}
	if n := len(h.VNC.Sessions("one")); n != 2 {
		t.Errorf("%d sessions", n)
	}
}
