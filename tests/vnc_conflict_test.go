package tests

import (
	"strings"
	"testing"
)

const busy = "Another viewer is connected."

// refusedWith connects with an address and must be refused with the text.
func (h *harness) refusedWith(a address, text string) {
	h.t.Helper()
	w := h.tlsFirst(a.host)
	if got := w.refusal(); w.err != nil || got != text {
		h.t.Errorf("told %q, %v; want %q", got, w.err, text)
	}
}

func TestVNCASecondViewerIsRefusedReplacesOrShares(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	first := h.view(h.issue("connect", "one", ""))
	h.refusedWith(h.issue("desk", "one", ""), busy)
	h.refusedSoon("busy", 1)

	h.become(setup{vnc: "on_conflict replace\n" + d.as("one", "")})
	second := h.view(h.issue("connect", "one", ""))
	if first.over(); first.err != nil {
		t.Errorf("the one that was replaced: %v", first.err)
	}
	if line := h.vncLogLine(`"ended":"replaced"`); at(line, "remote") != first.LocalAddr().String() {
		t.Errorf("%v", line)
	}

	h.become(setup{vnc: "on_conflict share\n" + d.as("one", "")})
	third := h.view(h.issue("connect", "one", ""))
	for _, w := range []*wire{second, third} {
		h.good(w.echo(20, 30))
	}
	if n := len(h.sessions("one")); n != 2 {
		t.Errorf("%d sessions", n)
	}
}

// Two that both asked for it share a desktop also where the rule is to refuse.
func TestVNCAddressesThatAreSharedMayMeet(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	shared := h.issue("connect", "one", `{"shared":true}`)
	first := h.view(shared)
	second := h.view(shared) // one address, many viewers
	third := h.view(h.issue("connect", "one", `{"shared":true}`))
	h.refusedWith(h.issue("connect", "one", ""), busy)
	for _, w := range []*wire{first, second, third} {
		h.good(w.echo(1, 1))
		w.leave()
	}
	h.vncClosed()
	alone := h.view(h.issue("connect", "one", ""))
	h.refusedWith(shared, busy)
	alone.leave()
}

func TestVNCATokenIsGoodForReconnectsUntilItsTimeIsOver(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "connect_within 1500ms\nreconnect_within 1500ms\n" + d.as("one", "")})
	a, unused := h.issue("connect", "one", ""), h.issue("connect", "one", "")
	for range 3 { // viewers come twice, and come again
		w := h.view(a)
		w.leave()
		h.vncClosed()
	}
	w := h.view(a)
	tokens := func(n int) bool {
		return eventually(func() bool {
			return strings.Contains(string(h.get(workstations+"/one", "desk").body), `"tokens":`+itoa(n))
		})
	}
	if !tokens(1) { // the open session keeps its token alive, the other one is over
		t.Error("the unused token lives on")
	}
	h.refusedWith(unused, "This VNC address has expired. Ask for a new one.")
	h.good(w.echo(1, 2))
	w.leave()
	if !tokens(0) {
		t.Error("the used token lives on")
	}
	h.refusedWith(a, "This VNC address has expired. Ask for a new one.")
}

func TestVNCASessionEndsWhenItsTimeIsOver(t *testing.T) {
	d := newVNCServer(t, asNone)
	for _, c := range []struct{ rule, reason string }{
		{"max_duration 1s\nconnect_within 1s", "max_duration"},
		{"idle_timeout 300ms", "idle_timeout"},
	} {
		h := startVNC(t, setup{vnc: c.rule + "\n" + d.as("one", "")})
		w := h.view(h.issue("connect", "one", ""))
		if w.over(); w.err != nil {
			t.Errorf("%s: %v", c.reason, w.err)
		}
		h.vncLogLine(`"ended":"` + c.reason + `"`)
		if row := h.vncRecord("one"); at(row, "ended") != c.reason {
			t.Errorf("row %v", row)
		}
		h.stop()
	}
}

func TestVNCATokenBelongsToItsFirstClientWherePinned(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "pin_client\non_conflict share\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	w := h.tlsFirstFrom("127.0.0.31", a.host).accepted()
	h.good(w)
	other := h.tlsFirstFrom("127.0.0.32", a.host)
	if text := other.refusal(); other.err != nil || !strings.Contains(text, "another computer") {
		t.Errorf("%q, %v", text, other.err)
	}
	h.refusedSoon("pinned", 1)
	again := h.tlsFirstFrom("127.0.0.31", a.host).accepted()
	h.good(again)
	again.leave()
	w.leave()
}

func TestVNCOpenSessionsAreBounded(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "max_sessions 1\n" + d.as("one", "") + d.as("two", "")})
	w, two := h.view(h.issue("connect", "one", "")), h.issue("connect", "two", "")
	h.refusedWith(two, "Too many viewers are connected. Try again later.")
	h.refusedSoon("full", 1)
	w.leave()
	h.vncClosed()
	w = h.view(two)
	w.leave()
}
