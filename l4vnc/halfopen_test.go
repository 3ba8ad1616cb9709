package l4vnc

import (
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

// halfOpenPipe is a viewer in its handshake, of whose network only one may be, and the viewer's
// end.
func halfOpenPipe(limiter *connlimit.Limiter) (h *halfOpen, viewer net.Conn) {
	socket, viewer := net.Pipe()
	return newHalfOpen(limiter, netip.MustParseAddr("192.0.2.1"), connlimit.Limits{PendingPerNetwork: 1}, socket), viewer
}

// An evicted connection ends in the middle of its step. One that pauses before its refusal can
// still send it.
func TestAnEvictedConnectionEndsOrIsRefusedAtOnce(t *testing.T) {
	for _, pauses := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			limiter := connlimit.New(time.Now)
			h, viewer := halfOpenPipe(limiter)
			defer func() { _ = viewer.Close() }()
			cutShort := make(chan bool, 1)
			if pauses {
				go func() { cutShort <- !h.pause(time.Hour) }()
				synctest.Wait()
			}
			newcomer, other := halfOpenPipe(limiter)
			defer func() { _, _ = newcomer.socket.Close(), other.Close() }()
			if !h.Evicted() || newcomer.Evicted() {
				t.Fatal("it is not evicted")
			}
			_ = h.socket.SetDeadline(time.Now().Add(time.Second))
			go func() { _, _ = viewer.Read(make([]byte, 8)) }()
			_, err := h.socket.Write([]byte("why"))
			if told := err == nil; told != pauses {
				t.Errorf("it pauses: %v; it can be sent a reason: %v", pauses, told)
			}
			if pauses && !<-cutShort {
				t.Error("the pause goes on")
			}
		})
	}
}

func TestAPauseTakesItsTime(t *testing.T) {
	for _, wait := range []time.Duration{-time.Second, 0, 1, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h, viewer := halfOpenPipe(connlimit.New(time.Now))
			defer func() { _ = viewer.Close() }()
			begun := time.Now()
			if !h.pause(wait) || time.Since(begun) != max(wait, 0) || h.pausing.Load() {
				t.Errorf("%v: it took %v", wait, time.Since(begun))
			}
		})
	}
}

// A viewer with a right password may wait its turn behind wrong ones: it still counts as a
// person's, and a newer connection of a program is evicted first.
func TestAConnectionThatPausesStillCountsAsAPersons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := connlimit.New(time.Now)
		acquire := func() *halfOpen {
			socket, viewer := net.Pipe()
			t.Cleanup(func() { _, _ = socket.Close(), viewer.Close() })
			return newHalfOpen(limiter, netip.MustParseAddr("192.0.2.1"), connlimit.Limits{PendingPerNetwork: 2}, socket)
		}
		person := acquire()
		person.SetStage(connlimit.Person)
		done := make(chan bool, 1)
		go func() { done <- person.pause(2 * time.Second) }()
		synctest.Wait()
		silent := acquire()
		acquire()
		if person.Evicted() || !silent.Evicted() || !<-done {
			t.Error("it was evicted")
		}
	})
}

func TestTheOldestHalfOpenConnectionIsEvictedAndCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.handler.settings.limits.PendingPerNetwork = 2
		token := g.issue(workstation.Options{})
		oldest, oldestDone := g.connect()
		if _, err := (conversation{greets}).play(oldest, 'C'); err != nil {
			t.Fatal(err)
		}
		second, secondDone := g.connect() // is detected
		third, thirdDone := g.connect()
		<-oldestDone
		if _, err := oldest.Read(make([]byte, 1)); err == nil {
			t.Error("the oldest is not closed")
		}
		g.wantRefused("too_many_connections: max_pending or max_pending_per_network was reached, and this connection was closed for a newer one")
		time.Sleep(time.Second)
		if n := g.limiter.Pending(); n != 2 {
			t.Errorf("%d are half open", n)
		}
		// A connection with a live token is half open no longer.
		if _, err := join(veNCrypt(subX509None, token+"."+domain), opened).play(second, 'C'); err != nil {
			t.Fatal(err)
		}
		fourth, fourthDone := g.connect()
		synctest.Wait()
		if n := g.limiter.Pending(); n != 2 {
			t.Errorf("%d are half open beside a session", n)
		}
		for _, viewer := range []net.Conn{second, third, fourth} {
			_ = viewer.Close()
		}
		<-secondDone
		<-thirdDone
		<-fourthDone
		g.wantRecord("", "viewer_left")
	})
}

// Refusals of tokens that never existed are delayed from the thirty-first in a minute on; dead
// tokens are no guesses.
func TestOnlyGuessesAreDelayed(t *testing.T) {
	const free = 30
	for shown, want := range map[string]time.Duration{
		"a token that never was": 2 * time.Second,
		"a released token":       0,
		"a name of another form": 0,
		"no token but a label":   2 * time.Second,
		"a password":             2 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{})
			text := "This VNC address is not valid. Ask for a new one."
			c := tlsFirst("a2a2a2a2a2a2a2a2a2a2a2a2a2." + domain)
			switch shown {
			case "a released token":
				c = tlsFirst(g.issue(workstation.Options{}) + "." + domain)
				if err := g.service.Release(t.Context(), "default", "one"); err != nil {
					t.Fatal(err)
				}
				text = "This workstation was released."
			case "a name of another form":
				c = veNCrypt(subX509None, "other.test")
			case "a password":
				c = append(veNCrypt(subX509Plain, ""), plain("a2a2a2a2a2a2a2a2a2a2a2a2a2"))
			case "no token but a label":
				c = veNCrypt(subX509None, "short."+domain)
			}
			timed := func() time.Duration {
				viewer, done := g.connect()
				last, err := c.play(viewer, 'C')
				begun := time.Now()
				if err == nil {
					_, err = (conversation{refusal(text)}).play(last, 'C')
				}
				if err != nil {
					t.Fatal(shown, ": ", err)
				}
				took := time.Since(begun)
				_ = viewer.Close()
				<-done
				return took
			}
			for range free {
				if took := timed(); took != 0 {
					t.Fatalf("%s: an early refusal took %v", shown, took)
				}
			}
			timed() // takes a turn, at once
			if took := timed(); took != want && (want == 0 || took < want/2 || took > want) {
				t.Errorf("%s: the refusal took %v, want %v", shown, took, want)
			}
		})
	}
}

// An eviction during the delay ends the delay, and the viewer still gets its reason.
func TestADelayedRefusalIsSentWhenTheConnectionIsEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		g.handler.settings.limits.PendingPerNetwork = 1
		c := tlsFirst("a2a2a2a2a2a2a2a2a2a2a2a2a2." + domain)
		why := refusal("This VNC address is not valid. Ask for a new one.")
		for range 31 {
			g.converse(join(c, conversation{why, "X "}))
		}
		viewer, done := g.connect()
		last, err := c.play(viewer, 'C')
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // it pauses
		begun := time.Now()
		other, otherDone := g.connect()
		conversation{why}.playToEnd(t, last)
		if took := time.Since(begun); took != 0 {
			t.Errorf("the reason came after %v", took)
		}
		_ = viewer.Close()
		_ = other.Close()
		<-done
		<-otherDone
	})
}
