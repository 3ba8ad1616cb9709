package framebuffer

import (
	"encoding/binary"
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
			zrleTile(d, in, image.Rect(x, y, x+zrleSide, y+zrleSide).Intersect(r))
		}
	}
	return s.close()
}

func zrleTile(d *Decoder, in *input, r image.Rectangle) {
	kind, as := int(in.u8()), &d.formats.compact
	pix := d.pixels(r.Dx() * r.Dy())
	colours := d.colours(in, as, 0, kind&^zrleRuns)
	switch {
	case in.err != nil:
		return
	case kind == zrleRaw:
		as.convert(pix, in.bytes(len(pix)/4*as.size))
	case kind == zrleSolid:
		fill(pix, colours)
	case kind <= zrlePacked:
		bits := 4
		if len(colours) <= 4*2 {
			bits = 1
		} else if len(colours) <= 4*4 {
			bits = 2
		}
		for row := 4 * r.Dx(); len(pix) > 0 && in.err == nil; pix = pix[row:] {
			in.fail(unpack(in, pix[:row], colours, bits))
		}
		pix = d.pixels(r.Dx() * r.Dy())
	case kind == zrleRuns, kind >= zrlePalette:
		in.fail(runs(in, as, pix, colours))
	default:
		in.fail(wrong("a tile of kind %d", kind))
	}
	if in.err == nil {
		d.canvas.draw(r, pix)
	}
}

// unpack reads a row of indexes of a palette, of so many bits each.
func unpack(in *input, row, colours []byte, bits int) error {
	packed, shift, mask := in.bytes((len(row)/4*bits+7)/8), 8, 1<<bits-1
	for ; len(row) >= 4; row = row[4:] {
		shift -= bits
		index := int(packed[0]>>shift) & mask
		if 4*index >= len(colours) {
			return outside(index, colours)
		}
		binary.LittleEndian.PutUint32(row, binary.LittleEndian.Uint32(colours[4*index:]))
		if shift == 0 {
			packed, shift = packed[1:], 8
		}
	}
	return nil
}

func outside(index int, colours []byte) error {
	return wrong("colour %d of a palette of %d", index, len(colours)/4)
}

// runs reads pixels, or indexes of a palette, and how often each is.
func runs(in *input, as *pixels, pix, colours []byte) error {
	n := len(colours) / 4
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
				return outside(index, colours)
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
