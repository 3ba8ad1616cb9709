package framebuffer

import (
	"encoding/binary"
	"fmt"
	"image"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// encoding is how a rectangle is read.
type encoding struct {
	draws bool // it must be inside the picture
	read  func(d *Decoder, m *Message, r image.Rectangle) error
}

// encodings are all that a Decoder knows.
var encodings = map[int32]encoding{
	rfb.EncodingRaw:      {true, readRaw},
	rfb.EncodingCopyRect: {true, readCopyRect},
	rfb.EncodingRRE:      {true, readRRE},
	rfb.EncodingCoRRE:    {true, readCoRRE},
	rfb.EncodingHextile:  {true, readHextile},
	rfb.EncodingZlib:     {true, readZlib},
	rfb.EncodingZRLE:     {true, readZRLE},
	rfb.EncodingTight:    {true, readTight},

	rfb.EncodingCursor:   {false, readCursor},
	rfb.EncodingXCursor:  {false, readXCursor},
	rfb.EncodingAlpha:    {false, readAlphaCursor},
	rfb.EncodingVMware:   {false, readVMwareCursor},
	rfb.EncodingPointer:  {false, readPointer},
	rfb.EncodingVMwareAt: {false, readPointer},

	rfb.EncodingSize:    {false, readSize},
	rfb.EncodingScreens: {false, readScreens},
	rfb.EncodingName:    {false, func(d *Decoder, _ *Message, _ image.Rectangle) error { d.in.skip(d.in.u32()); return nil }},

	rfb.EncodingLast:      skipped(0), // the update ends before it is looked up
	rfb.EncodingQEMUMove:  skipped(0),
	rfb.EncodingQEMUKeys:  skipped(0),
	rfb.EncodingQEMUAudio: skipped(0),
	rfb.EncodingQEMULEDs:  skipped(1),
	rfb.EncodingVMwareLED: skipped(4),
	rfb.EncodingXVP:       skipped(0),
	rfb.EncodingButtons:   skipped(0),
}

// skipped is a rectangle of n bytes that tells nothing of the picture.
func skipped(n int) encoding {
	return encoding{read: func(d *Decoder, _ *Message, _ image.Rectangle) error { d.in.skip(n); return nil }}
}

// live are the encodings that a viewer of the gateway's own asks for.
var live = []int32{
	rfb.EncodingZRLE, rfb.EncodingHextile, rfb.EncodingCopyRect, rfb.EncodingRaw,
	rfb.EncodingAlpha, rfb.EncodingCursor, rfb.EncodingPointer, rfb.EncodingVMwareAt, rfb.EncodingSize, rfb.EncodingScreens, rfb.EncodingLast,
	rfb.EncodingExtendedClipboard,
}

// Live returns the encodings that a viewer which wants the exact picture asks for, the best first. A
// server that gets them draws no cursor into the picture: [Decoder.Cursor] has it. But TigerVNC's draws
// it while the pointer is not where this viewer has moved it.
func Live() []int32 { return append([]int32(nil), live...) }

// Knows reports whether a viewer may ask for an encoding and a Decoder still reads all that the server
// sends. Quality levels and other settings are among them.
func Knows(e int32) bool {
	_, known := encodings[e]
	return known || rfb.IsSetting(e) || e == rfb.EncodingExtendedClipboard
}

// maxDrawn bounds the pixels that an update draws. Servers draw hardly more than a picture; without a
// bound they could have many drawn for each byte.
const maxDrawn = 4 * MaxPixels

// update reads a FramebufferUpdate (RFC 6143, section 7.6.1).
func (d *Decoder) update(m *Message) error {
	if d.refused != nil {
		return d.refused
	}
	d.formats = d.next
	d.canvas.damage = image.Rectangle{}
	d.budget = maxDrawn
	d.in.skip(1)
	for n := d.in.u16(); n > 0 && d.in.err == nil; n-- {
		head := d.in.bytes(12)
		at := func(i int) int { return int(binary.BigEndian.Uint16(head[i:])) }
		r := image.Rect(at(0), at(2), at(0)+at(4), at(2)+at(6))
		code := int32(binary.BigEndian.Uint32(head[8:]))
		if code == rfb.EncodingLast || d.in.err != nil {
			break
		}
		if err := d.rectangle(m, code, r); err != nil {
			return fmt.Errorf("a rectangle of encoding %d at %v: %w", code, r, err)
		}
	}
	m.Damage = d.canvas.damage
	return d.in.err
}

func (d *Decoder) rectangle(m *Message, code int32, r image.Rectangle) error {
	e, known := encodings[code]
	if !known {
		return wrong("the viewer did not ask for it")
	}
	if e.draws {
		if err := d.spend(r); err != nil {
			return err
		}
		m.Drawn = m.Drawn.Union(r)
	}
	return e.read(d, m, r)
}

// spend checks that a part of the picture is inside it, and takes its pixels off the update's budget.
func (d *Decoder) spend(r image.Rectangle) error {
	if size := d.canvas.bounds(); r.Max.X > size.Max.X || r.Max.Y > size.Max.Y {
		return wrong("the picture ends at %v", size.Max)
	}
	if d.budget -= r.Dx() * r.Dy(); d.budget < 0 {
		return wrong("the update draws more than %d pixels", maxDrawn)
	}
	return nil
}

// readSize reads DesktopSize.
func readSize(d *Decoder, m *Message, r image.Rectangle) error {
	size := r.Size()
	if size == d.canvas.bounds().Max {
		return nil
	}
	d.budget -= size.X * size.Y
	room := d.budget >= 0 && size.X*size.Y <= MaxPixels && (d.Room == nil || d.Room(size.X*size.Y))
	if !room || !d.canvas.resize(size.X, size.Y) {
		return wrong("a picture of %dx%d", size.X, size.Y)
	}
	d.canvas.damage, m.Resized = d.canvas.bounds(), true
	return nil
}

// readScreens reads ExtendedDesktopSize, whose place is why it was sent and whether that went well.
func readScreens(d *Decoder, m *Message, r image.Rectangle) error {
	const ourRequest, screen = 1, 16
	n := int(d.in.u8())
	d.in.skip(3 + n*screen)
	if refused := r.Min.X == ourRequest && r.Min.Y != 0; refused || d.in.err != nil {
		return d.in.err
	}
	return readSize(d, m, r)
}
