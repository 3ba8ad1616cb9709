package vnc

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Dialogues of viewers that are accepted, byte by byte. The workstation's ServerInit and the echo
// of a pointer event show that it is the desktop.

func TestVNCTheTestCardIsADesktop(t *testing.T) {
	h := harness.StartVNC(t, harness.Setup{VNC: "workstation demo {\ntest_card\n}"})
	w := h.VNC.TLSFirst(h.VNC.Issue("connect", "demo", "").Host).Expect(uint32(0)).Send(1)
	if size := w.Expect(5, 0, 2, 0xd0).ReadN(16); w.Err == nil && size[0] != 32 {
		t.Errorf("pixel format %v", size)
	}
	if name := w.Text(); !strings.Contains(name, "demo") {
		t.Errorf("name %q", name)
	}
	// All of it, at once; a FramebufferUpdate comes.
	w.Send(3, 0, 0, 0, 0, 0, 5, 0, 2, 0xd0).Expect(0)
	mustSucceed(h, w)
	h.VNC.Release("demo")
	if w.End(); w.Err != nil {
		t.Error(w.Err)
	}
}
