package testcard

import "image"

const (
	// tile is the side, in pixels, of the squares that are checked for solid areas; it divides the
	// default card's bars, steps and rows, and is a whole number of JPEG's blocks.
	tile = 32
	// stripPixels bounds what is painted at a time, to 256 KiB: a row of tiles of the widest card.
	stripPixels = MaxSide * tile
	// smallPixels is up to where cutting a rectangle into tiles costs more than it saves.
	smallPixels = 4096
	// few colours make a drawing, more a photograph.
	few = 8
)

// piece is one rectangle of an update.
type piece struct {
	area     image.Rectangle
	encoding int32
	control  byte // of Tight
}

// plan adds the Tight rectangles of r: runs of tiles that have the same control. Of one screen
// there are fewer than 1<<16, what an update can count, for there are 4,096 tiles of it.
func (e *encoder) plan(r image.Rectangle, m moment) {
	if r.Dx()*r.Dy() <= smallPixels {
		e.pieces = append(e.pieces, piece{r, encodingTight, e.control(e.canvas(r, m), r)})
		return
	}
	for y := r.Min.Y; y < r.Max.Y; {
		strip := image.Rect(r.Min.X, y, r.Max.X, min(r.Max.Y, y-y%tile+tile))
		e.planStrip(strip, e.canvas(strip, m))
		y = strip.Max.Y
	}
}

func (e *encoder) planStrip(strip image.Rectangle, on canvas) {
	run := piece{encoding: encodingTight}
	for x := strip.Min.X; x < strip.Max.X; {
		next := image.Rect(x, strip.Min.Y, min(strip.Max.X, x-x%tile+tile), strip.Max.Y)
		x = next.Max.X
		control := e.control(on, next)
		joined := image.Rectangle{Min: run.area.Min, Max: next.Max}
		switch {
		case run.area.Empty():
			joined = next
		case control != run.control || control == tightFill && on.colours(joined) > 1:
			e.pieces = append(e.pieces, run)
			joined = next
		}
		run.area, run.control = joined, control
	}
	e.pieces = append(e.pieces, run)
}

// control chooses for r: a fill for one colour, JPEG for a photograph if the viewer takes it, and
// what loses nothing for drawings and texts, which are smaller so and sharp. With 8 bits a pixel,
// Tight has no JPEG.
func (e *encoder) control(on canvas, r image.Rectangle) byte {
	n := on.colours(r)
	switch {
	case n == 1:
		return tightFill
	case n > few && e.encoding.quality != noJPEG && e.encoding.format.bitsPerPixel != 8:
		return tightJPEG
	}
	return tightBasic
}
