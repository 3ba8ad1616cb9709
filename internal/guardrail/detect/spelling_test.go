package detect_test

import (
	"testing"
	"unicode"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// ignorable reports whether a character has the property Default_Ignorable_Code_Point, as
// DerivedCoreProperties.txt of Unicode derives it.
func ignorable(r rune) bool {
	switch {
	case unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark), 0xfff9 <= r && r <= 0xfffb, 0x13430 <= r && r <= 0x1343f:
		return false
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector)
}

func TestInvisibleCharactersHideNothing(t *testing.T) {
	words := redacting(usualWindow, must(detect.Words([]string{"forbidden"})))
	cards := redacting(usualWindow, must(detect.Card()))
	for r := rune(0x80); r <= 0xe1001; r++ {
		if r == 0x20000 {
			r = 0xdfffe // there are none between
		}
		inside := ignorable(r-1) && ignorable(r+1) && r > 0xe0000 // a block of 4,096
		if inside || !ignorable(r-1) && !ignorable(r) && !ignorable(r+1) {
			continue
		}
		if got := words.whole("for"+string(r)+"bidden") == mark; got != ignorable(r) {
			t.Errorf("a word around %U is found: %t", r, got)
		}
		if got := cards.whole("41"+string(r)+"11111111111111") == mark; got != ignorable(r) {
			t.Errorf("a card number around %U is found: %t", r, got)
		}
		if got := redacting(usualWindow, must(detect.Words([]string{"hid" + string(r) + "den"}))).whole("hidden") == mark; got != ignorable(r) {
			t.Errorf("a word with %U is found without it: %t", r, got)
		}
	}
}

// The first and the last characters of the blocks with decompositions.
func TestCharactersAreFoundByTheirDecomposition(t *testing.T) {
	for word, text := range map[string]string{
		"a": "\u00aa", "gal": "\u33ff", "株式会社": "\u337f", "豈": "\uf900", "i": "\uff49", "à": "a\u0300", "a\u0300": "à", "㌀": "アパート",
	} {
		if got := redacting(usualWindow, must(detect.Words([]string{word}))).whole(text); got != mark {
			t.Errorf("%s in %q: got %q", word, text, got)
		}
	}
	// The decomposition of these begins with a blank: they are words of their own.
	finds(t, must(detect.Words([]string{"\u00b4", "x\u00a0y"})), "⟦\u00b4⟧", " \u0301", "⟦x y⟧", "⟦x\u00a0y⟧")
}

func TestFullWidthDigitsAreDigits(t *testing.T) {
	finds(t, must(detect.Card()), "⟦３０５６９３０９０２５９０４⟧", "⟦4111１１１１1111１１１１⟧", "４１１１１１１１１１１１１１１２")
}
