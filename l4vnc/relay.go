package l4vnc

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

const (
	// stall is how long a viewer or a workstation may take nothing of what
	// is sent to it.
	stall = 2 * time.Minute
	// endPatience is how long a write under way may go on when the session
	// is ended from elsewhere: a TLS record cut in two cannot be followed by
	// a clean end.
	endPatience = 300 * time.Millisecond
	// upSize holds what a viewer sends at a time: messages of 4 to 20 bytes.
	upSize = 512
)

// relay carries bytes both ways until either side ends, time is over, or the
// session is ended from elsewhere; then it ends the viewer's connection cleanly.
func (d *handshake) relay() {
	r := &relay{handshake: d, session: d.session.Live, viewer: d.conn, workstation: d.desktop.Conn, begun: time.Now()}
	policy := d.gateway.Workstations().Policy()
	r.filter = rfb.NewFilter(rfb.Policy{
		ViewOnly: r.session.ViewOnly, FixedSize: policy.FixedSize, NoClipboardIn: policy.NoClipboardIn,
		FPS: policy.FPS, PreferTight: true,
	})
	r.run(policy.IdleTimeout)
	if r.viewerGone {
		abort(r.viewer)
	} else {
		halfClose(r.viewer, r.torn)
	}
	d.session.Finish(workstation.ReasonWorkstation) // r.run has said it already
	hangUp(r.viewer, farewell, true)                // what is left of it is the viewer's time
}

// relay is one session at work. Two may write to the workstation: the reader of
// the viewer, and the timer that lets go of what the filter held back.
type relay struct {
	*handshake
	session             *workstation.Session
	viewer, workstation net.Conn
	torn                bool // a write to the viewer was cut off; set by down
	viewerGone          bool // set by run

	begun time.Time
	input atomic.Int64 // the last key or pointer event, in nanoseconds since begun

	mu     sync.Mutex // guards the following, and writes to the workstation
	filter *rfb.Filter
	out    []byte
	late   overdue     // of writes to the workstation
	pace   *time.Timer // nil until something is held back
	over   bool
}

// overdue bounds the writes to a connection by stall, without setting a
// deadline for each: one lasts for many.
type overdue struct{ renew time.Time }

// stallGrain is how much earlier than stall a write may fail.
const stallGrain = stall / 8

func (o *overdue) begin(conn net.Conn, now time.Time) {
	if now.After(o.renew) {
		o.renew = now.Add(stallGrain)
		_ = conn.SetWriteDeadline(now.Add(stall)) // of a dead connection the write tells
	}
}

func (r *relay) run(idle time.Duration) {
	stop := r.session.OnEnd(r.interrupt)
	limit := time.AfterFunc(time.Until(r.session.Until()), func() { r.session.End(workstation.ReasonMaxDuration) })
	unwatch := watchIdle(idle, r.lastInput, func() { r.session.End(workstation.ReasonIdle) })
	stopPeers := r.watchPeers(peerCheck, silenceLimit)

	var up sync.WaitGroup
	up.Go(func() {
		why := r.up()
		stop() // it ends by itself
		r.session.End(why)
		_ = r.workstation.Close() // wakes down
	})
	why := r.down()
	stop()
	r.session.End(why)
	_ = r.viewer.SetReadDeadline(time.Now()) // wakes up
	up.Wait()
	limit.Stop()
	unwatch()
	r.viewerGone = stopPeers()
	r.mu.Lock()
	r.over = true
	if r.pace != nil {
		r.pace.Stop()
	}
	r.mu.Unlock()
	_ = r.workstation.Close()
}

// interrupt wakes whoever waits, when the session was ended from elsewhere.
func (r *relay) interrupt() {
	_ = r.workstation.Close()
	_ = r.viewer.SetWriteDeadline(time.Now().Add(endPatience))
	_ = r.viewer.SetReadDeadline(time.Now())
}

// lastInput is when the viewer last sent a key or a pointer event. It takes no
// lock: a write that waits for the workstation may hold it.
func (r *relay) lastInput() time.Time { return r.begun.Add(time.Duration(r.input.Load())) }

// up carries the viewer's messages, through the filter.
func (r *relay) up() workstation.Reason {
	buffer := make([]byte, upSize)
	for {
		n, err := r.viewer.Read(buffer)
		if n > 0 {
			r.session.Up.Add(int64(n))
			if why, ok := r.pass(buffer[:n]); !ok {
				return why
			}
		}
		if err != nil {
			return workstation.ReasonViewer
		}
	}
}

// pass filters a piece and writes what is left of it.
func (r *relay) pass(piece []byte) (workstation.Reason, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	out, err := r.filter.Push(r.out[:0], piece, now)
	r.out = out
	if last := r.filter.LastInput(); !last.IsZero() {
		r.input.Store(int64(last.Sub(r.begun)))
	}
	if err != nil {
		r.handshake.session.ProtocolError(rfb.KindOf(err).String(), err)
		return workstation.ReasonProtocol, false
	}
	if !r.write(out, now) {
		return workstation.ReasonWorkstation, false
	}
	r.schedule()
	if cap(r.out) > maxKept {
		r.out = nil
	}
	return "", true
}

// maxKept is the largest buffer that a quiet session keeps, in bytes.
const maxKept = 4 << 10

// write sends to the workstation; mu is held.
func (r *relay) write(out []byte, now time.Time) bool {
	if len(out) == 0 {
		return true
	}
	r.late.begin(r.workstation, now)
	_, err := r.workstation.Write(out)
	return err == nil
}

// schedule sees to it that what the filter holds back goes when it is due; mu is held.
func (r *relay) schedule() {
	due := r.filter.Due()
	if due.IsZero() {
		return
	}
	wait := time.Until(due)
	if r.pace == nil {
		r.pace = time.AfterFunc(wait, r.release)
		return
	}
	r.pace.Reset(wait)
}

// release runs when something is due.
func (r *relay) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	now := time.Now()
	r.out = r.filter.Release(r.out[:0], now)
	if r.write(r.out, now) { // else down finds the connection broken
		r.schedule()
	}
}

// down carries the workstation's bytes, as they are.
func (r *relay) down() workstation.Reason {
	source := newSource(r.workstation)
	var late overdue
	for {
		piece, err := source.next()
		if err != nil {
			return workstation.ReasonWorkstation
		}
		r.session.Down.Add(int64(len(piece)))
		err = r.toViewer(piece, &late)
		source.done()
		if err != nil {
			return workstation.ReasonViewer
		}
	}
}

func (r *relay) toViewer(piece []byte, late *overdue) error {
	late.begin(r.viewer, time.Now())
	select {
	case <-r.session.Ended(): // maybe before that deadline replaced the interrupt's
		return net.ErrClosed
	default:
	}
	_, err := r.viewer.Write(piece)
	r.torn = err != nil
	return err
}
