package replay

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/draw"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

const (
	tile = 64 // pixels in a row and rows, of ZRLE
	// stripWidth bounds a rectangle, of one row of tiles, in pixels. Players of fbs files have fixed buffers
	// for a rectangle.
	stripWidth = 64 * tile
)

// blueFirst is 32 bits a pixel, little endian, with shifts 16, 8, 0.
var blueFirst = [16]byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0}

// encoder makes updates of a picture (RFC 6143, section 7.6.1) in ZRLE, with tiles that are Raw or of one
// colour.
type encoder struct {
	blueFirst    bool
	pixels, tile []byte // of a tile, and how it is written
	packed       bytes.Buffer
	zip          *zlib.Writer
}

// frame is what an update shows: a picture, and the pointer on it.
type frame struct {
	*framebuffer.Picture

	pointer *image.RGBA // nil: none. Its bounds are where it is.
}

// head appends the head of an update.
func head(dst []byte, rectangles int) []byte {
	return binary.BigEndian.AppendUint16(append(dst, 0, 0), uint16(rectangles))
}

// rectangleHead appends the head of a rectangle.
func rectangleHead(dst []byte, r image.Rectangle, encoding int32) []byte {
	for _, v := range []int{r.Min.X, r.Min.Y, r.Dx(), r.Dy()} {
		dst = binary.BigEndian.AppendUint16(dst, uint16(v))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(encoding))
}

// appendStrips cuts an area into rows of tiles.
func appendStrips(strips []image.Rectangle, area image.Rectangle) []image.Rectangle {
	for y := area.Min.Y; y < area.Max.Y; y += tile {
		for x := area.Min.X; x < area.Max.X; x += stripWidth {
			strips = append(strips, image.Rect(x, y, min(x+stripWidth, area.Max.X), min(y+tile, area.Max.Y)))
		}
	}
	return strips
}

// rectangle appends a rectangle of at most one row of tiles.
func (e *encoder) rectangle(dst []byte, f frame, r image.Rectangle) []byte {
	if e.zip == nil {
		e.zip, _ = zlib.NewWriterLevel(&e.packed, zlib.BestSpeed) // a level that exists
	}
	e.packed.Reset()
	for x := r.Min.X; x < r.Max.X; x += tile {
		e.paint(f, image.Rect(x, r.Min.Y, min(x+tile, r.Max.X), r.Max.Y))
		_, _ = e.zip.Write(e.pack()) // into memory
	}
	_ = e.zip.Flush()
	dst = rectangleHead(dst, r, rfb.EncodingZRLE)
	dst = binary.BigEndian.AppendUint32(dst, uint32(e.packed.Len()))
	return append(dst, e.packed.Bytes()...)
}

// pack makes a tile of ZRLE of e.pixels: subencoding 1 and a colour, or 0 and all pixels, of three bytes each.
func (e *encoder) pack() []byte {
	const raw, solid = 0, 1
	if bytes.Equal(e.pixels[4:], e.pixels[:len(e.pixels)-4]) {
		return append(e.tile[:0], solid, e.pixels[0], e.pixels[1], e.pixels[2])
	}
	e.tile = append(e.tile[:0], raw)
	for i := 0; i < len(e.pixels); i += 4 {
		e.tile = append(e.tile, e.pixels[i], e.pixels[i+1], e.pixels[i+2])
	}
	return e.tile
}

// paint puts the pixels of an area into e.pixels, with the pointer.
func (e *encoder) paint(f frame, area image.Rectangle) {
	e.pixels = e.pixels[:0]
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := 4 * (y*f.Width + area.Min.X)
		e.pixels = append(e.pixels, f.Pix[row:row+4*area.Dx()]...)
	}
	if f.pointer != nil && f.pointer.Rect.Overlaps(area) {
		on := &image.RGBA{Pix: e.pixels, Stride: 4 * area.Dx(), Rect: area}
		draw.Draw(on, area, f.pointer, area.Min, draw.Over)
	}
	if e.blueFirst {
		for i := 0; i < len(e.pixels); i += 4 {
			e.pixels[i], e.pixels[i+2] = e.pixels[i+2], e.pixels[i]
		}
	}
}
