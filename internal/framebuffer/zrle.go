package framebuffer

import (
	"image"
)

// ZRLE (RFC 6143, section 7.7.6): a zlib stream of tiles, each of which begins with its kind.
//
//	0         pixels
//	1         one colour
//	2-16      a palette of so many, then indexes of 1, 2 or 4 bits; rows end with a byte
//	128       runs: a pixel, a length
//	130-255   a palette of kind-128, then runs: an index, with its highest bit set a length
const (
	zrleSide    = 64
	zrleRaw     = 0
	zrleSolid   = 1
	zrlePacked  = 16 // the most colours of packed indexes
	zrleRuns    = 128
	zrlePalette = 130
)

func readZRLE(d *Decoder, _ *Message, r image.Rectangle) error {
	n := d.in.u32()
	if r.Empty() {
		d.in.skip(n)
		return nil
	}
	s := &d.streams[streamZRLE]
	in := s.open(&d.in, n)
	for y := r.Min.Y; y < r.Max.Y; y += zrleSide {
		for x := r.Min.X; x < r.Max.X && in.err == nil; x += zrleSide {
			d.zrleTile(in, image.Rect(x, y, x+zrleSide, y+zrleSide).Intersect(r))
		}
	}
	return s.close()
}

func (d *Decoder) zrleTile(in *input, r image.Rectangle) {
	kind, as := int(in.u8()), &d.formats.compact
	pix := d.pixels(r.Dx() * r.Dy())
	colours := d.palette[:4*max(0, kind&^zrleRuns)]
	if kind != zrleRaw && kind != zrleRuns {
		as.convert(colours, in.bytes(len(colours)/4*as.size))
	}
	switch {
	case in.err != nil:
		return
	case kind == zrleRaw:
		as.convert(pix, in.bytes(len(pix)/4*as.size))
	case kind == zrleSolid:
		fill(pix, colours)
	case kind <= zrlePacked:
		in.fail(unpack(in, r, pix, colours))
	case kind == zrleRuns, kind >= zrlePalette:
		in.fail(d.runs(in, pix, colours))
	default:
		in.fail(wrong("a tile of kind %d", kind))
	}
	if in.err == nil {
		d.canvas.draw(r, pix)
	}
}

// fill draws one colour.
func fill(pix, colour []byte) {
	for n := copy(pix, colour); n < len(pix); n *= 2 {
		copy(pix[n:], pix[:n])
	}
}

// unpack reads indexes of a palette in as few bits as it needs: 1, 2 or 4.
func unpack(in *input, r image.Rectangle, pix, colours []byte) error {
	n, width := len(colours)/4, 4
	switch {
	case n <= 2:
		width = 1
	case n <= 4:
		width = 2
	}
	for range r.Dy() {
		row := in.bytes((r.Dx()*width + 7) / 8)
		for x := range r.Dx() {
			index := int(row[x*width/8]>>(8-width-x*width%8)) & (1<<width - 1)
			if index >= n {
				return wrong("colour %d of a palette of %d", index, n)
			}
			copy(pix[:4], colours[4*index:])
			pix = pix[4:]
		}
	}
	return nil
}

// runs reads pixels, or indexes of a palette, and how often each is.
func (d *Decoder) runs(in *input, pix, colours []byte) error {
	as, n := &d.formats.compact, len(colours)/4
	var own [4]byte
	for len(pix) > 0 && in.err == nil {
		colour, length := own[:], 1
		if n == 0 {
			as.convert(colour, in.bytes(as.size))
			length = runLength(in)
		} else {
			index := int(in.u8())
			if index&0x80 != 0 {
				index &^= 0x80
				length = runLength(in)
			}
			if index >= n {
				return wrong("colour %d of a palette of %d", index, n)
			}
			colour = colours[4*index:][:4]
		}
		if 4*length > len(pix) {
			return wrong("a run of %d pixels, %d before the tile's end", length, len(pix)/4)
		}
		fill(pix[:4*length], colour)
		pix = pix[4*length:]
	}
	return nil
}

// runLength is the sum of bytes to the first below 255, and one.
func runLength(in *input) int {
	for n := 1; ; {
		b := int(in.u8())
		if n += b; b < 255 || n > zrleSide*zrleSide {
			return n
		}
	}
}
