package rfb

import (
	"encoding/binary"
)

// Framer finds the messages of a server in its stream, and tells those apart that carry its clipboard
// (ServerCutText, plain and extended). All other bytes stay as they are. It must see the stream from
// the first byte after ServerInit. Its [Filter], which may be in another goroutine, tells it of pixel
// formats and update requests, and keeps viewers from asking for encodings that it does not know.
//
//	type  length    message of the server (RFC 6143, section 7.6, and extensions)
//	   0  4 + …     FramebufferUpdate    u8 type, 1 pad, u16 rectangles
//	   1  6 + 6n    SetColourMapEntries  u8 type, 1 pad, u16 first, u16 n, colours
//	   2  1         Bell
//	   3  8 + |n|   ServerCutText        u8 type, 3 pad, s32 n, text; n < 0: extended clipboard
//	 150  1         EndOfContinuousUpdates
//	 248  9 + n     Fence                u8 type, 3 pad, u32 flags, u8 n, payload
//	 250  4         xvp
//	 253  4 + n     gii                  as a viewer's
//	 255  4, 8 + n  QEMU audio           u8 type, u8 1, u16 operation; 2 has u32 n and sound
type Framer struct {
	head       [maxServerHead]byte
	have, need int   // bytes of head
	step       step  // is called with head once it is whole
	skip       int64 // bytes that pass before the next head
	begins     bool  // the next byte is a message's first
	cut        bool  // the message is the clipboard's
	broken     error

	area   rectangle
	left   int    // rectangles of this update
	layout layout // of pixels in this update
	pixels int64  // of the desktop, as a rectangle has said last

	shared shared
}

// Begun is how many updates have begun, and continuous updates ended, since the first byte.
func (f *Framer) Begun() int64 { return f.shared.begun }

// Lost reports whether it cannot follow the server any more.
func (f *Framer) Lost() bool { return f.shared.lost.Load() }

// Unused reports whether nobody needs it any more.
func (f *Framer) Unused() bool { return f.shared.unused.Load() }

// Pixels is how many the desktop has since the server has changed its size; 0 before that.
func (f *Framer) Pixels() int64 { return f.pixels }

// step handles a part of a message, and says what follows.
type step func(f *Framer, head []byte)

// The types of a server's messages; MsgFence and others are of both sides.
const (
	MsgFramebufferUpdate = 0
	MsgColourMap         = 1
	MsgBell              = 2
	MsgServerCutText     = 3

	QEMUAudioData = 2 // operation of QEMUAudio that has sound

	maxServerHead = 12 // of a rectangle
)

// NewFramer returns a Framer for a server whose ServerInit has this pixel format.
func NewFramer(format [16]byte) *Framer {
	f := &Framer{layout: layoutOf(format[:])}
	f.shared.asked = f.layout
	f.shared.next.Store(uint32(f.layout))
	f.end(0)
	return f
}

// Pass takes the clipboard out of p in place and returns what is left. The stream may be cut anywhere.
// An error is final: the end of a message cannot be found. What was read until then is returned too.
func (f *Framer) Pass(p []byte) ([]byte, error) {
	kept := 0
	err := f.Parts(p, func(part []byte) { kept += copy(p[kept:], part) })
	return p[:kept], err
}

// Parts hands out the parts of p between the clipboard's messages. Else it does what Pass does.
func (f *Framer) Parts(p []byte, keep func(part []byte)) error {
	begun, at := 0, 0
	for at < len(p) && f.broken == nil {
		n := f.take(p[at:])
		if f.cut {
			if at > begun {
				keep(p[begun:at])
			}
			begun = at + n
		}
		at += n
	}
	if at > begun {
		keep(p[begun:at])
	}
	return f.broken
}

// take returns how many of the next bytes are alike: of a body, or of a head, which it hands to its step
// once that is whole.
func (f *Framer) take(p []byte) (n int) {
	if f.skip > 0 {
		n = int(min(f.skip, int64(len(p))))
		f.skip -= int64(n)
		return n
	}
	if f.begins {
		f.begins, f.cut = false, p[0] == MsgServerCutText
	}
	if f.have == 0 && f.need <= len(p) {
		n = f.need
		f.step(f, p[:n])
		return n
	}
	n = copy(f.head[f.have:f.need], p)
	if f.have += n; f.have == f.need {
		f.step(f, f.head[:f.need])
	}
	return n
}

// expect has a step follow, with the next n bytes.
func (f *Framer) expect(n int, next step) { f.have, f.need, f.step = 0, n, next }

// end has the next message follow, after the rest of this one.
func (f *Framer) end(rest int64) {
	f.skip, f.begins = rest, true
	f.expect(1, (*Framer).message)
}

func (f *Framer) fail(format string, args ...any) {
	f.broken = fail(KindMessage, "reading the workstation's messages", format, args...)
	f.shared.lost.Store(true)
}

// message handles the type of a message.
func (f *Framer) message(head []byte) {
	switch head[0] {
	case MsgFramebufferUpdate:
		f.expect(3, (*Framer).update)
	case MsgColourMap:
		f.expect(5, func(f *Framer, head []byte) { f.end(6 * int64(binary.BigEndian.Uint16(head[3:]))) })
	case MsgBell:
		f.end(0)
	case MsgEnableContinuousUpdates: // their end
		f.shared.ended()
		f.end(0)
	case MsgServerCutText:
		f.expect(7, func(f *Framer, head []byte) {
			n := int64(int32(binary.BigEndian.Uint32(head[3:])))
			f.end(max(n, -n))
		})
	case MsgFence:
		f.expect(8, func(f *Framer, head []byte) { f.end(int64(head[7])) })
	case MsgXVP:
		f.end(3)
	case MsgGII:
		f.expect(3, func(f *Framer, head []byte) {
			n, _ := bodyLen([]byte{MsgGII, head[0], head[1], head[2]}) // of this type it has no error
			f.end(n)
		})
	case MsgQEMU:
		f.expect(3, (*Framer).audio)
	default:
		f.fail("message type %d is not known", head[0])
	}
}

func (f *Framer) audio(head []byte) {
	switch operation := binary.BigEndian.Uint16(head[1:]); {
	case head[0] != QEMUAudio:
		f.fail("QEMU's message %d is not known", head[0])
	case operation == QEMUAudioData:
		f.expect(4, func(f *Framer, head []byte) { f.end(int64(binary.BigEndian.Uint32(head))) })
	default:
		f.end(0)
	}
}

// update handles the head of a FramebufferUpdate.
func (f *Framer) update(head []byte) {
	f.layout = f.shared.update()
	f.left = int(binary.BigEndian.Uint16(head[1:])) + 1
	f.nextRectangle(0)
}

// nextRectangle has the next rectangle follow, after the rest of this one.
func (f *Framer) nextRectangle(rest int64) {
	if f.left--; f.left == 0 {
		f.end(rest)
		return
	}
	f.skip = rest
	f.expect(12, (*Framer).rectangle)
}

// layout is how many bytes a pixel has: the low byte in general, the next one in Tight (TPIXEL).
type layout uint32

func (l layout) pixel() int64  { return int64(l & 0xff) }
func (l layout) tpixel() int64 { return int64(l >> 8) }

// layoutOf reads a PIXEL_FORMAT (RFC 6143, section 7.4).
func layoutOf(format []byte) layout {
	pixel := layout(format[0] / 8)
	most := func(at int) uint16 { return binary.BigEndian.Uint16(format[at:]) }
	if pixel == 4 && format[1] == 24 && most(4) == 255 && most(6) == 255 && most(8) == 255 {
		return 3<<8 | pixel
	}
	return pixel<<8 | pixel
}
