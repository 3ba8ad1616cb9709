package detect

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Words are compared by their spelling: each character decomposed by Unicode's form NFKD (UAX #15),
// and without invisible characters. So a letter with an accent may be one character or two, and
// full-width and mathematical letters are the same as plain ones.

// mayDecompose is a fast test. It is false for most characters that are their own spelling: ASCII,
// Han and Hangul.
func mayDecompose(r rune) bool { return r >= 0xa0 && (r < 0x3400 || r >= 0xf900) }

// spelling returns the decomposition of the first character of a text, nil if it has none.
func spelling(text string) []byte {
	parts := norm.NFKD.PropertiesString(text).Decomposition()
	if len(parts) > 0 && parts[0] == ' ' { // an accent without a letter, or a blank
		return nil
	}
	return parts
}

// spell returns the spelling of a text.
func spell(text string) (out []rune) {
	for i, r := range text {
		if parts := spelling(text[i:]); mayDecompose(r) && parts != nil {
			out = append(out, []rune(string(parts))...)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// ignorables are the characters with Unicode's property Default_Ignorable_Code_Point. They are
// invisible and may be put between any others.
var ignorables = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0xad, Hi: 0xad, Stride: 1},
		{Lo: 0x34f, Hi: 0x34f, Stride: 1},
		{Lo: 0x61c, Hi: 0x61c, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1},
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1},
		{Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1},
		{Lo: 0x202a, Hi: 0x202e, Stride: 1},
		{Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1},
		{Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
		{Lo: 0xfff0, Hi: 0xfff8, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1},
		{Lo: 0x1d173, Hi: 0x1d17a, Stride: 1},
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
	},
	LatinOffset: 1,
}

// mayBeHidden is a fast test. It is false for most characters that are neither ignorable nor a
// full-width form of an ASCII character.
func mayBeHidden(r rune) bool {
	return r >= 0xad && (r < 0x2070 || r >= 0xfe00 || r == 0x3164)
}
