package tests

import (
	"testing"
	"time"
)

// asSilent takes a connection and says nothing, as a host that hangs does.
func asSilent(w *wire) { w.take(1) }

// Viewers that wait for a workstation are authenticated. They do not count as half open, and the
// result of the first one's login holds for all.
func TestVNCASilentWorkstationDoesNotShutOutTheNeighbours(t *testing.T) {
	const office, viewers = "127.0.3.11", 12
	dead, fine := newVNCServer(t, asSilent), newVNCServer(t, asVNCAuth)
	const password = "password {env.DESK_PASSWORD}"
	h := startVNC(t, setup{
		vncHandler: wrapped + "step_timeout 3s\nmax_pending_per_network 4",
		vnc:        dead.as("dead", password) + fine.as("fine", password),
	})
	silent, good := h.issue("connect", "dead", ""), h.issue("connect", "fine", "")
	var waiting []*wire
	for range viewers {
		w := h.tlsFirstFrom(office, silent.host)
		h.good(w)
		waiting = append(waiting, w)
	}
	begun := time.Now()
	w := h.tlsFirstFrom(office, good.host).accepted().echo(1, 1)
	if took := time.Since(begun); w.err != nil || took > atOnce {
		t.Errorf("a neighbour came in after %s: %v", took, w.err)
	}
	w.leave()
	const text = "The workstation did not answer in time. Try again later."
	for _, w := range waiting {
		if got := w.refusal(); w.err != nil || got != text {
			t.Errorf("told %q, %v", got, w.err)
		}
	}
	begun = time.Now()
	h.refusedWith(silent, text) // it is not asked again at once
	if took := time.Since(begun); took > atOnce {
		t.Errorf("the next was told after %s", took)
	}
	if n := dead.connections(); n != 1 {
		t.Errorf("the workstation was reached %d times", n)
	}
	h.refusedSoon("workstation_timeout", viewers+1)
	if n := h.refusedBy("too_many_connections"); n != 0 {
		t.Errorf("%v were sent away", n)
	}
}

// A viewer that was accepted may ask its user about the certificate before it goes on.
func TestVNCAcceptedViewersAreNotHalfOpen(t *testing.T) {
	const office = "127.0.3.12"
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: wrapped + "max_pending_per_network 4", vnc: "on_conflict share\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	var accepted []*wire
	for range 8 {
		w := h.tlsFirstFrom(office, a.host).hear(uint32(0))
		h.good(w)
		accepted = append(accepted, w)
	}
	h.good(h.tlsFirstFrom(office, a.host).accepted().echo(1, 1))
	for _, w := range accepted {
		h.good(w.desktop(0).echo(1, 1))
		w.leave()
	}
}
