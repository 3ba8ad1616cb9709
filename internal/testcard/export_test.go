package testcard

import "image"

const (
	MaxRegion = maxRegion
	FirstRune = firstGlyph
	LastRune  = lastGlyph
)

// Glyph is the rows of a character.
func Glyph(r rune) [7]uint8 { return glyphs[r-firstGlyph] }

// KeyName is what the card shows for a keysym.
func KeyName(sym uint32) string { return keyName(sym) }

// Add and Divide are those of region.go.
func Add(region []image.Rectangle, r image.Rectangle) []image.Rectangle { return add(region, r) }

func Divide(region []image.Rectangle, area image.Rectangle) (within, left []image.Rectangle) {
	return divide(region, area)
}
