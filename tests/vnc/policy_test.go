package vnc

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Messages of a viewer.
var (
	keyEvent    = []byte{4, 1, 0, 0, 0, 0, 0, 'a'}
	cutText     = append([]byte{6, 0, 0, 0, 0, 0, 0, 5}, "hello"...)
	setSize     = append([]byte{251, 0, 4, 0, 3, 0, 1, 0}, make([]byte, 16)...)
	pixelFormat = append([]byte{0, 0, 0, 0}, harness.ServerInit[4:20]...)
	updateAll   = []byte{3, 0, 0, 0, 0, 0, 5, 0, 2, 0xd0}
)

// arrived sends the messages and returns what the workstation got of them, or instead of them. The
// last, a full update request, always passes.
func arrived(h *harness.Gateway, d *harness.VNCServer, a harness.Address, messages ...[]byte) [][]byte {
	h.T.Helper()
	d.Forget()
	w := h.VNC.TLSFirst(a.Host).Accepted()
	defer w.Leave()
	for _, m := range messages {
		w.Send(m)
	}
	mustSucceed(h, w.Send(updateAll))
	var got [][]byte
	if !harness.Eventually(func() bool {
		got = d.Messages(1)
		return bytes.Equal(got[len(got)-1], updateAll)
	}) {
		h.T.Fatalf("the last message did not arrive: %v", got)
	}
	w.Leave()
	h.VNC.WaitClosed()
	return got[:len(got)-1]
}

func wantMessages(h *harness.Gateway, what string, got [][]byte, want ...[]byte) {
	h.T.Helper()
	if !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
		h.T.Errorf("%s: the workstation got\n%v, want\n%v", what, got, want)
	}
}
