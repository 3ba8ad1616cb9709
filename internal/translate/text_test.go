package translate_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestOnlyATextHasAnInside(t *testing.T) {
	for value, want := range map[string]string{`"a\n"`: `a\n`, `""`: "", `7`: "", `null`: "", ``: "", `["a"]`: ""} {
		if text, ok := translate.Unquoted([]byte(value)); string(text) != want || ok != (want != "") {
			t.Errorf("%s: %s, %v", value, text, ok)
		}
	}
}

func TestHalvesOfACharacterAreJoined(t *testing.T) {
	for _, c := range []struct {
		pieces, want []string
		rest         string
	}{
		{[]string{`a\ud83d`, `\ude00b`}, []string{"a", `\ud83d\ude00b`}, ""},
		{[]string{`\uD83D`, "", `\uDE00`}, []string{"", "", `\uD83D\uDE00`}, ""},
		{[]string{`a\ud83d`}, []string{"a"}, `\ufffd`},
		{[]string{`\\ud83d`, `\\\ud83d`}, []string{`\\ud83d`, `\\`}, `\ufffd`}, // an escaped backslash begins no escape
		{[]string{`\ude00`, `\u0041`, `ud83d`, `\ud83`}, []string{`\ude00`, `\u0041`, `ud83d`, `\ud83`}, ""},
	} {
		var s translate.Surrogates
		for i, piece := range c.pieces {
			if got := s.Next([]byte(piece)); string(got) != c.want[i] {
				t.Errorf("%q: piece %d is %s", c.pieces, i, got)
			}
		}
		if rest := s.Rest(); string(rest) != c.rest || s.Rest() != nil {
			t.Errorf("%q: rest %s", c.pieces, rest)
		}
	}
}
