// Package framebuffer is the picture that a VNC server draws: it decodes the server's messages as they
// come after ServerInit (RFC 6143, section 7.6, and extensions), live or from a recording.
//
//	d, err := framebuffer.NewDecoder(desktop.Init)
//	for {
//		m, err := d.Read(r) // one message
//		…m.Damage of d.Picture() changed
//	}
//
// What a server can make a Decoder hold is bounded: a picture of at most [MaxPixels], another while the
// size changes, 10 MiB of buffers, and 16 MiB while a JPEG is decoded. A server that sends ZRLE alone
// costs less than 512 KiB besides the picture.
package framebuffer

import (
	"bufio"
	"encoding/binary"
	"image"
	"io"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Decoder decodes the messages of one server. It is not safe for concurrent use.
type Decoder struct {
	// Room is asked before the picture gets so many pixels in place of those it has, which stay until it has
	// returned. Default: there is room up to MaxPixels.
	Room func(pixels int) bool

	in      input
	canvas  canvas
	formats formats // of this update
	next    formats // from the next one on
	refused error   // why next cannot be used
	mapped  [256][4]byte

	line    []byte // pixels on their way to the picture
	palette [256 * 4]byte
	budget  int // pixels that this update may still draw
	cursor  Cursor
	streams [streams]stream
}

// NewDecoder returns a Decoder at the first byte after ServerInit. It fails for a size that no picture
// may have. A pixel format that cannot be decoded is an error of the first update, unless
// [Decoder.SetFormat] is called before.
func NewDecoder(init rfb.Init) (*Decoder, error) {
	d := &Decoder{}
	if !d.canvas.resize(int(init.Width), int(init.Height)) {
		return nil, wrong("a picture of %dx%d", init.Width, init.Height)
	}
	for i := range d.mapped {
		d.mapped[i] = [4]byte{0, 0, 0, 255}
	}
	_ = d.SetFormat(init.Format) // it is kept
	return d, nil
}

// SetFormat notes a pixel format that the viewer has asked for. It holds from the next update on.
func (d *Decoder) SetFormat(format [16]byte) error {
	d.next, d.refused = readFormat(format, &d.mapped)
	return d.refused
}

// Picture is the decoder's own, valid until the next Read.
func (d *Decoder) Picture() *Picture { return &d.canvas.Picture }

// Cursor returns what the server said of it. Its shape is never written to again.
func (d *Decoder) Cursor() Cursor { return d.cursor }

// Kind is what a message of the server is.
type Kind uint8

// The kinds of messages. Other has nothing that a picture needs: fences, sound and the like.
const (
	Other Kind = iota
	Update
	Bell
	CutText
	ColourMap
)

// MaxText bounds the clipboard's text, in bytes as sent. A longer one is passed over.
const MaxText = 1 << 20

// Message is what a server has sent, besides the picture.
type Message struct {
	Kind      Kind
	Damage    image.Rectangle // around all pixels that are not as before, empty if there are none
	Drawn     image.Rectangle // around all that were drawn, changed or not
	Resized   bool            // the picture has another size, and all of it is damaged
	Cursor    bool            // its shape or place may have changed
	Text      []byte          // the clipboard's, in UTF-8; nil if none was sent or it is too long
	Clipboard Clipboard       // of the extended clipboard
}

// Read reads one message and applies it. At an end between two messages it returns [io.EOF]. Every
// error is final: the next message cannot be found. Those of a server that sends what it may not are an
// [*rfb.Error] of [rfb.KindMessage]; others are those of r.
func (d *Decoder) Read(r *bufio.Reader) (m Message, err error) {
	if d.in.err != nil {
		return m, d.in.err
	}
	d.in.r = r
	kind, err := r.ReadByte()
	if err != nil {
		if err != io.EOF {
			d.in.fail(err)
		}
		return m, err
	}
	d.in.fail(d.message(&m, kind))
	d.in.release()
	return m, d.in.err
}

func (d *Decoder) message(m *Message, kind byte) error {
	in := &d.in
	switch kind {
	case rfb.MsgFramebufferUpdate:
		m.Kind = Update
		return d.update(m)
	case rfb.MsgColourMap:
		m.Kind = ColourMap
		d.colourMap()
	case rfb.MsgBell:
		m.Kind = Bell
	case rfb.MsgServerCutText:
		m.Kind = CutText
		m.cutText(in)
	case rfb.MsgEnableContinuousUpdates: // their end
	case rfb.MsgFence:
		in.skip(7)
		in.skip(int(in.u8()))
	case rfb.MsgXVP:
		in.skip(3)
	case rfb.MsgGII:
		order := binary.ByteOrder(binary.LittleEndian)
		if in.u8()&0x80 != 0 {
			order = binary.BigEndian
		}
		in.skip(int(order.Uint16(in.bytes(2))))
	case rfb.MsgQEMU:
		if of := in.u8(); of != rfb.QEMUAudio && in.err == nil {
			return wrong("QEMU's message %d", of)
		}
		if in.u16() == rfb.QEMUAudioData {
			in.skip(in.u32())
		}
	default:
		return wrong("message type %d", kind)
	}
	return nil
}

// colourMap reads SetColourMapEntries (RFC 6143, section 7.6.2). A pixel of a colour map has 8 bits.
func (d *Decoder) colourMap() {
	d.in.skip(1)
	first, n := d.in.u16(), d.in.u16()
	for i := first; i < first+n && d.in.err == nil; i++ {
		if c := d.in.bytes(6); i < len(d.mapped) { // the upper halves
			d.mapped[i] = [4]byte{c[0], c[2], c[4], 255}
		}
	}
}
