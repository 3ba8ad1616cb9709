package tests

import (
	"strings"
	"testing"
	"time"
)

// What one viewer does wrong costs its neighbours at the same address nothing: an office, a class
// behind one NAT.

// neverIssued has the form of a VNC address.
const neverIssued = "a2a2a2a2a2a2a2a2a2a2a2a2a2." + vncDomain

// atOnce bounds what happens without a delay: the shortest is two seconds, and a handshake on a
// busy machine may take a while.
const atOnce = 1500 * time.Millisecond

func TestVNCAFailingViewerDoesNotShutOutItsNeighbours(t *testing.T) {
	const office, viewers = "127.0.3.1", 10
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "on_conflict share\n" + d.as("one", "") + d.as("two", "")})
	good, released := h.issue("connect", "one", ""), h.issue("connect", "two", "")
	h.release("two")
	comeIn := func(when string) {
		t.Helper()
		begun := time.Now()
		w := h.tlsFirstFrom(office, good.host).accepted().echo(1, 1)
		if took := time.Since(begun); w.err != nil || took > atOnce {
			t.Errorf("%s, a good viewer came in after %s: %v", when, took, w.err)
		}
		w.leave()
	}
	for range 10 { // each of ten viewers that reconnect by themselves
		for range viewers {
			w := h.tlsFirstFrom(office, released.host)
			if text := w.refusal(); w.err != nil || text != "This workstation was released." {
				t.Fatalf("a released address: %q, %v", text, w.err)
			}
		}
	}
	h.refusedSoon("released", 10*viewers)
	comeIn("after many tries of a released address")

	// A dead address is no guess, so all these are refused at once.
	guess := func() *wire { return h.tlsFirstFrom(office, neverIssued) }
	begun := time.Now()
	for range 30 {
		w := guess()
		if text := w.refusal(); w.err != nil || !strings.Contains(text, "not valid") {
			t.Fatalf("a guess: %q, %v", text, w.err)
		}
	}
	free := time.Since(begun)
	var waiting []*wire
	for range 270 {
		w := guess()
		h.good(w)
		waiting = append(waiting, w)
	}
	h.refusedSoon("unknown", 300)
	comeIn("while refusals wait")
	late, told := 0, make(chan time.Duration, len(waiting))
	for _, w := range waiting {
		go func() {
			begun := time.Now()
			if text := w.refusal(); w.err != nil || !strings.Contains(text, "not valid") {
				t.Errorf("a guess among many: %q, %v", text, w.err)
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
	if n := h.refusedBy("too_many_connections"); n != 0 {
		t.Errorf("%v were sent away", n)
	}
}

// The first 8 characters of a token can be guessed where guesses are free.
func TestVNCShortPasswordsWaitAfterManyWrongOnes(t *testing.T) {
	const office = "127.0.3.2"
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: silent, vnc: "vncauth on\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	guess := func() *wire { return h.dialVNC(office).greeted("RFB 003.008\n", 2).answerChallenge("aaaaaaaa") }
	for range 30 {
		w := guess()
		if text := w.refusal(); w.err != nil || !strings.Contains(text, "not valid") {
			t.Fatalf("a wrong password: %q, %v", text, w.err)
		}
	}
	var waiting []*wire // ten seconds of waiting are reserved
	for range 6 {
		waiting = append(waiting, guess())
	}
	if !eventually(func() bool {
		w := guess()
		waiting = append(waiting, w)
		return h.refusedBy("too_many_failures") > 0
	}) {
		t.Fatal("guesses go on")
	}
	// Which of them found no turn depends on the order in which the gateway read them.
	texts := make(chan string, len(waiting))
	for _, w := range waiting {
		go func() { texts <- w.refusal() }()
	}
	for text := ""; !strings.Contains(text, "Too many wrong passwords"); {
		select {
		case text = <-texts:
		case <-time.After(atOnce):
			t.Fatal("beyond the turns nobody is told so")
		}
	}
	begun := time.Now()
	good := h.dialVNC(office).greeted("RFB 003.008\n", 19)
	good.veNCrypt(262)
	good.startTLS("").plain("", a.token).accepted().echo(1, 2)
	if took := time.Since(begun); good.err != nil || took > atOnce {
		t.Errorf("a whole token came in after %s: %v", took, good.err)
	}
	for _, w := range append(waiting, good) {
		w.leave()
	}
}

func TestVNCTheOldestHalfOpenConnectionIsEvicted(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: both + "max_pending 4\nmax_pending_per_network 3", vnc: d.as("one", "")})
	a := h.issue("connect", "one", "")
	h.vncClosed()
	halfOpen := func(n float64) {
		t.Helper()
		if !eventually(func() bool { return h.metric("gatehouse_vnc_connections_half_open") == n }) {
			t.Fatalf("never %v half open", n)
		}
	}
	silentFrom := func(from string) *wire {
		w := h.dialVNC(from).hear("RFB 003.008\n")
		h.good(w)
		return w
	}
	typing := h.dialVNC("127.0.0.41").greeted("RFB 003.008\n", 19)
	typing.veNCrypt(262)
	h.good(typing.startTLS(""))
	first, second := silentFrom("127.0.0.41"), silentFrom("127.0.0.41")
	halfOpen(3)
	third := silentFrom("127.0.0.41") // of one address
	if !first.closed() {
		t.Error("the oldest silent one of an address is not evicted")
	}
	fourth := silentFrom("127.0.0.42")
	halfOpen(4)
	fifth := silentFrom("127.0.0.43") // in all
	if !second.closed() {
		t.Error("the oldest silent one of the fullest address is not evicted")
	}
	h.refusedSoon("too_many_connections", 2)
	h.vncLogLine(`"code":"too_many_connections"`, "closed for a newer one")
	halfOpen(4)
	w := h.view(a) // from yet another address
	if !third.closed() {
		t.Error("the oldest silent one is not evicted to a good viewer")
	}
	halfOpen(3) // a session is none
	w.leave()
	if !eventually(func() bool { return h.metric("gatehouse_vnc_sessions_open") == 0 }) {
		t.Fatal("the session goes on")
	}
	if typing.plain("", a.token).accepted().echo(1, 2); typing.err != nil {
		t.Errorf("who was typing: %v", typing.err)
	}
	for _, w := range []*wire{typing, fourth, fifth} {
		w.leave()
	}
}

// A viewer whose network changed comes back before its lost connection is noticed. An attacker who
// read the address on the way cannot use it.
func TestVNCAViewerTakesOverItsOwnSessionFromItsAddressOnly(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: d.as("one", "")})
	a := h.issue("connect", "one", "")
	first := h.tlsFirstFrom("127.0.3.3", a.host).accepted().echo(1, 2)
	h.good(first)
	thief := h.tlsFirstFrom("127.0.3.4", a.host)
	if text := thief.refusal(); thief.err != nil || text != busy {
		t.Errorf("from another address: %q, %v", text, thief.err)
	}
	h.good(first.echo(3, 4))
	second := h.tlsFirstFrom("127.0.3.3", a.host).accepted().echo(5, 6)
	h.good(second)
	if first.over(); first.err != nil {
		t.Errorf("the lost connection: %v", first.err)
	}
	h.vncLogLine(`"ended":"replaced"`, first.LocalAddr().String())
	second.leave()
}

// Viewers retry by themselves; with the first characters of a token that died they guess nothing.
func TestVNCTheShortPasswordOfADeadTokenIsNoGuess(t *testing.T) {
	const office = "127.0.3.13"
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: silent, vnc: "vncauth on\n" + d.as("one", "") + d.as("two", "")})
	good, released := h.issue("connect", "one", ""), h.issue("connect", "two", "")
	h.release("two")
	const tries = 40
	for i := range tries {
		w := h.dialVNC(office)
		if i%2 == 0 {
			w.greeted("RFB 003.008\n", 2).answerChallenge(released.token[:8])
		} else {
			w.greeted("RFB 003.008\n", 19)
			w.veNCrypt(262)
			w.startTLS("").plain("", released.token[:8])
		}
		if text := w.refusal(); w.err != nil || text != "This workstation was released." {
			t.Fatalf("told %q, %v", text, w.err)
		}
	}
	begun := time.Now()
	w := h.dialVNC(office).greeted("RFB 003.008\n", 2).answerChallenge(good.token[:8]).accepted().echo(1, 2)
	if took := time.Since(begun); w.err != nil || took > atOnce {
		t.Errorf("a neighbour came in after %s: %v", took, w.err)
	}
	w.leave()
	h.refusedSoon("released", tries)
}
