package framebuffer

import (
	"image"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// pixels is room for so many on their way to the picture, at most a row or a tile.
func (d *Decoder) pixels(n int) []byte {
	if len(d.line) < 4*n {
		d.line = make([]byte, 4*n)
	}
	return d.line[:4*n]
}

// raw draws pixel after pixel.
func (d *Decoder) raw(in *input, r image.Rectangle, as *pixels) {
	line := d.pixels(r.Dx())
	for y := r.Min.Y; y < r.Max.Y && in.err == nil; y++ {
		as.convert(line, in.bytes(r.Dx()*as.size))
		d.canvas.row(r.Min.X, y, line)
	}
}

// solid draws one colour.
func (d *Decoder) solid(r image.Rectangle, colour []byte) {
	line := d.pixels(r.Dx())
	fill(line, colour)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		d.canvas.row(r.Min.X, y, line)
	}
}

// fill makes all pixels of one colour.
func fill(pix, colour []byte) {
	for n := copy(pix, colour); n < len(pix); n *= 2 {
		copy(pix[n:], pix[:n])
	}
}

// colours reads n of them, valid until the next call. They stay in the palette from its colour at on.
func (d *Decoder) colours(in *input, as *pixels, at, n int) []byte {
	c := d.palette[4*at:][:4*n]
	as.convert(c, in.bytes(n*as.size))
	return c
}

func readRaw(d *Decoder, _ *Message, r image.Rectangle) error {
	d.raw(&d.in, r, &d.formats.whole)
	return nil
}

func readCopyRect(d *Decoder, _ *Message, r image.Rectangle) error {
	from := image.Pt(d.in.u16(), d.in.u16())
	if err := d.spend(image.Rectangle{Min: from, Max: from.Add(r.Size())}); err != nil || d.in.err != nil {
		return err
	}
	d.canvas.move(r, from)
	return nil
}

// RRE is one colour with rectangles of others (RFC 6143, section 7.7.3), CoRRE the same in bytes. What
// it draws counts as damage, also where it is as before.
func readRRE(d *Decoder, _ *Message, r image.Rectangle) error { return d.rre(r, d.in.u16) }
func readCoRRE(d *Decoder, _ *Message, r image.Rectangle) error {
	return d.rre(r, func() int { return int(d.in.u8()) })
}

func (d *Decoder) rre(r image.Rectangle, coordinate func() int) error {
	n, as := d.in.u32(), &d.formats.whole
	d.solid(r, d.colours(&d.in, as, 0, 1))
	for ; n > 0 && d.in.err == nil; n-- {
		colour := d.colours(&d.in, as, 0, 1)
		at := r.Min.Add(image.Pt(coordinate(), coordinate()))
		part := image.Rectangle{Min: at, Max: at.Add(image.Pt(coordinate(), coordinate()))}
		if part.Max.X > r.Max.X || part.Max.Y > r.Max.Y {
			return wrong("it has one at %v", part)
		}
		if err := d.spend(part); err != nil {
			return err
		}
		d.solid(part, colour)
	}
	return nil
}

// readHextile reads tiles of 16 by 16 (RFC 6143, section 7.7.4). Colours go on from one to the next.
func readHextile(d *Decoder, _ *Message, r image.Rectangle) error {
	const background, foreground, own = 0, 1, 2 // in the palette
	in, as := &d.in, &d.formats.whole
	fill(d.palette[:4*own], []byte{0, 0, 0, 255}) // for a server that says none
	for y := r.Min.Y; y < r.Max.Y; y += rfb.TileSide {
		for x := r.Min.X; x < r.Max.X && in.err == nil; x += rfb.TileSide {
			tile := image.Rect(x, y, x+rfb.TileSide, y+rfb.TileSide).Intersect(r)
			flags := in.u8()
			if flags&rfb.TileRaw != 0 {
				d.raw(in, tile, as)
				continue
			}
			if flags&rfb.TileBackground != 0 {
				d.colours(in, as, background, 1)
			}
			if flags&rfb.TileForeground != 0 {
				d.colours(in, as, foreground, 1)
			}
			w, h := tile.Dx(), tile.Dy()
			pix := d.pixels(w * h)
			fill(pix, d.palette[4*background:][:4])
			n := 0
			if flags&rfb.TileSubrects != 0 {
				n = int(in.u8())
			}
			for range n {
				colour := d.palette[4*foreground:][:4]
				if flags&rfb.TileColoured != 0 {
					colour = d.colours(in, as, own, 1)
				}
				at, size := int(in.u8()), int(in.u8())
				left, top := at>>4, at&15
				right, bottom := left+size>>4+1, top+size&15+1
				if right > w || bottom > h {
					return wrong("a tile of %dx%d has one to %d,%d", w, h, right, bottom)
				}
				for ; top < bottom; top++ {
					fill(pix[4*(top*w+left):4*(top*w+right)], colour)
				}
			}
			d.canvas.draw(tile, pix)
		}
	}
	return nil
}

// readZlib reads raw pixels in a zlib stream.
func readZlib(d *Decoder, _ *Message, r image.Rectangle) error {
	s := &d.streams[streamZlib]
	d.raw(s.open(&d.in, d.in.u32()), r, &d.formats.whole)
	return s.close()
}
