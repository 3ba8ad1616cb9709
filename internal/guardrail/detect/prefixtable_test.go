package detect_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

// A table finds and holds back exactly what the machine does, wherever a text is cut.
func FuzzATableReadsLikeTheMachine(f *testing.F) {
	tabled := []string{detect.EmailPattern, `a+`, `a+?b`, `abc+x|ab`, `a.*b`, `[^a]b`, `(a|ab)(c|bcd)`, `a{2,3}`, `é+`, `aXXb|a`, `(?i)k+s`, `EMP-\d{6}`}
	for i := range tabled {
		for _, text := range append(texts, "see main.go, a.b.c@d.e.org. x@y a@b@c.de..a@b.cc", "abccx ab abb", "EMP-1EMP-123456 KſKs éé aaXXb") {
			f.Add(i, text, []byte{1, 1, 2, 3, 1, 7, 0, 30})
		}
	}
	f.Fuzz(func(t *testing.T, n int, text string, cuts []byte) {
		if n < 0 || n >= len(tabled) {
			return
		}
		with, without := detect.WithTable(tabled[n])
		if with == nil {
			t.Fatalf("%s has no table", tabled[n])
		}
		for _, piece := range cut(strings.ToValidUTF8(text, "?"), cuts) {
			hold, hits := with(piece)
			if wantHold, want := without(piece); hold != wantHold || !slices.Equal(hits, want) {
				t.Fatalf("%s after %q of %q: got %d %v, want %d %v", tabled[n], piece, text, hold, hits, wantHold, want)
			}
		}
	})
}
