package testcard

import (
	"image"
	"slices"
)

// canvas is a part of the picture. Drawing outside it has no effect.
type canvas struct{ img *image.RGBA }

func (c canvas) fill(r image.Rectangle, colour uint32) {
	r = r.Intersect(c.img.Rect)
	if r.Empty() {
		return
	}
	value := rgba(colour)
	first := c.row(r, r.Min.Y)
	for i := 0; i < len(first); i += 4 {
		first[i], first[i+1], first[i+2], first[i+3] = value.R, value.G, value.B, value.A
	}
	for y := r.Min.Y + 1; y < r.Max.Y; y++ {
		copy(c.row(r, y), first)
	}
}

// row is the pixels of r, which is in the canvas, at y.
func (c canvas) row(r image.Rectangle, y int) []uint8 {
	i := c.img.PixOffset(r.Min.X, y)
	return c.img.Pix[i : i+4*r.Dx()]
}

// colours counts the colours of r, which is in the canvas, up to one more than few.
func (c canvas) colours(r image.Rectangle) int {
	var seen [few][4]uint8
	n := 0
	last := -1 // the index in seen of the pixel before
	for y := r.Min.Y; y < r.Max.Y; y++ {
		row := c.row(r, y)
		for i := 0; i < len(row); i += 4 {
			pixel := [4]uint8(row[i : i+4])
			if last >= 0 && seen[last] == pixel {
				continue
			}
			if last = slices.Index(seen[:n], pixel); last >= 0 {
				continue
			}
			if n == few {
				return few + 1
			}
			seen[n], last = pixel, n
			n++
		}
	}
	return n
}

// paint draws all of the canvas as it is at a moment.
func (c *card) paint(on canvas, m moment) {
	for n, bar := range c.Bars {
		on.fill(bar, barColors[n])
	}
	for n, step := range c.Ramp {
		on.fill(step, stepGrey*uint32(n))
	}
	if on.img.Rect.Overlaps(c.Panel) {
		on.fill(c.Panel, Ground)
		lines := c.lines(m)
		for i, field := range c.fields() {
			field.Max.X -= field.Dx() % (cellWidth * c.scale)
			part := on.img.SubImage(field).(*image.RGBA) // a long text ends with its field
			canvas{part}.text(field.Min, c.scale, Ink, lines[i])
		}
	}
	if on.img.Rect.Overlaps(c.Road) {
		on.fill(c.Road, RoadColor)
		on.blend(c.square(m))
	}
	if m.pointed {
		for _, line := range [...]struct {
			grow   int
			colour uint32
		}{{1, Black}, {0, White}} { // seen on each bar
			on.fill(around(m.pointer, armLength+line.grow, armWidth/2+line.grow), line.colour)
			on.fill(around(m.pointer, armWidth/2+line.grow, armLength+line.grow), line.colour)
		}
	}
}

// blend draws a square whose red grows to the right and whose green grows downwards: a photograph's
// kind of picture.
func (c canvas) blend(r image.Rectangle) {
	part := r.Intersect(c.img.Rect)
	for y := part.Min.Y; y < part.Max.Y; y++ {
		row := c.row(part, y)
		for x := part.Min.X; x < part.Max.X; x++ {
			i := 4 * (x - part.Min.X)
			row[i], row[i+1], row[i+2], row[i+3] = uint8(255*(x-r.Min.X)/r.Dx()), uint8(255*(y-r.Min.Y)/r.Dy()), 128, 255
		}
	}
}
