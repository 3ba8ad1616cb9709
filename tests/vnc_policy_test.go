package tests

import (
	"bytes"
	"testing"
)

// Messages of a viewer.
var (
	keyEvent     = []byte{4, 1, 0, 0, 0, 0, 0, 'a'}
	cutText      = append([]byte{6, 0, 0, 0, 0, 0, 0, 5}, "hello"...)
	setSize      = append([]byte{251, 0, 4, 0, 3, 0, 1, 0}, make([]byte, 16)...)
	pixelFormat  = append([]byte{0, 0, 0, 0}, serverInit[4:20]...)
	updateAll    = []byte{3, 0, 0, 0, 0, 0, 5, 0, 2, 0xd0}
	updateMore   = []byte{3, 1, 0, 0, 0, 0, 5, 0, 2, 0xd0}
	continuously = []byte{150, 1, 0, 0, 0, 0, 5, 0, 2, 0xd0}
)

func encodings(list ...int32) []byte {
	m := []byte{2, 0, byte(len(list) >> 8), byte(len(list))}
	for _, e := range list {
		m = flat([]any{m, uint32(e)})
	}
	return m
}

// arrived sends the messages and returns what the workstation got of them, or instead of them. The
// last, a full update request, always passes.
func (h *harness) arrived(d *vncServer, a address, messages ...[]byte) [][]byte {
	h.t.Helper()
	d.mu.Lock()
	d.messages = nil
	d.mu.Unlock()
	w := h.tlsFirst(a.host).accepted()
	defer w.leave()
	for _, m := range messages {
		w.say(m)
	}
	h.good(w.say(updateAll))
	var got [][]byte
	if !eventually(func() bool {
		got = d.got(1)
		return bytes.Equal(got[len(got)-1], updateAll)
	}) {
		h.t.Fatalf("the last message did not arrive: %v", got)
	}
	w.leave()
	h.vncClosed()
	return got[:len(got)-1]
}

func (h *harness) wantMessages(what string, got [][]byte, want ...[]byte) {
	h.t.Helper()
	if !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
		h.t.Errorf("%s: the workstation got\n%v, want\n%v", what, got, want)
	}
}

func TestVNCARelayedViewerDoesWhatThePolicyAllows(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	all := [][]byte{pixelFormat, keyEvent, cutText, setSize}
	h.wantMessages("by default", h.arrived(d, h.issue("connect", "one", ""), all...), all...)
	h.wantMessages("view only, as asked", h.arrived(d, h.issue("connect", "one", `{"view_only":true}`), append(all, []byte{5, 1, 0, 9, 0, 9})...), pixelFormat)

	h.become(setup{vnc: "view_only\n" + d.as("one", "")})
	h.wantMessages("view only, by the rule", h.arrived(d, h.issue("connect", "one", ""), all...), pixelFormat)
	h.wantMessages("not view only, as asked", h.arrived(d, h.issue("connect", "one", `{"view_only":false}`), all...), all...)

	h.become(setup{vnc: "fixed_size\nclipboard_in off\n" + d.as("one", "")})
	h.wantMessages("fixed size, no clipboard", h.arrived(d, h.issue("connect", "one", ""), all...), pixelFormat, keyEvent)
}

func TestVNCEncodingsAreReorderedAndNeverAdded(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	a := h.issue("connect", "one", "")
	h.wantMessages("Tight first, levels capped, no way round the pace",
		h.arrived(d, a, encodings(16, 5, 7, -23, -247, -313, -316, -224, 0)), encodings(7, 16, 5, -24, -250, -224, 0))
	h.wantMessages("a viewer without Tight", h.arrived(d, a, encodings(16, 5, -23, 0)), encodings(16, 5, -24, 0))

	h.become(setup{vnc: "fps off\n" + d.as("one", "")})
	h.wantMessages("no pace", h.arrived(d, a, encodings(-313, 0), continuously, updateMore, updateMore), encodings(-313, 0), continuously, updateMore, updateMore)
}

func TestVNCUltraVNCsOwnMessagesDoNotEndTheSession(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	h.wantMessages("chat, scale, a request to send files", h.arrived(d, h.issue("connect", "one", ""), keyEvent,
		[]byte{11, 0, 0, 0, 0xff, 0xff, 0xff, 0xff}, append([]byte{11, 0, 0, 0, 0, 0, 0, 5}, "hello"...),
		[]byte{8, 2, 0, 0}, []byte{15, 2, 0, 0}, []byte{7, 7, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0}, keyEvent), keyEvent, keyEvent)
}

func TestVNCUpdateRequestsArePaced(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "fps 1\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	// Many requests within the second: one passes, the others become one that
	// the whole request overtakes.
	got := h.arrived(d, a, updateMore, updateMore, updateMore, updateMore)
	h.wantMessages("paced", got, updateMore)
	if n := len(h.arrived(d, a, continuously)); n != 0 {
		t.Error("continuous updates go round the pace")
	}
	// A request that is held back is sent when it is due, also if the viewer sends nothing more.
	d.mu.Lock()
	d.messages = nil
	d.mu.Unlock()
	w := h.tlsFirst(a.host).accepted().say(updateMore, updateMore)
	defer w.leave()
	h.good(w)
	h.wantMessages("when it is due", d.got(2), updateMore, updateMore)
}

func TestVNCAMessageThatIsNoneEndsTheSession(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	a := h.issue("connect", "one", "")
	for name, c := range map[string]struct {
		message     []byte
		code, cause string
	}{
		"an unknown type":      {[]byte{77, 0, 0, 0}, "message", "message type [77] is not known"},
		"a long cut text":      {[]byte{6, 0, 0, 0, 0x7f, 0xff, 0xff, 0xff}, "too_long", "a cut text of 2147483647 bytes, more than 16777216"},
		"its negative":         {[]byte{6, 0, 0, 0, 0x80, 0, 0, 0}, "too_long", "a cut text of 2147483648 bytes, more than 16777216"},
		"a long list":          {[]byte{2, 0, 0xff, 0xff}, "too_long", "65535 encodings, more than 1024"},
		"QEMU's unknown":       {[]byte{255, 9, 0, 0}, "message", "message type [255 9] is not known"},
		"QEMU's unknown audio": {[]byte{255, 1, 0, 9}, "message", "message type [255 1 0 9] is not known"},
	} {
		w := h.view(a).say(c.message)
		if w.over(); w.err != nil {
			t.Errorf("%s: %v", name, w.err)
		}
		h.vncClosed()
		var row any // of the session before, for a moment
		if !eventually(func() bool { row = h.vncRecord("one"); return at(row, "code") == c.code }) || at(row, "ended") != "protocol_error" {
			t.Errorf("%s: %v, %v", name, at(row, "ended"), at(row, "code"))
		}
		if line := h.vncLogLine(`"msg":"vnc session"`, c.cause); at(line, "ended") != "protocol_error" || at(line, "code") != c.code {
			t.Errorf("%s: line %v", name, line)
		}
	}
	if n := h.metric(`gatehouse_vnc_sessions_total{ended="protocol_error",security="TLSFirst"}`); n != 6 {
		t.Errorf("%v sessions ended so", n)
	}
}
