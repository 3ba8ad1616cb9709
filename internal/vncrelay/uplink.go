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
// the reader of the viewer, and the timer that releases the requests that the filter held back.
type uplink struct {
	conn  net.Conn
	begun time.Time
	input atomic.Int64 // the last key or pointer event, in nanoseconds since begun

	mu       sync.Mutex // guards the following, and writes to conn
	filter   *rfb.Filter
	out      []byte
	deadline writeDeadline
	timer    *time.Timer // nil until something is held back
	stopped  bool
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
	u.mu.Lock()
	defer u.mu.Unlock()
	now := time.Now()
	out, err := u.filter.Push(u.out[:0], piece, now)
	u.out = out
	if last := u.filter.LastInput(); !last.IsZero() {
		u.input.Store(int64(last.Sub(u.begun)))
	}
	if err != nil {
		return err, nil
	}
	if err := u.write(out, now); err != nil {
		return nil, err
	}
	u.schedule()
	if cap(u.out) > maxKept {
		u.out = nil
	}
	return nil, nil
}

// write is called with mu held.
func (u *uplink) write(out []byte, now time.Time) error {
	if len(out) == 0 {
		return nil
	}
	u.deadline.extend(u.conn, now)
	_, err := u.conn.Write(out)
	return err
}

// schedule sets the timer for what the filter holds back; mu is held.
func (u *uplink) schedule() {
	due := u.filter.Due()
	if due.IsZero() {
		return
	}
	wait := time.Until(due)
	if u.timer == nil {
		u.timer = time.AfterFunc(wait, u.release)
		return
	}
	u.timer.Reset(wait)
}

// release writes what is due.
func (u *uplink) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped {
		return
	}
	now := time.Now()
	u.out = u.filter.Release(u.out[:0], now)
	if u.write(u.out, now) == nil { // else the reader of the workstation finds the connection broken
		u.schedule()
	}
}

// letGo has what the viewer holds down come up, unless it may hold the input again by then.
func (u *uplink) letGo(again func() bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.stopped || again() {
		return
	}
	u.out = u.filter.LetGo(u.out[:0])
	_ = u.write(u.out, time.Now()) // else the reader of the workstation finds the connection broken
}

// hangUp ends the connection to the workstation, when what the viewer holds down has come up there, or after a
// moment if the workstation does not take it. What the filter still holds back is dropped.
func (u *uplink) hangUp() {
	limit := time.AfterFunc(interruptGrace, func() { _ = u.conn.Close() })
	defer limit.Stop()
	u.letGo(func() bool { return false })
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stopped = true
	_ = u.conn.Close()
}
