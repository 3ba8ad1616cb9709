package testcard

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/jpeg"
)

// FramebufferUpdate (RFC 6143, section 7.6.1), and the two encodings of its rectangles:
//
//	u8 0, 1 byte, u16 number of rectangles, rectangles
//
//	rectangle  u16 x, u16 y, u16 width, u16 height, s32 encoding, data
//	Raw (0)    pixels
//	Tight (7)  u8 control, and by its high bits
//	           0x80 fill   one pixel
//	           0x90 JPEG   length, a JFIF picture
//	           0x00 basic  pixels as they are if they take less than 12 bytes;
//	                       else length, and that much of the connection's first zlib stream
//
// A length is 7 bits a byte, the least first, with 0x80 where another follows; its third byte has 8
// bits. Tight's pixels: see newPacker.
const (
	framebufferUpdate = 0

	tightFill  = 0x80
	tightJPEG  = 0x90
	tightBasic = 0x00

	tightUnpacked = 12 // bytes, from which on basic pixels are packed
)

// encoding is what the viewer can read.
type encoding struct {
	format  pixelFormat
	tight   bool
	quality int // of JPEG, 0 to 9, or noJPEG
}

const noJPEG = -1

// jpegQuality is that of image/jpeg for a viewer's level: 20 to 92.
func jpegQuality(level int) int { return 20 + 8*level }

// encoder writes updates to one viewer.
type encoder struct {
	card *card
	w    *bufio.Writer

	encoding         encoding
	raw, tight       *packer // for encoding.format
	pixels           []uint8 // of the last canvas
	row              []byte
	pieces           []piece
	stream           *zlib.Writer // into packed, as long as the connection; nil before the first use
	packed, pictured bytes.Buffer
}

// update sends the region as it looks at the moment.
func (e *encoder) update(region []image.Rectangle, m moment, as encoding) error {
	if e.raw == nil || as.format != e.encoding.format {
		e.raw, e.tight = newPacker(as.format, false), newPacker(as.format, true)
	}
	e.encoding = as
	e.pieces = e.pieces[:0]
	if as.tight {
		// By itself, so that its colours do not run into the road, which is not sent again with it.
		square, rest := divide(region, e.card.square(m))
		region = append(square, rest...)
	}
	for _, r := range region {
		if as.tight {
			e.plan(r, m)
		} else {
			e.pieces = append(e.pieces, piece{r, encodingRaw, 0})
		}
	}
	head := append(e.w.AvailableBuffer(), framebufferUpdate, 0)
	if _, err := e.w.Write(binary.BigEndian.AppendUint16(head, uint16(len(e.pieces)))); err != nil {
		return err
	}
	for _, p := range e.pieces {
		if err := e.piece(p, m); err != nil {
			return err
		}
	}
	return e.w.Flush()
}

// canvas paints a part of the picture, of at most stripPixels.
func (e *encoder) canvas(r image.Rectangle, m moment) canvas {
	size := 4 * r.Dx() * r.Dy()
	if cap(e.pixels) < size {
		e.pixels = make([]uint8, size)
	}
	c := canvas{&image.RGBA{Pix: e.pixels[:size], Stride: 4 * r.Dx(), Rect: r}}
	e.card.paint(c, m)
	return c
}

// piece writes one rectangle. After one write to e.w has failed, all later ones fail, so checking
// the last is enough.
func (e *encoder) piece(p piece, m moment) error {
	head := e.w.AvailableBuffer()
	for _, v := range []int{p.area.Min.X, p.area.Min.Y, p.area.Dx(), p.area.Dy()} {
		head = binary.BigEndian.AppendUint16(head, uint16(v))
	}
	head = binary.BigEndian.AppendUint32(head, uint32(p.encoding))
	if p.encoding == encodingTight {
		head = append(head, p.control)
	}
	if _, err := e.w.Write(head); err != nil {
		return err
	}
	switch {
	case p.encoding == encodingRaw:
		return e.writeRaw(p.area, m)
	case p.control == tightFill:
		one := image.Rectangle{Min: p.area.Min, Max: p.area.Min.Add(image.Pt(1, 1))}
		_, err := e.w.Write(e.tight.append(e.w.AvailableBuffer(), e.canvas(one, m).img.Pix))
		return err
	case p.control == tightJPEG:
		return e.writeJPEG(p.area, m)
	default:
		return e.writeBasic(p.area, m)
	}
}

func (e *encoder) writeRaw(area image.Rectangle, m moment) error {
	for rest := area; !rest.Empty(); {
		strip := rest
		strip.Max.Y = min(rest.Max.Y, rest.Min.Y+max(1, stripPixels/rest.Dx()))
		c := e.canvas(strip, m)
		for y := strip.Min.Y; y < strip.Max.Y; y++ {
			e.row = e.raw.append(e.row[:0], c.row(strip, y))
			if _, err := e.w.Write(e.row); err != nil {
				return err
			}
		}
		rest.Min.Y = strip.Max.Y
	}
	return nil
}

func (e *encoder) writeJPEG(area image.Rectangle, m moment) error {
	e.pictured.Reset()
	c := e.canvas(area, m)
	if err := jpeg.Encode(&e.pictured, c.img, &jpeg.Options{Quality: jpegQuality(e.encoding.quality)}); err != nil {
		return err
	}
	return e.writeCounted(e.pictured.Bytes())
}

func (e *encoder) writeBasic(area image.Rectangle, m moment) error {
	c := e.canvas(area, m)
	e.row = e.tight.append(e.row[:0], c.img.Pix)
	if len(e.row) < tightUnpacked {
		_, err := e.w.Write(e.row)
		return err
	}
	if e.stream == nil {
		stream, err := zlib.NewWriterLevel(&e.packed, zlib.BestSpeed)
		if err != nil {
			return err
		}
		e.stream = stream
	}
	e.packed.Reset()
	if _, err := e.stream.Write(e.row); err != nil {
		return err
	}
	if err := e.stream.Flush(); err != nil {
		return err
	}
	return e.writeCounted(e.packed.Bytes())
}

// writeCounted writes data after its length, which is below 1 << 22 for any picture of stripPixels.
func (e *encoder) writeCounted(data []byte) error {
	n := len(data)
	length := append(e.w.AvailableBuffer(), byte(n&0x7f))
	if n >= 1<<7 {
		length[0] |= 0x80
		length = append(length, byte(n>>7&0x7f))
	}
	if n >= 1<<14 {
		length[1] |= 0x80
		length = append(length, byte(n>>14))
	}
	if _, err := e.w.Write(length); err != nil {
		return err
	}
	_, err := e.w.Write(data)
	return err
}
