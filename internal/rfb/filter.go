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
	// FPS is how many incremental update requests a second pass; more are merged. The server never
	// sends on its own then: see continuous.go. Default: no pacing.
	FPS int
	// PreferTight puts Tight first among the encodings, and caps its quality and compression, if
	// the viewer lists them.
	PreferTight bool
	// Framer follows the workstation's stream. With FPS it is what continuous updates need; a viewer
	// that does not list them makes it unused. Default: the stream is not looked at.
	Framer *Framer
	// Input is asked for keys and pointer that would pass. Default: all pass.
	Input Input
	// NoClipboardOut needs a Framer: nothing passes then that it cannot follow.
	NoClipboardOut bool
	// Recorder needs a Framer: it hears what passes, and of what cannot be followed. Default: nothing is
	// recorded.
	Recorder Recorder
	// Knows reports whether a viewer may ask for an encoding. Default: for all.
	Knows func(encoding int32) bool

	noContinuous bool // the viewer has no continuous updates
}

// follows reports whether the viewer can ask for nothing that the Framer cannot follow.
func (p *Policy) follows() bool { return p.NoClipboardOut || p.Recorder != nil }

// Input decides on the input of a viewer whose workstation an agent may use too.
type Input interface {
	Watched() bool // an agent is there: the others are asked
	Press()        // before a key or a button goes down
	Moves() bool   // the pointer may be moved
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

	format  []byte    // SetPixelFormat that waits for the end of continuous updates
	resumes time.Time // when that was, until it goes on

	buttons    buttons
	held, down uint16 // buttons that the viewer holds, and those of them that the workstation knows of
}

// NewFilter returns a Filter at the first byte after the handshake.
func NewFilter(p Policy) *Filter {
	f := &Filter{policy: p}
	f.policy.noContinuous = p.FPS > 0 && p.Framer == nil
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
		dst = f.release(dst, now)
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
		if n := f.buttons.headLen(p); n != 0 && n <= len(p) {
			return p[:n], p[n:]
		}
	}
	for {
		n := 1
		if f.have > 0 {
			if n = f.buttons.headLen(f.head[:f.have]); n == 0 {
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
	f.pass = !f.policy.drops(head[0]) && (f.policy.Input == nil || !isInput(head) || f.admits(head))
	switch {
	case !f.pass:
	case head[0] == msgUpdateRequest:
		return f.asked(f.pace.request(dst, head, now), dst)
	case head[0] == MsgEnableContinuousUpdates && (f.policy.FPS > 0 || f.policy.Framer != nil):
		return f.enable(dst, head, now)
	case head[0] == msgPointerEvent && f.buttons.once:
		return f.passes(dst, f.buttons.sent(head, f.policy.Framer))
	case head[0] == msgSetPixelFormat && f.pace.stopped:
		f.format = append(f.format[:0], head...)
	case head[0] == msgSetPixelFormat:
		return f.passFormat(dst, head)
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
	f.policy.Framer.shared.lost.Store(true)
	switch {
	case f.policy.NoClipboardOut:
		f.broken = err
	case f.policy.Recorder != nil:
		f.policy.Recorder.Abort(err)
	}
}

// more goes on with the body of a message.
func (f *Filter) more(dst, p []byte, now time.Time) []byte {
	f.body -= int64(len(p))
	switch {
	case f.pass:
		dst = append(dst, p...)
		if f.body == 0 {
			dst = f.release(dst, now) // it could not go out within the body
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
	f.negotiate(f.list[4:])
	dst = append(dst, f.list[:4]...)
	dst = f.policy.rewrite(dst, f.list[4:])
	binary.BigEndian.PutUint16(dst[at+2:], uint16((len(dst)-at-4)/4))
	f.buttons.listed(dst[at+4:])
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
	if !f.resumes.IsZero() {
		return f.resumes
	}
	return f.pace.due()
}

// Release appends to dst the update request that was held back, if it is due at now.
func (f *Filter) Release(dst []byte, now time.Time) []byte {
	if f.inside() || f.broken != nil {
		return dst
	}
	return f.release(dst, now)
}

// release appends what was held back and is due. The last byte that went on was a message's last.
func (f *Filter) release(dst []byte, now time.Time) []byte {
	dst = f.resume(dst)
	if f.broken != nil {
		return dst
	}
	return f.asked(f.pace.release(dst, now), dst)
}

// asked tells the framer of the update request by which after is longer than before, if it is.
func (f *Filter) asked(after, before []byte) []byte {
	if f.policy.Framer != nil && len(after) > len(before) {
		f.policy.Framer.shared.waiting.Add(1)
	}
	return after
}

// LastInput is when the last key or pointer message was seen, also one that was dropped. Before the
// first it is the zero time.
func (f *Filter) LastInput() time.Time { return f.input }
