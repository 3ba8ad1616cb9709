package vncrelay

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// received is what arrives at the other end of a pipe, and when.
type received struct {
	data []byte
	at   time.Duration
}

func receive(conn net.Conn) chan received {
	begun, pieces := time.Now(), make(chan received, 64)
	go func() {
		defer close(pieces)
		for b := make([]byte, 1<<20); ; {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			pieces <- received{bytes.Clone(b[:n]), time.Since(begun)}
		}
	}()
	return pieces
}

// With fps 2, requests that come too early are one request half a second later.
func TestHeldRequestsAreReleasedWhenDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, desktop := net.Pipe()
		u := newUplink(ours, rfb.Policy{FPS: 2})
		pieces := receive(desktop)
		for range 2 { // the timer is set again
			for range 3 {
				if protocol, err := u.send([]byte(request)); protocol != nil || err != nil {
					t.Fatal(protocol, err)
				}
			}
			time.Sleep(700 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		_ = ours.Close()
		var at []time.Duration
		for p := range pieces {
			if at = append(at, p.at); string(p.data) != request {
				t.Errorf("received %q", p.data)
			}
		}
		if len(at) != 3 || at[0] != 0 || at[1] != 500*time.Millisecond || at[2] != time.Second {
			t.Errorf("requests came at %v", at)
		}
	})
}

func TestNothingIsReleasedAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, desktop := net.Pipe()
		u := newUplink(ours, rfb.Policy{FPS: 2})
		pieces := receive(desktop)
		_, _ = u.send([]byte(request + request))
		u.hangUp()
		u.release() // the timer may have run out already
		time.Sleep(time.Minute)
		u.release()
		_ = ours.Close()
		n := 0
		for range pieces {
			n++
		}
		if n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

func TestTheViewersErrorIsNotTheConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, desktop := net.Pipe()
		u := newUplink(ours, rfb.Policy{})
		if protocol, err := u.send([]byte{77}); rfb.KindOf(protocol) != rfb.KindMessage || err != nil {
			t.Errorf("an unknown message: %v, %v", protocol, err)
		}
		u = newUplink(ours, rfb.Policy{})
		_ = desktop.Close()
		if protocol, err := u.send([]byte(pointer)); protocol != nil || !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("a closed connection: %v, %v", protocol, err)
		}
		if protocol, err := u.send(nil); protocol != nil || err != nil {
			t.Errorf("nothing to write: %v, %v", protocol, err)
		}
	})
}

// A workstation that reads nothing fails a write after two minutes, also when many came before.
func TestAStalledWorkstationFailsTheWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, desktop := net.Pipe()
		u := newUplink(ours, rfb.Policy{})
		for range 40 {
			go func() { _, _ = io.ReadFull(desktop, make([]byte, len(pointer))) }()
			if _, err := u.send([]byte(pointer)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		begun := time.Now()
		_, err := u.send([]byte(pointer))
		if took := time.Since(begun); err == nil || took > writeStall || took < writeStall-writeStallGrain-10*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// A workstation that reads nothing holds up a write, and the lock with it, for two minutes.
func TestTheLastInputIsKnownWhileAWriteIsStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, desktop := net.Pipe()
		u := newUplink(ours, rfb.Policy{})
		if !u.lastInput().Equal(u.begun) {
			t.Error("there was input at ", u.lastInput())
		}
		time.Sleep(time.Hour)
		now := time.Now()
		go func() { _, _ = u.send([]byte(pointer)) }()
		synctest.Wait()
		if at := u.lastInput(); !at.Equal(now) {
			t.Errorf("the last input was at %v, want %v", at, now)
		}
		_ = desktop.Close()
	})
}

func TestAQuietSessionKeepsNoLargeBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, desktop := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, desktop) }()
		u := newUplink(ours, rfb.Policy{})
		_, _ = u.send(append([]byte{6, 0, 0, 0, 0, 0, 0x0b, 0xb8}, make([]byte, 3000)...))
		if cap(u.out) < 3000 {
			t.Error("a small buffer is not kept")
		}
		_, _ = u.send(append([]byte{6, 0, 0, 0, 0, 0, 0x14, 0}, make([]byte, 5<<10)...)) // the clipboard
		if cap(u.out) > 4<<10 {
			t.Errorf("%d bytes are kept", cap(u.out))
		}
		_ = ours.Close()
	})
}
