package framebuffer

import "image"

// Cursor is the pointer's, which is not part of the picture if the viewer asked for its shape.
type Cursor struct {
	Shape  *image.RGBA // with transparency, colours multiplied; nil if the server sent none, empty to hide it
	Hot    image.Point // of the shape, at the pointer's place
	At     image.Point // where the pointer is
	Placed bool        // the server has said where; it does so when others move the pointer
}

// maxCursor bounds the pixels of a shape: 512 by 512 is twice the largest that desktops have.
const maxCursor = 1 << 18

// shape begins a cursor's. Its place is the hot spot.
func shape(d *Decoder, m *Message, r image.Rectangle) (*image.RGBA, error) {
	size := r.Size()
	if size.X*size.Y > maxCursor {
		return nil, wrong("a cursor of %dx%d", size.X, size.Y)
	}
	m.Cursor = true
	d.cursor.Shape, d.cursor.Hot = image.NewRGBA(image.Rectangle{Max: size}), r.Min
	return d.cursor.Shape, nil
}

// masked hides the pixels of a shape whose bit is not set.
func masked(img *image.RGBA, mask []byte) {
	for i := range img.Rect.Dx() * img.Rect.Dy() {
		x, y := i%img.Rect.Dx(), i/img.Rect.Dx()
		if !bit(mask, img.Rect.Dx(), x, y) {
			clear(img.Pix[4*i:][:4])
		}
	}
}

// bit is one of a mask, whose rows begin with a byte.
func bit(mask []byte, width, x, y int) bool { return mask[(width+7)/8*y+x/8]>>(7-x%8)&1 != 0 }

func maskLen(r image.Rectangle) int { return (r.Dx() + 7) / 8 * r.Dy() }

// readCursor reads pixels and a mask (RFC 6143, section 7.8.1).
func readCursor(d *Decoder, m *Message, r image.Rectangle) error {
	img, err := shape(d, m, r)
	if err == nil {
		as := &d.formats.whole
		as.convert(img.Pix, d.in.bytes(len(img.Pix)/4*as.size))
		masked(img, d.in.bytes(maskLen(r)))
	}
	return err
}

// readXCursor reads two colours, which pixels have the first one, and a mask. An empty cursor has none.
func readXCursor(d *Decoder, m *Message, r image.Rectangle) error {
	img, err := shape(d, m, r)
	if err != nil || r.Empty() {
		return err
	}
	colours := append([]byte(nil), d.in.bytes(6)...)
	first := d.in.bytes(maskLen(r))
	for i := range len(img.Pix) / 4 {
		c := colours[3:]
		if bit(first, r.Dx(), i%r.Dx(), i/r.Dx()) {
			c = colours
		}
		copy(img.Pix[4*i:], []byte{c[0], c[1], c[2], 255})
	}
	masked(img, d.in.bytes(maskLen(r)))
	return nil
}

// readAlphaCursor reads pixels with transparency: red, green and blue already multiplied by it.
func readAlphaCursor(d *Decoder, m *Message, r image.Rectangle) error {
	if encoding := d.in.u32(); encoding != 0 {
		return wrong("a cursor of encoding %d", int32(encoding))
	}
	img, err := shape(d, m, r)
	if err == nil {
		copy(img.Pix, d.in.bytes(len(img.Pix)))
	}
	return err
}

// readVMwareCursor reads pixels with transparency, or what of the picture stays (AND) and then changes
// (XOR). A pixel that would be inverted is shown black.
func readVMwareCursor(d *Decoder, m *Message, r image.Rectangle) error {
	kind, as := d.in.u8(), &d.formats.whole
	d.in.skip(1)
	img, err := shape(d, m, r)
	switch n := r.Dx() * r.Dy(); {
	case err != nil:
		return err
	case kind == 1:
		copy(img.Pix, d.in.bytes(4*n))
		for p := img.Pix; len(p) > 0; p = p[4:] {
			for i := range 3 {
				p[i] = byte(int(p[i]) * int(p[3]) / 255)
			}
		}
	case kind == 0:
		and := append([]byte(nil), d.in.bytes(n*as.size)...)
		xor := d.in.bytes(n * as.size)
		for i := range n {
			stays, changes := as.load(and[i*as.size:]) != 0, as.load(xor[i*as.size:]) != 0
			switch p := img.Pix[4*i:][:4]; {
			case !stays:
				as.convert(p, xor[i*as.size:])
			case changes:
				p[3] = 255
			}
		}
	default:
		return wrong("a cursor of VMware's type %d", kind)
	}
	return nil
}

// readPointer reads where the pointer is.
func readPointer(d *Decoder, m *Message, r image.Rectangle) error {
	d.cursor.At, d.cursor.Placed, m.Cursor = r.Min, true, true
	return nil
}
