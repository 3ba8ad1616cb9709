package vncrelay

import (
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

// halfOpenPipe is a viewer in its handshake, of whose network only one may be, and the viewer's
// end.
func halfOpenPipe(limiter *connlimit.Limiter) (h *HalfOpen, viewer net.Conn) {
	socket, viewer := net.Pipe()
	return NewHalfOpen(limiter, netip.MustParseAddr("192.0.2.1"), connlimit.Limits{PendingPerNetwork: 1}, socket), viewer
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
				go func() { cutShort <- !h.Pause(time.Hour) }()
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
			if !h.Pause(wait) || time.Since(begun) != max(wait, 0) || h.pausing.Load() {
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
		acquire := func() *HalfOpen {
			socket, viewer := net.Pipe()
			t.Cleanup(func() { _, _ = socket.Close(), viewer.Close() })
			return NewHalfOpen(limiter, netip.MustParseAddr("192.0.2.1"), connlimit.Limits{PendingPerNetwork: 2}, socket)
		}
		person := acquire()
		person.SetStage(connlimit.Person)
		done := make(chan bool, 1)
		go func() { done <- person.Pause(2 * time.Second) }()
		synctest.Wait()
		silent := acquire()
		acquire()
		if person.Evicted() || !silent.Evicted() || !<-done {
			t.Error("it was evicted")
		}
	})
}
