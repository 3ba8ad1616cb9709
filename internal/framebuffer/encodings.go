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
	rfb.EncodingZRLE:     {true, readZRLE},

	rfb.EncodingLast: {false, nil},
}

// live are the encodings that a viewer of the gateway's own asks for.
var live = []int32{
	rfb.EncodingZRLE, rfb.EncodingHextile, rfb.EncodingCopyRect, rfb.EncodingRaw,
	rfb.EncodingAlpha, rfb.EncodingCursor, rfb.EncodingPointer, rfb.EncodingSize, rfb.EncodingScreens, rfb.EncodingLast,
	rfb.EncodingExtendedClipboard,
}

// Live returns the encodings that a viewer which wants the exact picture asks for, the best first. A
// server that gets them draws no cursor into the picture: [Decoder.Cursor] has it.
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
	m.Damage, m.Drawn = d.canvas.damage, maxDrawn-d.budget
	return nil
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

// pixels is room for so many on their way to the picture, at most a row or a tile.
func (d *Decoder) pixels(n int) []byte {
	if len(d.line) < 4*n {
		d.line = make([]byte, 4*n)
	}
	return d.line[:4*n]
}

func readRaw(d *Decoder, _ *Message, r image.Rectangle) error {
	d.raw(&d.in, r, &d.formats.whole)
	return nil
}

// raw reads pixel after pixel.
func (d *Decoder) raw(in *input, r image.Rectangle, as *pixels) {
	line := d.pixels(r.Dx())
	for y := r.Min.Y; y < r.Max.Y && in.err == nil && len(line) > 0; y++ {
		as.convert(line, in.bytes(r.Dx()*as.size))
		d.canvas.row(r.Min.X, y, line)
	}
}

func readCopyRect(d *Decoder, _ *Message, r image.Rectangle) error {
	from := image.Pt(d.in.u16(), d.in.u16())
	if err := d.spend(image.Rectangle{from, from.Add(r.Size())}); err != nil || r.Empty() {
		return err
	}
	d.canvas.move(r, from)
	return nil
}
