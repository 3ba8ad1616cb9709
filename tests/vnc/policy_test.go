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

func TestVNCAMessageThatIsNoneEndsTheSession(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	for name, c := range map[string]struct {
		message     []byte
		code, cause string
	}{
		"an unknown type": {[]byte{77, 0, 0, 0}, "message", "message type [77] is not known"},
		"a long cut text": {[]byte{6, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff}, "too_long", "a cut text of 2147483647 bytes, more than 16777216"},
	} {
		w := h.VNC.View(a).Send(c.message)
		if w.End(); w.Err != nil {
			t.Errorf("%s: %v", name, w.Err)
		}
		h.VNC.WaitClosed()
		var row any // of the session before, for a moment
		if !harness.Eventually(func() bool { row = vncRecord(h, "one"); return harness.At(row, "code") == c.code }) || harness.At(row, "ended") != "protocol_error" {
			t.Errorf("%s: %v, %v", name, harness.At(row, "ended"), harness.At(row, "code"))
		}
		if line := vncLogLine(h, `"msg":"vnc session"`, c.cause); harness.At(line, "ended") != "protocol_error" || harness.At(line, "code") != c.code {
			t.Errorf("%s: line %v", name, line)
		}
	}
	if n := h.Records.Metric(`gatehouse_vnc_sessions_total{ended="protocol_error",security="TLSFirst"}`); n != 2 {
		t.Errorf("%v sessions ended so", n)
	}
}
