package framebuffer

import (
	"bytes"
	"image"
	"image/draw"
	"image/jpeg"

	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// maxJPEG bounds the pixels of one, whose decoder may use 16 bytes for each. Servers split a picture
// into parts of 65,536.
const maxJPEG = 1 << 20

// readTight reads a rectangle that begins with its control: four bits that reset zlib streams, and how
// it is encoded (the community's description of RFB).
func readTight(d *Decoder, _ *Message, r image.Rectangle) error {
	control := d.in.u8()
	for i := range streamZlib {
		if control>>i&1 != 0 {
			d.streams[i].begun = false
		}
	}
	switch control >>= 4; {
	case control == rfb.TightFill:
		d.solid(r, d.colours(&d.in, &d.formats.tight, 0, 1))
	case control == rfb.TightJPEG:
		return readJPEG(d, r)
	case control < rfb.TightFill, control&^rfb.TightFilter == rfb.TightStored:
		return readBasic(d, r, control)
	default:
		return wrong("control %d of Tight", control)
	}
	return nil
}

// compactLength reads seven bits and whether there are more, twice; then eight.
func compactLength(in *input) int {
	n := 0
	for shift := 0; ; shift += 7 {
		b := int(in.u8())
		if shift == 14 || b&0x80 == 0 {
			return n | b<<shift
		}
		n |= b &^ 0x80 << shift
	}
}

func readJPEG(d *Decoder, r image.Rectangle) error {
	data := d.in.bytes(compactLength(&d.in)) // less than 4 MiB
	if d.in.err != nil {
		return d.in.err
	}
	if r.Dx()*r.Dy() > maxJPEG {
		return wrong("a JPEG of more than %d pixels", maxJPEG)
	}
	head, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err == nil && image.Pt(head.Width, head.Height) != r.Size() {
		return wrong("a JPEG of %dx%d", head.Width, head.Height)
	}
	if err != nil {
		return wrong("a JPEG: %v", err)
	}
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		return wrong("a JPEG: %v", err)
	}
	row := &image.RGBA{Pix: d.pixels(r.Dx())}
	for y := range r.Dy() {
		row.Rect = image.Rect(0, y, r.Dx(), y+1)
		draw.Draw(row, row.Rect, img, row.Rect.Min, draw.Src)
		d.canvas.row(r.Min.X, r.Min.Y+y, row.Pix)
	}
	return nil
}

// readBasic reads pixels behind a filter, compressed unless they are few or the server does not want to.
func readBasic(d *Decoder, r image.Rectangle, control byte) error {
	as, filter := &d.formats.tight, byte(rfb.FilterCopy)
	if control&rfb.TightFilter != 0 {
		filter = d.in.u8()
	}
	bits, colours := 8*as.size, []byte(nil)
	switch filter {
	case rfb.FilterPalette:
		n := int(d.in.u8()) + 1
		colours = d.colours(&d.in, as, 0, n)
		if bits = 8; n <= 2 {
			bits = 1
		}
	case rfb.FilterCopy:
	case rfb.FilterGradient:
		if as.colours != nil {
			return wrong("a gradient with a colour map")
		}
	default:
		return wrong("filter %d of Tight", filter)
	}
	in, size := &d.in, (r.Dx()*bits+7)/8*r.Dy()
	if size >= rfb.MinCompressed {
		n := compactLength(&d.in)
		if control < rfb.TightFill {
			s := &d.streams[control%streamZlib]
			filtered(d, s.open(in, n), r, filter, colours, bits)
			return s.close()
		}
		if n != size && in.err == nil {
			return wrong("%d bytes, want %d", n, size)
		}
	}
	filtered(d, in, r, filter, colours, bits)
	return nil
}

func filtered(d *Decoder, in *input, r image.Rectangle, filter byte, colours []byte, bits int) {
	switch filter {
	case rfb.FilterPalette:
		line := d.pixels(r.Dx())
		for y := r.Min.Y; y < r.Max.Y && in.err == nil; y++ {
			if in.fail(unpack(in, line, colours, bits)); in.err == nil {
				d.canvas.row(r.Min.X, y, line)
			}
		}
	case rfb.FilterGradient:
		gradient(d, in, r)
	default:
		d.raw(in, r, &d.formats.tight)
	}
}

// gradient reads differences from a prediction: left plus above less above left, within
// the range of a colour.
func gradient(d *Decoder, in *input, r image.Rectangle) {
	as, line := &d.formats.tight, d.pixels(r.Dx())
	above := make([][3]int, r.Dx())
	for y := r.Min.Y; y < r.Max.Y && in.err == nil; y++ {
		src := in.bytes(r.Dx() * as.size)
		var left, aboveLeft [3]int
		for x := range r.Dx() {
			v := as.load(src[x*as.size:])
			for i := range left {
				most := int(as.most[i])
				sum := int(v>>as.shift[i]) + min(max(left[i]+above[x][i]-aboveLeft[i], 0), most)
				aboveLeft[i], left[i] = above[x][i], sum&most
				above[x][i] = left[i]
				line[4*x+i] = as.scale[i][left[i]]
			}
			line[4*x+3] = 255
		}
		d.canvas.row(r.Min.X, y, line)
	}
}
