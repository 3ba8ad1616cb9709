package rfb

import (
	"bytes"
	"encoding/binary"
	"time"
)

// Policy is what a [Filter] lets through. The zero value lets all messages of known length pass.
// UltraVNC's own messages never pass.
type Policy struct {
	// ViewOnly drops what would change the desktop: keys, pointer, clipboard, size, gii, xvp,
	// QEMU's messages.
	ViewOnly bool
	// FixedSize drops SetDesktopSize.
	FixedSize bool
	// NoClipboardIn drops ClientCutText. The workstation's own clipboard still comes out.
	NoClipboardIn bool
	// FPS is how many incremental update requests a second pass; more are merged. The server cannot
	// be asked to send on its own then. Default: no pacing.
	FPS int
	// PreferTight puts Tight first among the encodings, and caps its quality and compression, if
	// the viewer lists them.
	PreferTight bool
	// Framer follows the workstation's stream: the viewer can ask for nothing then that it cannot
	// follow. Default: the stream is not looked at.
	Framer *Framer
	// Input is asked for keys and pointer that would pass. Default: all pass.
	Input Input
	// NoClipboardOut is why there is a Framer: nothing passes then that it cannot follow.
	NoClipboardOut bool
	// Recorder is why there is a Framer: it hears what passes, and of what cannot be followed. Default:
	// nothing is recorded.
	Recorder Recorder
	// Knows reports whether a viewer may ask for an encoding. Default: for all.
	Knows func(encoding int32) bool
}

// Input decides on the input of a viewer whose workstation an agent may use too.
type Input interface {
	Watched() bool // an agent is there: the others are asked
	Press()        // before a key or a button goes down
	Moves() bool   // the pointer may be moved, and what is up already let go
}

// Recorder keeps what the viewer of a session sends, so that what the server draws can be decoded.
type Recorder interface {
	// Sent takes the heads of messages that pass: all of one of a fixed length, and of SetEncodings.
	Sent(message []byte)
	// Abort ends the recording: what the server draws cannot be followed any more.
	Abort(cause error)
}

// Filter applies a policy to the messages of one viewer. It is not safe for concurrent use.
type Filter struct {
	policy Policy
	pace   pace
	input  time.Time // of the last key or pointer message
	broken error

	head [maxHead]byte // of a message that has only begun
	have int           // bytes of it
	body int64         // bytes still to come of the message whose head was seen
	pass bool          // they go on
	list []byte        // the body of SetEncodings, collected: nil when none is

	held   held // what the viewer holds down
	letsGo bool // it comes up behind this message
}

// NewFilter returns a Filter at the first byte after the handshake.
func NewFilter(p Policy) *Filter {
	f := &Filter{policy: p}
	if p.FPS > 0 {
		f.pace.interval = time.Second / time.Duration(p.FPS)
	}
	return f
}

// drops reports whether messages of a type do not pass.
func (p *Policy) drops(messageType byte) bool {
	switch messageType {
	case msgKeyEvent, msgPointerEvent, MsgXVP, MsgGII, MsgQEMU:
		return p.ViewOnly
	case msgClientCutText:
		return p.NoClipboardIn || p.ViewOnly
	case msgSetDesktopSize:
		return p.FixedSize || p.ViewOnly
	case MsgEnableContinuousUpdates:
		return p.FPS > 0 || p.Framer != nil
	}
	return bytes.IndexByte(ultraTypes[:], messageType) >= 0
}

// Push takes the next bytes of the viewer, cut anywhere, and appends to dst what goes on to the
// workstation. now is for pacing and never goes back. An error is final: the end of a message
// cannot be found, or is too far. The messages before it were passed on, nothing after it is.
func (f *Filter) Push(dst, p []byte, now time.Time) ([]byte, error) {
	if f.broken != nil {
		return dst, f.broken
	}
	if !f.inside() {
		dst = f.asked(f.pace.release(dst, now), dst)
	}
	for len(p) > 0 && f.broken == nil {
		if f.body > 0 {
			n := int(min(f.body, int64(len(p))))
			dst = f.more(dst, p[:n], now)
			p = p[n:]
			continue
		}
		var head []byte
		if head, p = f.nextHead(p); head == nil {
			break
		}
		if isInput(head) {
			f.input = now
		}
		dst = f.begin(dst, head, now)
	}
	return dst, f.broken
}

// nextHead takes the head of a message off p, nil while it is not whole: its bytes are kept then. p
// is not empty.
func (f *Filter) nextHead(p []byte) (head, rest []byte) {
	if f.have == 0 {
		if n := headLen(p); n != 0 && n <= len(p) {
			return p[:n], p[n:]
		}
	}
	for {
		n := 1
		if f.have > 0 {
			if n = headLen(f.head[:f.have]); n == 0 {
				f.broken = unknown(f.head[:f.have])
				return nil, p
			}
			if n == f.have {
				f.have = 0
				return f.head[:n], p
			}
		}
		if len(p) == 0 {
			return nil, nil
		}
		took := copy(f.head[f.have:n], p)
		f.have += took
		p = p[took:]
	}
}

func unknown(head []byte) error {
	return fail(KindMessage, "reading the viewer's messages", "message type %d is not known", head)
}

// begin handles the head of a message.
func (f *Filter) begin(dst, head []byte, now time.Time) []byte {
	f.body, f.broken = bodyLen(head)
	if f.broken != nil {
		return dst
	}
	input := isInput(head)
	f.pass = !f.policy.drops(head[0]) && (!input || f.admits(head))
	switch {
	case !f.pass:
	case input:
		if before := f.held.note(head); before != nil {
			dst = f.passes(dst, before)
		}
		return f.passes(dst, head)
	case head[0] == msgUpdateRequest:
		return f.asked(f.pace.request(dst, head, now), dst)
	case head[0] == msgSetPixelFormat && f.policy.Framer != nil:
		if err := f.policy.Framer.setFormat(head[4:]); err != nil {
			f.lost(&Error{Kind: KindMessage, Step: "reading the viewer's messages", Err: err})
			if f.broken != nil {
				return dst
			}
		}
		return f.passes(dst, head)
	case head[0] == msgSetEncodings:
		f.pass, f.list = false, append(f.list[:0], head...)
		if f.body == 0 {
			return f.encodings(dst)
		}
	default:
		return f.passes(dst, head)
	}
	return dst
}

// admits reports whether a key or pointer message passes. What comes up does always that was passed on when it
// went down: it would stay down. What is up already is as movement.
func (f *Filter) admits(head []byte) bool {
	press := goesDown(head)
	if head[0] == msgPointerEvent {
		press = head[1]&^f.held.wants != 0
		f.held.wants = head[1]
	}
	switch input := f.policy.Input; {
	case input == nil || !input.Watched():
	case press:
		input.Press()
	case !f.held.frees(head) && !input.Moves():
		return false
	}
	return true
}

// passes appends the head of a message that goes on. Of a pixel format the recorder hears when the framer
// knows it.
func (f *Filter) passes(dst, head []byte) []byte {
	if f.policy.Recorder != nil {
		f.policy.Recorder.Sent(head)
	}
	return append(dst, head...)
}

// lost ends what the framer is for: it cannot follow the server any more.
func (f *Filter) lost(err error) {
	if f.policy.Recorder != nil && !f.policy.NoClipboardOut {
		f.policy.Recorder.Abort(err)
		return
	}
	f.broken = err
}

// more goes on with the body of a message.
func (f *Filter) more(dst, p []byte, now time.Time) []byte {
	f.body -= int64(len(p))
	switch {
	case f.pass:
		dst = append(dst, p...)
		if f.body == 0 { // nothing could go out within the body
			if f.letsGo {
				dst = f.LetGo(dst)
			}
			dst = f.asked(f.pace.release(dst, now), dst)
		}
	case len(f.list) > 0:
		f.list = append(f.list, p...)
		if f.body == 0 {
			dst = f.encodings(dst)
		}
	}
	return dst
}

// encodings appends the collected SetEncodings as the policy has it.
func (f *Filter) encodings(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, f.list[:4]...)
	dst = f.policy.rewrite(dst, f.list[4:])
	binary.BigEndian.PutUint16(dst[at+2:], uint16((len(dst)-at-4)/4))
	if f.policy.Recorder != nil {
		f.policy.Recorder.Sent(dst[at:])
	}
	f.list = f.list[:0]
	return dst
}

// inside reports that the last byte that went on was within a message.
func (f *Filter) inside() bool { return f.body > 0 && f.pass }

// Due is when Release must be called; it changes with Push and Release. The zero time means that
// nothing is held back, or that Push will let it go.
func (f *Filter) Due() time.Time {
	if f.inside() || f.broken != nil {
		return time.Time{}
	}
	return f.pace.due()
}

// Release appends to dst the update request that was held back, if it is due at now.
func (f *Filter) Release(dst []byte, now time.Time) []byte {
	if f.inside() || f.broken != nil {
		return dst
	}
	return f.asked(f.pace.release(dst, now), dst)
}

// asked tells the framer of the update request by which after is longer than before, if it is.
func (f *Filter) asked(after, before []byte) []byte {
	if f.policy.Framer != nil && len(after) > len(before) {
		f.policy.Framer.waiting.Add(1)
	}
	return after
}

// LastInput is when the last key or pointer message was seen, also one that was dropped. Before the
// first it is the zero time.
func (f *Filter) LastInput() time.Time { return f.input }
