package framebuffer

import (
	"bytes"
	"encoding/binary"
	"image"
)

// MaxPixels bounds a picture, which has four bytes a pixel: 64 MiB.
const MaxPixels = 16 << 20

// Picture is what the server has drawn.
type Picture struct {
	Width, Height int
	Pix           []byte // red, green, blue and 255 for each pixel, row by row
}

// Image shares the pixels of p.
func (p *Picture) Image() *image.RGBA {
	return &image.RGBA{Pix: p.Pix, Stride: 4 * p.Width, Rect: p.bounds()}
}

func (p *Picture) bounds() image.Rectangle { return image.Rect(0, 0, p.Width, p.Height) }

// resize keeps what fits of the picture, at the same place; the rest is black. It returns false, and
// does nothing, for a size that no picture may have.
func (p *Picture) resize(width, height int) bool {
	if width < 1 || height < 1 || width*height > MaxPixels {
		return false
	}
	was := *p
	*p = Picture{width, height, make([]byte, 4*width*height)}
	for i := 3; i < len(p.Pix); i += 4 {
		p.Pix[i] = 255
	}
	for y := range min(height, was.Height) {
		copy(p.Pix[4*y*width:][:4*width], was.Pix[4*y*was.Width:][:4*was.Width])
	}
	return true
}

// canvas is a picture that knows where it changed.
type canvas struct {
	Picture
	damage image.Rectangle
}

// row draws pixels to the right of a place. The caller has checked that they are inside.
func (c *canvas) row(x, y int, pix []byte) {
	now := c.Pix[4*(y*c.Width+x):][:len(pix)]
	if !bytes.Equal(now, pix) {
		c.changes(x, y, now, pix)
		copy(now, pix)
	}
}

// changes adds pixels to the damage: of a row all within what is damaged already, further out only
// those that differ.
func (c *canvas) changes(x, y int, was, now []byte) {
	left, right, clean := 0, len(now)/4, c.damage.Empty()
	same := func(i int) bool {
		return binary.LittleEndian.Uint32(was[4*i:]) == binary.LittleEndian.Uint32(now[4*i:])
	}
	for left < right && (clean || x+left < c.damage.Min.X) && same(left) {
		left++
	}
	for left < right && (clean || x+right > c.damage.Max.X) && same(right-1) {
		right--
	}
	c.damage = c.damage.Union(image.Rect(x+left, y, x+right, y+1))
}

// draw draws the pixels of a rectangle, row by row.
func (c *canvas) draw(r image.Rectangle, pix []byte) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		c.row(r.Min.X, y, pix[:4*r.Dx()])
		pix = pix[4*r.Dx():]
	}
}

// move copies the pixels at from to a rectangle, which may overlap them.
func (c *canvas) move(r image.Rectangle, from image.Point) {
	for i := range r.Dy() {
		if from.Y < r.Min.Y {
			i = r.Dy() - 1 - i // from the bottom: it covers what is copied later
		}
		c.row(r.Min.X, r.Min.Y+i, c.Pix[4*((from.Y+i)*c.Width+from.X):][:4*r.Dx()])
	}
}
