package detect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// detectors are one of each kind, and some.
var detectors = []*detect.Detector{
	must(detect.Email()),
	must(detect.Card()),
	must(detect.Secrets()),
	must(detect.Words([]string{"Project X", "ſtraße", "東京", "c++", "aa", "a"})),
	must(detect.Regexp(`a.*b`)),
	must(detect.Regexp(`\b[0-9]{3,}\b`)),
	must(detect.Regexp(`abc+x|ab`)),
}

var texts = []string{
	"",
	"write to jane.doe+x@mail.example.com, or to a@b.de.",
	"card 4111 1111 1111 1111 and 4111-1111-1111-1112, 378282246310005; 5555555555554444",
	"key AKIAIOSFODNN7XK4QZ2W and aws_secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCY3f8kQw2hTt'",
	"token: ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 they say",
	"the PROJECT \n x is in 東京都, Straße 3, C++ aaa a aa",
	"pro\u00adject ｘ, 東\ufe0f京, S\u0323traße c\u200b++, 4111–1111.1111\n1111 4111–1111−1111\u00a01111 41１１\u200b11111111 1111 a\u0301 á ⓐⓐ ﬁ",
	"abccccx abcc 123 4567 8 a b a b\na b",
	strings.Repeat("a", 40) + "b" + strings.Repeat("1", 40),
}

// cut cuts a text between characters. Each byte of cuts is the number of characters of the next
// piece.
func cut(text string, cuts []byte) (pieces []string) {
	for _, n := range cuts {
		at := 0
		for range n {
			_, size := utf8.DecodeRuneInString(text[at:])
			at += size
		}
		pieces, text = append(pieces, text[:at]), text[at:]
	}
	return append(pieces, text)
}

func FuzzCutsMakeNoDifference(f *testing.F) {
	for i := range texts {
		f.Add(texts[i], []byte{1, 1, 1, 2, 3, 0, 5, 8, 13, 21}, uint8(i), uint8(i))
		f.Add(texts[i]+texts[(i+1)%len(texts)], []byte{}, uint8(3*i), uint8(8))
	}
	f.Add("0@0.AA.AA0", []byte{}, uint8(0), uint8(0))
	sets := map[[3]int]ruleSet{}
	f.Fuzz(func(t *testing.T, text string, cuts []byte, pick, width uint8) {
		text = strings.ToValidUTF8(text, "?")
		first, second := int(pick)%len(detectors), int(pick)/len(detectors)%len(detectors)
		window := 4 + int(width)%40
		key := [3]int{first, second, window}
		if sets[key].rules == nil {
			sets[key] = redacting(window, detectors[first], detectors[second])
		}
		set := sets[key]
		var single []string
		for _, r := range text {
			single = append(single, string(r))
		}
		want, _ := set.pieces(single)
		if got, _ := set.pieces(cut(text, cuts)); got != want {
			t.Errorf("%q in pieces %v: %q, character by character: %q", text, cuts, got, want)
		}
		if utf8.RuneCountInString(text) < window {
			if whole := set.whole(text); want != whole {
				t.Errorf("%q in pieces: %q, as a whole: %q", text, want, whole)
			}
		}
	})
}
