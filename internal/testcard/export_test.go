package testcard

import "image"

// LineArea is where a line of text is: name, size, clock, pointer, key.
func LineArea(n int) image.Rectangle { return lineArea(n, width) }

// KeyName is what the card shows for a keysym.
func KeyName(sym uint32) string { return keyName(sym) }

// BarColors are the colours of the bars, 0xRRGGBB.
func BarColors() []uint32 { return barColors[:] }

// Glyph is a character as the font has it: for each dot whether it is drawn.
func Glyph(r rune) (dots [7][5]bool) {
	i := int(r - ' ')
	for y := range dots {
		for x := range dots[y] {
			dots[y][x] = font[(i/16*7+y)*16*6+i%16*6+x] == '#'
		}
	}
	return dots
}
