package tests

import (
	"io"
	"sync"
	"testing"
	"time"
)

// busyViewer keeps moving the pointer and reading, as a person does who does not know of the
// release, and sends how its connection ended.
func (w *wire) busyViewer() (end chan error) {
	end = make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
			}
			if _, err := w.Write([]byte{5, 1, 0, 5, 0, 5}); err != nil {
				return // the reader says how it ended
			}
		}
	}()
	go func() {
		_, err := io.Copy(io.Discard, w)
		close(stop)
		end <- err
	}()
	return end
}

// quietViewer only reads.
func (w *wire) quietViewer() (end chan error) {
	end = make(chan error, 1)
	go func() {
		_, err := io.Copy(io.Discard, w)
		end <- err
	}()
	return end
}

// wantEnd waits for a clean end: io.Copy finds nothing wrong only after a
// close_notify, and never after a reset.
func wantEnd(t *testing.T, what string, end chan error) {
	t.Helper()
	select {
	case err := <-end:
		if err != nil {
			t.Errorf("%s: the end is not clean: %v", what, err)
		}
	case <-time.After(waitLimit):
		t.Errorf("%s: no end", what)
	}
}

func TestVNCAReleaseEndsEverythingWithinASecond(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: both, vnc: "on_conflict share\nvncauth on\n" + d.as("one", "") + d.as("other", "")})
	a, unused, elsewhere := h.issue("connect", "one", ""), h.issue("connect", "one", ""), h.issue("connect", "other", "")
	veNCrypt := h.dialVNC("").greeted("RFB 003.008\n", 19)
	veNCrypt.veNCrypt(260)
	viewers := map[string]*wire{
		"TLS first": h.tlsFirst(a.host).accepted(),
		"VeNCrypt":  veNCrypt.startTLS(a.host).accepted(),
		"in clear":  h.dialVNC("").greeted("RFB 003.008\n", 2).answerChallenge(a.token).accepted(),
		"quiet":     h.tlsFirst(a.host).accepted(),
	}
	ends := map[string]chan error{}
	for name, w := range viewers {
		h.good(w)
		if name == "quiet" {
			ends[name] = w.quietViewer()
			continue
		}
		ends[name] = w.busyViewer()
	}
	spared := h.view(elsewhere)
	if !eventually(func() bool { return len(h.sessions("one")) == len(viewers) }) {
		t.Fatal("sessions are missing")
	}
	begun := time.Now()
	h.release("one")
	if n := len(h.sessions("one")); n != 0 {
		t.Errorf("%d sessions are open when the release is told", n)
	}
	for name, end := range ends {
		wantEnd(t, name, end)
	}
	took := time.Since(begun)
	t.Logf("the last of %d viewers saw its end after %s", len(viewers), took.Round(time.Millisecond))
	if took > oneSecond {
		t.Errorf("it took %s", took)
	}
	for _, dead := range []address{a, unused} {
		h.refusedWith(dead, "This workstation was released.")
	}
	h.good(spared.echo(1, 2))
	if line := h.vncLogLine(`"ended":"released"`, `"workstation":"one"`); at(line, "level") != "info" {
		t.Errorf("line %v", line)
	}
}

func TestVNCAReleaseAfterAReloadEndsSessionsOfBefore(t *testing.T) {
	d := newVNCServer(t, asNone)
	s := setup{vnc: "on_conflict share\n" + d.as("one", "")}
	h := startVNC(t, s)
	a := h.issue("connect", "one", "")
	before := h.view(a)
	for range 2 {
		h.become(s)
		h.good(before.echo(3, 3))
	}
	after := h.view(a)
	ends := []chan error{before.busyViewer(), after.busyViewer()}
	h.release("one")
	for _, end := range ends {
		wantEnd(t, "a viewer", end)
	}
	h.refusedWith(a, "This workstation was released.")
}

// A release also ends connections that have no session yet, at every step: none of them gets a
// desktop.
func TestVNCAReleaseDuringTheHandshakeLetsNobodyIn(t *testing.T) {
	gate := make(chan struct{})
	var once sync.Once
	open := func() { once.Do(func() { close(gate) }) }
	d := newVNCServer(t, func(w *wire) { <-gate; asNone(w) })
	t.Cleanup(open)
	h := startVNC(t, setup{vncHandler: silent, vnc: d.as("one", "") + d.as("two", "")})
	a, b := h.issue("connect", "one", ""), h.issue("connect", "two", "")
	step := func(a address) *wire {
		w := h.dialVNC("").greeted("RFB 003.008\n", 19)
		w.veNCrypt(262)
		return w
	}
	beforeTLS, beforePassword, atDesk := step(a), step(a).startTLS(""), step(a).startTLS("").plain("", a.token)
	if !eventually(func() bool { return d.connections() == 1 }) {
		t.Fatal("nobody is on the way to the workstation")
	}
	h.release("one")
	open()
	const text = "This workstation was released."
	for name, w := range map[string]*wire{
		"before TLS": beforeTLS.startTLS("").plain("", a.token), "before its password": beforePassword.plain("", a.token), "on its way": atDesk,
	} {
		if got := w.refusal(); w.err != nil || got != text {
			t.Errorf("%s: %q, %v", name, got, w.err)
		}
	}
	// Let in already, but not yet asking for the desktop.
	w := step(b).startTLS("").plain("", b.token).hear(uint32(0))
	h.good(w)
	end := w.quietViewer()
	h.release("two")
	wantEnd(t, "between result and ServerInit", end)
	w.leave()
	if n := h.metric("gatehouse_vnc_sessions_open"); n != 0 {
		t.Errorf("%v sessions are open", n)
	}
}

func TestVNCWhatAReloadDropsIsRevoked(t *testing.T) {
	d := newVNCServer(t, asNone)
	one, two := d.as("one", ""), d.as("two", "")
	h := startVNC(t, setup{vnc: "on_conflict share\n" + one + two})
	kept, gone, other := h.issue("connect", "one", ""), h.issue("connect", "two", ""), h.issue("desk", "one", "")
	keptViewer, goneViewer, otherViewer := h.view(kept), h.view(gone).busyViewer(), h.view(other)
	h.become(setup{vnc: "on_conflict share\n" + one})
	wantEnd(t, "of a workstation that was dropped", goneViewer)
	h.refusedWith(gone, "This VNC address was withdrawn. Ask for a new one.")
	h.vncLogLine(`"ended":"removed"`, `"workstation":"two"`)

	// A key that is gone, may no more, or has moved to another tenant.
	for _, change := range []string{
		"", "key connect {\nsecret {env.KEY_CONNECT}\nscopes workstations:manage\n}\n",
		"key connect {\nsecret {env.KEY_CONNECT}\nscopes workstations:connect\ntenant other\n}\n",
	} {
		end := keptViewer.busyViewer()
		h.become(setup{noKeys: true, keys: defaultKeys + dropKey("connect") + change, vnc: "on_conflict share\n" + one})
		wantEnd(t, "of a key that was dropped", end)
		h.refusedWith(kept, "This VNC address was withdrawn. Ask for a new one.")
		h.good(otherViewer.echo(2, 2))
		h.become(setup{vnc: "on_conflict share\n" + one})
		kept = h.issue("connect", "one", "")
		keptViewer = h.view(kept)
	}
	h.good(otherViewer.echo(1, 2))
}
