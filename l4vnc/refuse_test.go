package l4vnc

import (
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mholt/caddy-l4/layer4"
	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
)

// halfOpen is a viewer in its handshake, and the viewer's end.
func halfOpen(book *connlimit.Limiter) (d *handshake, viewer net.Conn) {
	socket, viewer := net.Pipe()
	d = &handshake{cx: layer4.WrapConnection(socket, nil, zap.NewNop()), conn: socket, evicted: make(chan struct{})}
	d.slot = book.Acquire(netip.MustParseAddr("192.0.2.1"), connlimit.Limits{PendingPerNetwork: 1}, d.evict)
	return d, viewer
}

// A connection that has to give way ends in the middle of its step. One whose refusal waits is refused at once.
func TestAConnectionThatGivesWayEndsOrIsRefusedAtOnce(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			book := connlimit.New(time.Now)
			d, viewer := halfOpen(book)
			defer func() { _ = viewer.Close() }()
			cutShort := make(chan bool, 1)
			if waits {
				go func() { cutShort <- !d.pause(time.Hour) }()
				synctest.Wait()
			}
			newcomer, other := halfOpen(book)
			defer func() { _, _ = newcomer.conn.Close(), other.Close() }()
			if !d.slot.Evicted() || newcomer.slot.Evicted() {
				t.Fatal("it does not give way")
			}
			_ = d.conn.SetDeadline(time.Now().Add(time.Second))
			go func() { _, _ = viewer.Read(make([]byte, 8)) }()
			_, err := d.conn.Write([]byte("why"))
			if told := err == nil; told != waits {
				t.Errorf("it waits: %v; it can be told why: %v", waits, told)
			}
			if waits && !<-cutShort {
				t.Error("the refusal waits on")
			}
		})
	}
}

// Somebody who typed a right password may wait for its turn behind wrong ones: a newer connection of a program gives
// way rather than that.
func TestAConnectionThatWaitsForItsTurnStillCountsAsAPersons(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book := connlimit.New(time.Now)
		enter := func(evict func()) *connlimit.Slot {
			return book.Acquire(netip.MustParseAddr("192.0.2.1"), connlimit.Limits{PendingPerNetwork: 2}, evict)
		}
		d := &handshake{evicted: make(chan struct{})}
		d.slot = enter(d.evict)
		d.slot.SetStage(connlimit.Person)
		done := make(chan bool, 1)
		go func() { done <- d.pause(2 * time.Second) }()
		synctest.Wait()
		silent := enter(func() {})
		enter(func() {})
		if d.slot.Evicted() || !silent.Evicted() || !<-done {
			t.Error("it gave way")
		}
	})
}
