package vnc

import (
	"strconv"
	"strings"
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

// Two that both asked for it share a desktop also where the rule is to refuse.
func TestVNCAddressesThatAreSharedMayMeet(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	shared := h.VNC.Issue("connect", "one", `{"shared":true}`)
	first := h.VNC.View(shared)
	second := h.VNC.View(shared) // one address, many viewers
	third := h.VNC.View(h.VNC.Issue("connect", "one", `{"shared":true}`))
	refusedWith(h, h.VNC.Issue("connect", "one", ""), busy)
	for _, w := range []*harness.Conn{first, second, third} {
		mustSucceed(h, w.Echo(1, 1))
		w.Leave()
	}
	h.VNC.WaitClosed()
	alone := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	refusedWith(h, shared, busy)
	alone.Leave()
}

func TestVNCATokenIsGoodForReconnectsUntilItsTimeIsOver(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "connect_within 1500ms\nreconnect_within 1500ms\n" + d.As("one", "")})
	a, unused := h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "one", "")
	for range 3 { // viewers come twice, and come again
		w := h.VNC.View(a)
		w.Leave()
		h.VNC.WaitClosed()
	}
	w := h.VNC.View(a)
	tokens := func(n int) bool {
		return harness.Eventually(func() bool {
			return strings.Contains(string(h.Client.Get(workstations+"/one", "desk").Body), `"tokens":`+strconv.Itoa(n))
		})
	}
	if !tokens(1) { // the open session keeps its token alive, the other one is over
		t.Error("the unused token lives on")
	}
	refusedWith(h, unused, "This VNC address has expired. Ask for a new one.")
	mustSucceed(h, w.Echo(1, 2))
	w.Leave()
	if !tokens(0) {
		t.Error("the used token lives on")
	}
	refusedWith(h, a, "This VNC address has expired. Ask for a new one.")
}

func TestVNCASessionEndsWhenItsTimeIsOver(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	for _, c := range []struct{ rule, reason string }{
		{"max_duration 1s\nconnect_within 1s", "max_duration"},
		{"idle_timeout 300ms", "idle_timeout"},
	} {
		h := harness.StartVNC(t, harness.Setup{VNC: c.rule + "\n" + d.As("one", "")})
		w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
		if w.End(); w.Err != nil {
			t.Errorf("%s: %v", c.reason, w.Err)
		}
		vncLogLine(h, `"ended":"`+c.reason+`"`)
		if row := vncRecord(h, "one"); harness.At(row, "ended") != c.reason {
			t.Errorf("row %v", row)
		}
		h.Stop()
	}
}

func TestVNCATokenBelongsToItsFirstClientWherePinned(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "pin_client\non_conflict share\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	w := h.VNC.TLSFirstFrom("127.0.0.31", a.Host).Accepted()
	mustSucceed(h, w)
	other := h.VNC.TLSFirstFrom("127.0.0.32", a.Host)
	if text := other.Refusal(); other.Err != nil || !strings.Contains(text, "another computer") {
		t.Errorf("%q, %v", text, other.Err)
	}
	refusedSoon(h, "pinned", 1)
	again := h.VNC.TLSFirstFrom("127.0.0.31", a.Host).Accepted()
	mustSucceed(h, again)
	again.Leave()
	w.Leave()
}

func TestVNCOpenSessionsAreBounded(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "max_sessions 1\n" + d.As("one", "") + d.As("two", "")})
	w, two := h.VNC.View(h.VNC.Issue("connect", "one", "")), h.VNC.Issue("connect", "two", "")
	refusedWith(h, two, "Too many viewers are connected. Try again later.")
	refusedSoon(h, "full", 1)
	w.Leave()
	h.VNC.WaitClosed()
	w = h.VNC.View(two)
	w.Leave()
}
