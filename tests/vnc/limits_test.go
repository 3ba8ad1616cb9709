package vnc

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// What one viewer does wrong costs its neighbours at the same address nothing: an office, a class
// behind one NAT.

// neverIssued has the form of a VNC address.
const neverIssued = "a2a2a2a2a2a2a2a2a2a2a2a2a2." + harness.VNCDomain

// atOnce bounds what happens without a delay: the shortest is two seconds, and a handshake on a
// busy machine may take a while.
const atOnce = 1500 * time.Millisecond

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

// The first 8 characters of a token can be guessed where guesses are free.
func TestVNCShortPasswordsWaitAfterManyWrongOnes(t *testing.T) {
	const office = "127.0.3.2"
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent, VNC: "vncauth on\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	guess := func() *harness.Conn { return h.VNC.Dial(office).Greet("RFB 003.008\n", 2).AnswerChallenge("aaaaaaaa") }
	for range 30 {
		w := guess()
		if text := w.Refusal(); w.Err != nil || !strings.Contains(text, "not valid") {
			t.Fatalf("a wrong password: %q, %v", text, w.Err)
		}
	}
	var waiting []*harness.Conn // ten seconds of waiting are reserved
	for range 6 {
		waiting = append(waiting, guess())
	}
	if !harness.Eventually(func() bool {
		w := guess()
		waiting = append(waiting, w)
		return refusedBy(h, "too_many_failures") > 0
	}) {
		t.Fatal("guesses go on")
	}
	// Which of them found no turn depends on the order in which the gateway read them.
	texts := make(chan string, len(waiting))
	for _, w := range waiting {
		go func() { texts <- w.Refusal() }()
	}
	for text := ""; !strings.Contains(text, "Too many wrong passwords"); {
		select {
		case text = <-texts:
		case <-time.After(atOnce):
			t.Fatal("beyond the turns nobody is told so")
		}
	}
	begun := time.Now()
	good := h.VNC.Dial(office).Greet("RFB 003.008\n", 19)
	good.VeNCrypt(262)
	good.StartTLS("").Plain("", a.Token).Accepted().Echo(1, 2)
	if took := time.Since(begun); good.Err != nil || took > atOnce {
		t.Errorf("a whole token came in after %s: %v", took, good.Err)
	}
	for _, w := range append(waiting, good) {
		w.Leave()
	}
}

func TestVNCTheOldestHalfOpenConnectionIsEvicted(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: both + "max_pending 4\nmax_pending_per_network 3", VNC: d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	h.VNC.WaitClosed()
	halfOpen := func(n float64) {
		t.Helper()
		if !harness.Eventually(func() bool { return h.Records.Metric("gatehouse_vnc_connections_half_open") == n }) {
			t.Fatalf("never %v half open", n)
		}
	}
	silentFrom := func(from string) *harness.Conn {
		w := h.VNC.Dial(from).Expect("RFB 003.008\n")
		mustSucceed(h, w)
		return w
	}
	typing := h.VNC.Dial("127.0.0.41").Greet("RFB 003.008\n", 19)
	typing.VeNCrypt(262)
	mustSucceed(h, typing.StartTLS(""))
	first, second := silentFrom("127.0.0.41"), silentFrom("127.0.0.41")
	halfOpen(3)
	third := silentFrom("127.0.0.41") // of one address
	if !closed(first) {
		t.Error("the oldest silent one of an address is not evicted")
	}
	fourth := silentFrom("127.0.0.42")
	halfOpen(4)
	fifth := silentFrom("127.0.0.43") // in all
	if !closed(second) {
		t.Error("the oldest silent one of the fullest address is not evicted")
	}
	refusedSoon(h, "too_many_connections", 2)
	vncLogLine(h, `"code":"too_many_connections"`, "closed for a newer one")
	halfOpen(4)
	w := h.VNC.View(a) // from yet another address
	if !closed(third) {
		t.Error("the oldest silent one is not evicted to a good viewer")
	}
	halfOpen(3) // a session is none
	w.Leave()
	if !harness.Eventually(func() bool { return h.Records.Metric("gatehouse_vnc_sessions_open") == 0 }) {
		t.Fatal("the session goes on")
	}
	if typing.Plain("", a.Token).Accepted().Echo(1, 2); typing.Err != nil {
		t.Errorf("who was typing: %v", typing.Err)
	}
	for _, w := range []*harness.Conn{typing, fourth, fifth} {
		w.Leave()
	}
}

// A viewer whose network changed comes back before its lost connection is noticed. An attacker who
// read the address on the way cannot use it.
func TestVNCAViewerTakesOverItsOwnSessionFromItsAddressOnly(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	first := h.VNC.TLSFirstFrom("127.0.3.3", a.Host).Accepted().Echo(1, 2)
	mustSucceed(h, first)
	thief := h.VNC.TLSFirstFrom("127.0.3.4", a.Host)
	if text := thief.Refusal(); thief.Err != nil || text != busy {
		t.Errorf("from another address: %q, %v", text, thief.Err)
	}
	mustSucceed(h, first.Echo(3, 4))
	second := h.VNC.TLSFirstFrom("127.0.3.3", a.Host).Accepted().Echo(5, 6)
	mustSucceed(h, second)
	if first.End(); first.Err != nil {
		t.Errorf("the lost connection: %v", first.Err)
	}
	vncLogLine(h, `"ended":"replaced"`, first.LocalAddr().String())
	second.Leave()
}

// Viewers retry by themselves; with the first characters of a token that died they guess nothing.
func TestVNCTheShortPasswordOfADeadTokenIsNoGuess(t *testing.T) {
	const office = "127.0.3.13"
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent, VNC: "vncauth on\n" + d.As("one", "") + d.As("two", "")})
	good, released := h.VNC.Issue("connect", "one", ""), h.VNC.Issue("connect", "two", "")
	h.VNC.Release("two")
	const tries = 40
	for i := range tries {
		w := h.VNC.Dial(office)
		if i%2 == 0 {
			w.Greet("RFB 003.008\n", 2).AnswerChallenge(released.Token[:8])
		} else {
			w.Greet("RFB 003.008\n", 19)
			w.VeNCrypt(262)
			w.StartTLS("").Plain("", released.Token[:8])
		}
		if text := w.Refusal(); w.Err != nil || text != "This workstation was released." {
			t.Fatalf("told %q, %v", text, w.Err)
		}
	}
	begun := time.Now()
	w := h.VNC.Dial(office).Greet("RFB 003.008\n", 2).AnswerChallenge(good.Token[:8]).Accepted().Echo(1, 2)
	if took := time.Since(begun); w.Err != nil || took > atOnce {
		t.Errorf("a neighbour came in after %s: %v", took, w.Err)
	}
	w.Leave()
	refusedSoon(h, "released", tries)
}
