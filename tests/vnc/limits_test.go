package vnc

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// What one viewer does wrong costs its neighbours at the same address nothing: an office, a class
// behind one NAT.

func TestVNCAFailingViewerDoesNotShutOutItsNeighbours(t *testing.T) {
	const office, viewers = "127.0.3.1", 10
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "on_conflict share\n" + d.As("one", "") + d.As("two", "")})
	good, released := h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "two", "")
	h.VNC.Release("two")
	comeIn := func(when string) {
		t.Helper()
		begun := time.Now()
		w := h.VNC.TLSFirstFrom(office, good.Host).Accepted().Echo(1, 1)
		if took := time.Since(begun); w.Err != nil || took > atOnce {
			t.Errorf("%s, a good viewer came in after %s: %v", when, took, w.Err)
		}
		w.Leave()
	}
	for range 10 { // each of ten viewers that reconnect by themselves
		for range viewers {
			w := h.VNC.TLSFirstFrom(office, released.Host)
			if text := w.Refusal(); w.Err != nil || text != "This workstation was released." {
				t.Fatalf("a released address: %q, %v", text, w.Err)
			}
		}
	}
	refusedSoon(h, "released", 10*viewers)
	comeIn("after many tries of a released address")

	// A dead address is no guess, so all these are refused at once.
	guess := func() *harness.Conn { return h.VNC.TLSFirstFrom(office, neverIssued) }
	begun := time.Now()
	for range 30 {
		w := guess()
		if text := w.Refusal(); w.Err != nil || !strings.Contains(text, "not valid") {
			t.Fatalf("a guess: %q, %v", text, w.Err)
		}
	}
	free := time.Since(begun)
	var waiting []*harness.Conn
	for range 270 {
		w := guess()
		mustSucceed(h, w)
		waiting = append(waiting, w)
	}
	refusedSoon(h, "unknown", 300)
	comeIn("while refusals wait")
	late, told := 0, make(chan time.Duration, len(waiting))
	for _, w := range waiting {
		go func() {
			begun := time.Now()
			if text := w.Refusal(); w.Err != nil || !strings.Contains(text, "not valid") {
				t.Errorf("a guess among many: %q, %v", text, w.Err)
			}
			told <- time.Since(begun)
		}()
	}
	for range waiting {
		if <-told > atOnce {
			late++
		}
	}
	if late < 5 || late > 16 {
		t.Errorf("%d refusals were delayed; the 30 free ones took %s", late, free)
	}
	comeIn("afterwards")
	if n := refusedBy(h, "too_many_connections"); n != 0 {
		t.Errorf("%v were sent away", n)
	}
}
