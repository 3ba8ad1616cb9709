package detect_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

var emailParts = []string{"a@b.de", "jane.doe@mail.example", "@", ".", "-", "+x", "_", "é", "東京", " ", "\n", "b.de", "a1", "x..", "@property\n", "xn--p1ai", strings.Repeat("long.", 120), "words without any sign ", "."}

// The scanner passes what comes before the name in an address. Package regexp does not.
func FuzzAddressesAreFoundBetweenOtherTexts(f *testing.F) {
	for seed := range uint64(1000) {
		f.Add(seed)
	}
	set, pattern := redacting(largestWindow, must(detect.Email())), regexp.MustCompile(detect.EmailPattern)
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 5))
		text := ""
		for range r.IntN(16) {
			text += emailParts[r.IntN(len(emailParts))]
		}
		want := pattern.ReplaceAllLiteralString(text, mark)
		if got := set.whole(text); got != want {
			t.Errorf("seed %d: %q: got %q, want %q", seed, text, got, want)
		}
		if got, _ := set.pieces(strings.SplitAfter(text, "d")); got != want {
			t.Errorf("seed %d: %q in pieces: got %q, want %q", seed, text, got, want)
		}
	})
}

// What may be the beginning of an address is held back, and nothing before it.
func TestOnlyTheLastWordIsHeldBeforeAnAt(t *testing.T) {
	set := redacting(usualWindow, must(detect.Email()))
	for text, want := range map[string]string{
		"see main.go": "main.go", "see a.b-c_d%e+f~": "a.b-c_d%e+f~", "a, ": "", "wait...": "", "a..b": "b", " .a": "a", ".": "", "é": "", "éa": "a", "a/b": "b",
		"to a@": "a@", "to a@b": "a@b", "to a@b.de": "a@b.de", "to a@b.de ": "", "to a@-": "-", "to a@b.de@c": "c", strings.Repeat("a.", 500): strings.Repeat("a.", usualWindow/2),
	} {
		if got := set.held(text); got != len(want) {
			t.Errorf("%d bytes of %.20q are held back, want %q", got, text, want)
		}
	}
}
