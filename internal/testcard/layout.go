package testcard

import (
	"image"
	"image/color"
)

// Colours of the card, 0xRRGGBB. Each fills areas that a viewer shows exactly: bars, steps and
// grounds are solid.
const (
	White   = 0xFFFFFF
	Yellow  = 0xFFFF00
	Cyan    = 0x00FFFF
	Green   = 0x00FF00
	Magenta = 0xFF00FF
	Red     = 0xFF0000
	Blue    = 0x0000FF
	Black   = 0x000000

	Ground    = 0x202020 // behind the texts
	Ink       = 0xF0F0F0 // of the texts
	RoadColor = 0x404060 // behind the square that moves
)

const (
	Bars  = 8  // colour bars, from white at the left to black at the right
	Steps = 16 // steps of the grey ramp, from black at the left to white at the right
)

var barColors = [Bars]uint32{White, Yellow, Cyan, Green, Magenta, Red, Blue, Black}

const stepGrey = 0x111111

// BarColor is the colour of the n-th bar.
func BarColor(n int) color.RGBA {
	return rgba(barColors[n])
}

// StepColor is the grey of the n-th step of the ramp.
func StepColor(n int) color.RGBA {
	return rgba(stepGrey * uint32(n))
}

func rgba(c uint32) color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
}

// Layout says where things are on a card. Nothing else is drawn over them but the pointer's cross.
type Layout struct {
	Bars [Bars]image.Rectangle
	Ramp [Steps]image.Rectangle

	Panel                           image.Rectangle // the ground of the five lines of text
	Name, Size, Clock, Pointer, Key image.Rectangle

	Road   image.Rectangle // where the square moves
	Square int             // its side, in pixels
}

const textLines = 5

// LayoutOf returns the layout of a card of this size in pixels:
//
//	 0   ┌──────────────────────────┐
//	     │ eight bars               │
//	8/15 ├──────────────────────────┤
//	     │ ramp of sixteen steps    │
//	2/3  ├──────────────────────────┤
//	     │ name                     │
//	     │ size and rate            │
//	     │ clock                    │
//	     │ pointer                  │
//	     │ key                      │
//	8/9  ├──────────────────────────┤
//	     │ [square] →               │
//	 1   └──────────────────────────┘
func LayoutOf(width, height int) Layout {
	var l Layout
	row := func(from, to, n, of int) image.Rectangle {
		return image.Rect(width*n/of, from, width*(n+1)/of, to)
	}
	ramp, panel, road := height*8/15, height*2/3, height*8/9
	for n := range l.Bars {
		l.Bars[n] = row(0, ramp, n, Bars)
	}
	for n := range l.Ramp {
		l.Ramp[n] = row(ramp, panel, n, Steps)
	}
	l.Panel = row(panel, road, 0, 1)
	scale := textScale(width, height)
	pitch := (cellHeight + 2) * scale
	line := image.Rect(2*cellWidth*scale, 0, width-2*cellWidth*scale, cellHeight*scale)
	line = line.Add(image.Pt(0, panel+(road-panel-textLines*pitch)/2+scale))
	for _, field := range []*image.Rectangle{&l.Name, &l.Size, &l.Clock, &l.Pointer, &l.Key} {
		*field = line
		line = line.Add(image.Pt(0, pitch))
	}
	l.Road = row(road, height, 0, 1)
	l.Square = l.Road.Dy() * 3 / 5
	return l
}

// textScale is the side of a dot of the font, so that a line has more than 40 characters and five
// lines fit.
func textScale(width, height int) int {
	return min(width/MinWidth, height/MinHeight)
}
