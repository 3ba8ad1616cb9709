package vnc

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

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
