package vnc

import (
	"bytes"
	"testing"

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

func TestVNCARelayedViewerDoesWhatThePolicyAllows(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	all := [][]byte{pixelFormat, keyEvent, cutText, setSize}
	wantMessages(h, "by default", arrived(h, d, h.VNC.Issue("connect", "one", ""), all...), all...)
	wantMessages(h, "view only, as asked", arrived(h, d, h.VNC.Issue("connect", "one", `{"view_only":true}`), append(all, []byte{5, 1, 0, 9, 0, 9})...), pixelFormat)

	h.Become(harness.Setup{VNC: "view_only\n" + d.As("one", "")})
	wantMessages(h, "view only, by the rule", arrived(h, d, h.VNC.Issue("connect", "one", ""), all...), pixelFormat)
	wantMessages(h, "not view only, as asked", arrived(h, d, h.VNC.Issue("connect", "one", `{"view_only":false}`), all...), all...)

	h.Become(harness.Setup{VNC: "fixed_size\nclipboard_in off\n" + d.As("one", "")})
	wantMessages(h, "fixed size, no clipboard", arrived(h, d, h.VNC.Issue("connect", "one", ""), all...), pixelFormat, keyEvent)
}
