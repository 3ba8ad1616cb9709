package vncrelay

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// maxKept is the largest buffer that a quiet session keeps, in bytes.
const maxKept = 4 << 10

// uplink writes a viewer's messages to the workstation, through the filter. Two goroutines write:
// the reader of the viewer, and the timer that releases the requests that the filter held back. The
// reader of the workstation never waits for a write: see updated.
type uplink struct {
	conn  net.Conn
	begun time.Time
	input atomic.Int64 // the last key or pointer event, in nanoseconds since begun

	writes   sync.Mutex // is held for a message and its write to conn; guards out and deadline
	out      []byte
	deadline writeDeadline

	mu      sync.Mutex // is taken within writes; guards the following
	filter  *rfb.Filter
	timer   *time.Timer // nil until something is held back
	wakes   time.Time   // when release runs, or since when; the zero time if it is not to
	stopped bool
}

func newUplink(conn net.Conn, policy rfb.Policy) *uplink {
	return &uplink{conn: conn, begun: time.Now(), filter: rfb.NewFilter(policy)}
}

// lastInput is when the viewer last sent a key or a pointer event. It takes no lock: a write that
// waits for the workstation may hold it.
func (u *uplink) lastInput() time.Time { return u.begun.Add(time.Duration(u.input.Load())) }

// send filters a piece and writes what the filter lets through. protocol is the viewer's error,
// failed that of the connection.
func (u *uplink) send(piece []byte) (protocol, failed error) {
	u.writes.Lock()
	defer u.writes.Unlock()
	now := time.Now()
	if err := u.push(piece, now); err != nil {
		return err, nil
	}
	if err := u.write(now); err != nil {
		return nil, err
	}
	if cap(u.out) > maxKept {
		u.out = nil
	}
	return nil, nil
}

// push has the filter make out of a piece; writes is held.
func (u *uplink) push(piece []byte, now time.Time) (err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.out, err = u.filter.Push(u.out[:0], piece, now)
	if last := u.filter.LastInput(); !last.IsZero() {
		u.input.Store(int64(last.Sub(u.begun)))
	}
	u.schedule()
	return err
}

// write writes out; writes is held.
func (u *uplink) write(now time.Time) error {
	if len(u.out) == 0 {
		return nil
	}
	u.deadline.extend(u.conn, now)
	_, err := u.conn.Write(u.out)
	return err
}

// updated is for the reader of the workstation, when an update has begun. It must not wait for a
// write: the workstation may read nothing until its own bytes are taken.
func (u *uplink) updated() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.filter.Updated(time.Now())
	u.schedule()
}

// schedule sets the timer for what the filter holds back, but not while release runs. mu is held.
func (u *uplink) schedule() {
	due := u.filter.Due()
	if due.IsZero() || u.stopped || !u.wakes.IsZero() && !due.Before(u.wakes) {
		return
	}
	u.wakes = due
	wait := time.Until(due)
	if u.timer == nil {
		u.timer = time.AfterFunc(wait, u.release)
		return
	}
	u.timer.Reset(wait)
}

// release writes what is due. Where that fails, the reader of the workstation finds the connection
// broken.
func (u *uplink) release() {
	u.writes.Lock()
	defer u.writes.Unlock()
	now := time.Now()
	u.mu.Lock()
	if u.out = u.out[:0]; !u.stopped {
		u.out = u.filter.Release(u.out, now)
	}
	u.mu.Unlock()
	if u.write(now) != nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wakes = time.Time{}
	u.schedule()
}

// letGo has what the viewer holds down come up, unless it may hold the input again by then, and
// reports whether anything did.
func (u *uplink) letGo(again func() bool) bool {
	u.writes.Lock()
	defer u.writes.Unlock()
	u.mu.Lock()
	if u.out = u.out[:0]; !u.stopped && !again() {
		u.out = u.filter.LetGo(u.out)
	}
	u.mu.Unlock()
	_ = u.write(time.Now()) // else the reader of the workstation finds the connection broken
	return len(u.out) > 0
}

// hangUp ends our side of the connection to the workstation and wakes its reader, when what the
// viewer holds down has come up there. A workstation that does not take that is cut off after a
// moment. What the filter still holds back is dropped.
func (u *uplink) hangUp() {
	limit := time.AfterFunc(interruptGrace, func() { _ = u.conn.Close() })
	defer limit.Stop()
	u.letGo(func() bool { return false })
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.stopped {
		u.stopped = true
		HangUp(u.conn)
		_ = u.conn.SetReadDeadline(time.Now())
	}
}
