package vncrelay

import (
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

const (
	// writeStall is how long a viewer or a workstation may take nothing of what is sent to it.
	writeStall = 2 * time.Minute
	// writeStallGrain is how much earlier than writeStall a write may fail.
	writeStallGrain = writeStall / 8
	// interruptGrace is how long a write under way may go on when the session is ended: a TLS record cut in two
	// cannot be followed by a clean end, and what a viewer holds down must come up.
	interruptGrace = 300 * time.Millisecond
	// upSize holds what a viewer sends at a time: messages of 4 to 20 bytes.
	upSize = 256
	// throttledFPS is for sessions with a bandwidth whose fps has no bound: a workstation that sends
	// unasked would be far ahead of what the viewer gets.
	throttledFPS = 60
)

// Relay is one open session. It carries bytes both ways until either side ends, a time limit is
// reached, or the session is ended from elsewhere.
type Relay struct {
	Session *vncsession.Session

	viewer   Viewer
	up       *uplink
	idle     time.Duration // the idle timeout; 0: none
	stream   *stream       // nil: the workstation's bytes are not looked at
	throttle *throttle     // nil: they come as fast as they can

	// Set by carryDown.
	torn       bool  // a write to the viewer was cut off
	unreadable error // the workstation sent what the framer cannot follow
}

// New returns the relay of a session that is open, between its viewer and its workstation, by the rules
// of its pass.
func New(session *vncsession.Session, viewer Viewer, backend *rfb.Desktop, policy desktop.Policy) *Relay {
	rules := session.Pass.Rules
	r := &Relay{Session: session, viewer: viewer, idle: rules.IdleTimeout, throttle: newThrottle(rules.Bandwidth)}
	if rules.Bandwidth > 0 && rules.FPS == 0 {
		rules.FPS = throttledFPS
	}
	up := rfb.Policy{
		ViewOnly: rules.ViewOnly, FixedSize: policy.FixedSize, NoClipboardIn: rules.NoClipboardIn, NoClipboardOut: rules.NoClipboardOut,
		FPS: rules.FPS, PreferTight: true, Input: session.Live.Input,
	}
	if rules.FPS > 0 || rules.NoClipboardOut || session.Recording != nil {
		up.Framer = rfb.NewFramer(backend.Init.Format)
		r.stream = &stream{framer: up.Framer, cut: rules.NoClipboardOut, recording: session.Recording}
	}
	if session.Recording != nil {
		up.Recorder, up.Knows = r.stream, framebuffer.Knows
		up.Input = taking{session.Live.Input, session.Recording}
		if int(backend.Init.Width)*int(backend.Init.Height) > framebuffer.MaxPixels {
			session.Recording.Abort(errTooLarge)
		}
	}
	r.up = newUplink(backend.Conn, up)
	input := session.Live.Input
	input.OnReturned(func() bool { return r.up.letGo(func() bool { return input.Holder() == desktop.HolderHuman }) })
	return r
}

var errTooLarge = errors.New("the desktop is too large to be replayed")

// LastInput is when the viewer has last sent a key or pointer event, the zero time before the first.
func (r *Relay) LastInput() time.Time {
	if last := r.up.lastInput(); last.After(r.up.begun) {
		return last
	}
	return time.Time{}
}

// Run carries the session to its end, and then ends both connections cleanly.
func (r *Relay) Run() {
	gone := r.carry()
	r.viewer.HangUp(End{Reason: r.Session.Live.Why(), Gone: gone, Torn: r.torn})
	r.Session.Finish(desktop.ReasonWorkstation) // carry has given the reason already
	Drain(r.up.conn)
	r.viewer.Drain()
}

// carry returns when both directions have ended, and reports whether the viewer vanished.
func (r *Relay) carry() (viewerGone bool) {
	live := r.Session.Live
	stop := live.OnEnd(r.interrupt)
	limit := time.AfterFunc(time.Until(live.Until()), func() { live.End(desktop.ReasonMaxDuration) })
	unwatch := watchIdle(r.idle, r.up.lastInput, func() { live.End(desktop.ReasonIdle) })
	stopPeers := watchPeers(live, r.viewer.Socket(), r.up.conn, peerCheck, silenceLimit)

	var up sync.WaitGroup
	var upward desktop.Reason
	up.Go(func() {
		upward = r.carryUp()
		stop() // it ends by itself
		live.End(upward)
		r.up.hangUp() // wakes carryDown
	})
	why := r.carryDown()
	stop()
	if why != desktop.ReasonViewer { // what the viewer sent last may say why it cannot be written to
		live.End(why)
	}
	_ = r.viewer.SetReadDeadline(time.Now()) // wakes carryUp
	up.Wait()
	live.End(why)
	if r.unreadable != nil && upward != desktop.ReasonProtocol {
		r.Session.ProtocolError(rfb.KindOf(r.unreadable).String(), r.unreadable)
	}
	limit.Stop()
	unwatch()
	viewerGone = stopPeers()
	r.up.hangUp()
	return viewerGone
}

// interrupt ends carryDown, which wakes carryUp, when the session is ended from elsewhere.
func (r *Relay) interrupt() {
	_ = r.viewer.SetWriteDeadline(time.Now().Add(interruptGrace))
	r.up.hangUp()
}

// carryUp carries the viewer's messages.
func (r *Relay) carryUp() desktop.Reason {
	buffer := make([]byte, upSize)
	for {
		n, err := r.viewer.Read(buffer)
		if n > 0 {
			r.Session.Live.Up.Add(int64(n))
			protocol, failed := r.up.send(buffer[:n])
			switch {
			case protocol != nil:
				r.Session.ProtocolError(rfb.KindOf(protocol).String(), protocol)
				return desktop.ReasonProtocol
			case failed != nil:
				return desktop.ReasonWorkstation
			}
		}
		if err != nil {
			return r.readEnded(err)
		}
	}
}

// readEnded is why a session ends whose viewer cannot be read any more.
func (r *Relay) readEnded(err error) desktop.Reason {
	var protocol *rfb.Error
	if errors.As(err, &protocol) {
		r.Session.ProtocolError(protocol.Kind.String(), protocol)
		return desktop.ReasonProtocol
	}
	return desktop.ReasonViewer
}

// carryDown carries the workstation's bytes, unchanged but for what the framer takes out. The next picture
// is asked for when the viewer has taken the beginning of the last one: one that reads nothing gets no more.
func (r *Relay) carryDown() desktop.Reason {
	source := newSource(r.up.conn, r.throttle.most())
	var deadline writeDeadline
	for {
		if r.throttle != nil {
			r.throttle.wait(r.Session.Live.Ended())
		}
		piece, err := source.next()
		if err != nil {
			return desktop.ReasonWorkstation
		}
		if r.throttle != nil {
			r.throttle.took(len(piece))
		}
		if r.stream != nil {
			piece, r.unreadable = r.stream.pass(piece)
		}
		if len(piece) > 0 {
			r.Session.Live.Down.Add(int64(len(piece)))
			err = r.toViewer(piece, &deadline)
		}
		source.done()
		if r.stream != nil {
			r.followed()
		}
		switch {
		case err != nil:
			return desktop.ReasonViewer
		case r.unreadable != nil:
			return desktop.ReasonProtocol
		}
	}
}

// followed handles what the stream has found in a piece.
func (r *Relay) followed() {
	if r.stream.updated() {
		r.up.updated()
	}
	if r.stream.unused() {
		r.stream = nil
	}
}

func (r *Relay) toViewer(piece []byte, deadline *writeDeadline) error {
	deadline.extend(r.viewer, time.Now())
	select {
	case <-r.Session.Live.Ended(): // this deadline may have replaced that of interrupt
		return net.ErrClosed
	default:
	}
	_, err := r.viewer.Write(piece)
	r.torn = err != nil
	return err
}

// writeDeadline bounds the writes to a connection by writeStall, without setting a deadline for
// each: one lasts for many.
type writeDeadline struct{ renew time.Time }

func (d *writeDeadline) extend(conn net.Conn, now time.Time) {
	if now.After(d.renew) {
		d.renew = now.Add(writeStallGrain)
		_ = conn.SetWriteDeadline(now.Add(writeStall)) // a dead connection fails the write
	}
}
