package testcard

import (
	_ "embed"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math/bits"
	"time"
)

// The picture, in pixels. Nothing is drawn over its parts but the pointer's cross.
//
//	  0 ┌──────────────────────────┐
//	    │ eight bars               │
//	384 ├──────────────────────────┤
//	    │ ramp of sixteen steps    │
//	480 ├──────────────────────────┤
//	    │ five lines of text       │
//	640 ├──────────────────────────┤
//	    │ [square] →               │
//	720 └──────────────────────────┘
const (
	width, height                = 1280, 720
	rampTop, panelTop, roadTop   = 384, 480, 640
	bars, steps, textLines       = len(barColors), 16, 5
	lineLeft, lineTop, linePitch = 36, 488, 30
	side, pace                   = 48, 4 // of the square; how far it goes in a frame
	span                         = (width - side) / pace * pace
	armLength, armWidth          = 12, 1 // of the pointer's cross, beside its centre
)

var (
	screen    = image.Rect(0, 0, width, height)
	barColors = [...]uint32{ // 0xRRGGBB
		0xFFFFFF, 0xFFFF00, 0x00FFFF, 0x00FF00, 0xFF00FF, 0xFF0000, 0x0000FF, 0x000000,
	}
)

// moment is all that the picture depends on.
type moment struct {
	name   string
	frame  int64 // since the start
	second int64 // since 1970

	// What the person at the viewer did last.
	pointed bool // pointer and buttons are known
	pointer image.Point
	buttons uint8
	key     uint32 // keysym; 0 before the first
}

// square is where the square is: it goes to the end of the road and back.
func (m moment) square() image.Rectangle {
	x := int(m.frame * pace % (2 * span))
	x = min(x, 2*span-x)
	const top = roadTop + (height-roadTop-side)/2
	return image.Rect(x, top, x+side, top+side)
}

// cross is where the pointer's cross is, if anywhere.
func (m moment) cross() image.Rectangle {
	if !m.pointed {
		return image.Rectangle{}
	}
	return around(m.pointer, armLength+1, armLength+1).Intersect(screen)
}

func around(p image.Point, x, y int) image.Rectangle {
	return image.Rect(p.X-x, p.Y-y, p.X+x+1, p.Y+y+1)
}

func (m moment) lines() [textLines]string {
	pointer := "Pointer -"
	if m.pointed {
		pointer = fmt.Sprintf("Pointer %d,%d", m.pointer.X, m.pointer.Y)
		for held := m.buttons; held != 0; held &= held - 1 {
			pointer += fmt.Sprintf(" %d", bits.TrailingZeros8(held)+1)
		}
	}
	return [textLines]string{
		m.name,
		fmt.Sprintf("%dx%d, %d frames a second", width, height, framesPerSecond),
		time.Unix(m.second, 0).UTC().Format("2006-01-02 15:04:05 UTC"),
		pointer,
		"Key " + keyName(m.key),
	}
}

// lineArea is where line n is, of that many bytes.
func lineArea(n, length int) image.Rectangle {
	at := image.Pt(lineLeft, lineTop+n*linePitch)
	return image.Rect(0, 0, min(length*cellWidth, width-2*lineLeft), cellHeight).Add(at)
}

// areas are parts of the picture by what may change there. They may overlap.
type areas [4 + textLines]image.Rectangle

const (
	anything = iota
	squareMoved
	crossWas
	crossIs
	linesChanged // the first of textLines
)

// changes are the parts of the picture that look different at the two moments.
func changes(from, to moment) (a areas) {
	if from.frame != to.frame {
		a[squareMoved] = from.square().Union(to.square())
	}
	if from.cross() != to.cross() {
		a[crossWas], a[crossIs] = from.cross(), to.cross()
	}
	before, after := from.lines(), to.lines()
	for i := range before {
		if before[i] != after[i] {
			a[linesChanged+i] = lineArea(i, max(len(before[i]), len(after[i])))
		}
	}
	return a
}

// paint draws the part of the picture that img covers.
func (m moment) paint(img *image.RGBA) {
	for n, c := range barColors {
		fill(img, image.Rect(width*n/bars, 0, width*(n+1)/bars, rampTop), c)
	}
	for n := range steps {
		fill(img, image.Rect(width*n/steps, rampTop, width*(n+1)/steps, panelTop), uint32(n)*0x111111)
	}
	fill(img, image.Rect(0, panelTop, width, roadTop), 0x202020)
	for i, line := range m.lines() {
		text(img, lineArea(i, len(line)), line)
	}
	fill(img, image.Rect(0, roadTop, width, height), 0x404060)
	square := m.square()
	for y := square.Min.Y; y < square.Max.Y; y++ {
		for x := square.Min.X; x < square.Max.X; x++ {
			red, green := 255*(x-square.Min.X)/side, 255*(y-square.Min.Y)/side
			img.SetRGBA(x, y, color.RGBA{R: uint8(red), G: uint8(green), B: 128, A: 255})
		}
	}
	if m.pointed { // black around white is seen on each bar
		fill(img, around(m.pointer, armLength+1, armWidth+1), 0x000000)
		fill(img, around(m.pointer, armWidth+1, armLength+1), 0x000000)
		fill(img, around(m.pointer, armLength, armWidth), 0xFFFFFF)
		fill(img, around(m.pointer, armWidth, armLength), 0xFFFFFF)
	}
}

// fill draws r as far as it is in img.
func fill(img *image.RGBA, r image.Rectangle, c uint32) {
	if r.Overlaps(img.Rect) {
		solid := color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 255}
		draw.Draw(img, r, image.NewUniform(solid), image.Point{}, draw.Src)
	}
}

// A glyph is 5 by 7 dots in a cell of 6 by 8; a dot is a square of 3 by 3 pixels.
const (
	dotSize               = 3
	cellWidth, cellHeight = 6 * dotSize, 8 * dotSize
)

// font is the printable part of ASCII in its order, 16 glyphs side by side in lines of one length.
//
//go:embed font.txt
var font string

// text draws s from the left of its area to the last character that fits. Characters other than
// printable ASCII are shown as a question mark.
func text(img *image.RGBA, area image.Rectangle, s string) {
	if !area.Overlaps(img.Rect) {
		return
	}
	at := area.Min
	for _, r := range s {
		if r < ' ' || r > '~' {
			r = '?'
		}
		if at.X+cellWidth > area.Max.X {
			return
		}
		glyph := int(r - ' ')
		for y := range 7 {
			for x := range 5 {
				if font[(glyph/16*7+y)*16*6+glyph%16*6+x] == '#' {
					dot := image.Rect(0, 0, dotSize, dotSize).Add(image.Pt(x, y).Mul(dotSize))
					fill(img, dot.Add(at), 0xF0F0F0)
				}
			}
		}
		at.X += cellWidth
	}
}

// keyNames are the X11 names of the keys that a person tries first.
var keyNames = map[uint32]string{
	0: "-", ' ': "space", 0xff08: "BackSpace", 0xff09: "Tab", 0xff0d: "Return", 0xff1b: "Escape",
	0xff50: "Home", 0xff51: "Left", 0xff52: "Up", 0xff53: "Right", 0xff54: "Down",
	0xff55: "Page_Up", 0xff56: "Page_Down", 0xff57: "End", 0xff63: "Insert", 0xffff: "Delete",
	0xffe1: "Shift_L", 0xffe2: "Shift_R", 0xffe3: "Control_L", 0xffe4: "Control_R",
	0xffe9: "Alt_L", 0xffea: "Alt_R", 0xffeb: "Super_L", 0xffec: "Super_R",
}

// keyName is how the card shows a keysym: by a name, by its character if the font has it, else as a
// number. Keysyms of ASCII and Latin-1 are their own, others have their code point in the low bits.
func keyName(sym uint32) string {
	if name, ok := keyNames[sym]; ok {
		return name
	}
	if code := sym &^ 0x01000000; code > ' ' && code <= '~' {
		return string(rune(code))
	}
	return fmt.Sprintf("0x%x", sym)
}
