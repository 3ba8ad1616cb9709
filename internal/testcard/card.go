package testcard

import (
	"fmt"
	"image"
	"math/bits"
	"time"
)

// card is the picture: its content at a moment, and the area that changes from one moment to
// another. It keeps no pixels.
type card struct {
	Layout
	options Options
	bounds  image.Rectangle
	scale   int // of the texts

	step, span int // of the square, in pixels: a frame, and from one end of the road to the other
}

func newCard(o Options) *card {
	c := &card{
		Layout:  LayoutOf(o.Width, o.Height),
		options: o,
		bounds:  image.Rect(0, 0, o.Width, o.Height),
		scale:   textScale(o.Width, o.Height),
		step:    o.Width / MinWidth,
	}
	c.span = (c.Road.Dx() - c.Square) / c.step * c.step // a whole number of steps: no frame is like the one before it
	return c
}

// moment is all that the picture depends on.
type moment struct {
	frame int64 // since the start
	clock int64 // seconds since 1970
	input
}

// input is what the person at the viewer did last.
type input struct {
	pointed bool // pointer and buttons are known
	pointer image.Point
	buttons uint8
	key     uint32 // keysym; 0 before the first
}

const (
	armLength = 12 // of the pointer's cross, in pixels
	armWidth  = 3
)

// cross is where the pointer's cross is, if anywhere.
func (c *card) cross(m moment) image.Rectangle {
	if !m.pointed {
		return image.Rectangle{}
	}
	return around(m.pointer, armLength+1, armLength+1).Intersect(c.bounds)
}

func around(p image.Point, x, y int) image.Rectangle {
	return image.Rect(p.X-x, p.Y-y, p.X+x+1, p.Y+y+1)
}

// square is where the square is: it goes to the end of the road and back.
func (c *card) square(m moment) image.Rectangle {
	x := int(m.frame * int64(c.step) % int64(2*c.span))
	if x > c.span {
		x = 2*c.span - x
	}
	top := c.Road.Min.Y + (c.Road.Dy()-c.Square)/2
	return image.Rect(x, top, x+c.Square, top+c.Square)
}

func (c *card) lines(m moment) [textLines]string {
	pointer := "Pointer -"
	if m.pointed {
		pointer = fmt.Sprintf("Pointer %d,%d", m.pointer.X, m.pointer.Y)
		for held := m.buttons; held != 0; held &= held - 1 {
			pointer += fmt.Sprintf(" %d", bits.TrailingZeros8(held)+1)
		}
	}
	return [textLines]string{
		c.options.Name,
		fmt.Sprintf("%dx%d, %d frames a second", c.options.Width, c.options.Height, c.options.FPS),
		time.Unix(m.clock, 0).UTC().Format("2006-01-02 15:04:05 UTC"),
		pointer,
		"Key " + keyName(m.key),
	}
}

func (c *card) fields() [textLines]image.Rectangle {
	return [textLines]image.Rectangle{c.Name, c.Size, c.Clock, c.Pointer, c.Key}
}

// changes adds to the region what looks different at the two moments.
func (c *card) changes(region []image.Rectangle, from, to moment) []image.Rectangle {
	region = replace(region, c.square(from), c.square(to))
	if from.input == to.input && from.clock == to.clock {
		return region
	}
	if from.pointer != to.pointer || from.pointed != to.pointed {
		region = replace(region, c.cross(from), c.cross(to))
	}
	before, after := c.lines(from), c.lines(to)
	for i, field := range c.fields() {
		if before[i] != after[i] {
			field.Max.X = min(field.Max.X, field.Min.X+max(len(before[i]), len(after[i]))*cellWidth*c.scale)
			region = add(region, field)
		}
	}
	return region
}

// replace adds to the region a thing that moved: its new place, and what it uncovers apart from
// that, because a solid area sent as such has no trace of a lossy neighbour.
func replace(region []image.Rectangle, from, to image.Rectangle) []image.Rectangle {
	if from == to {
		return region
	}
	for _, uncovered := range subtract(from, to) {
		region = add(region, uncovered)
	}
	return add(region, to)
}
