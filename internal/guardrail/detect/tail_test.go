package detect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

func TestTheEndOfATextHas512Bytes(t *testing.T) {
	letters := strings.Repeat("abcdefghijklmnopqrstuvwxyz", 200)
	for _, sizes := range [][]int{{1}, {511}, {512}, {513}, {2000}, {1, 511}, {1, 512}, {512, 512, 1}, {511, 513}, {600, 1}, {1, 600}, {300, 300, 300, 300, 300}, {1000, 30, 1}} {
		tail, read := detect.Tail{}, ""
		for _, n := range sizes {
			piece := letters[len(read) : len(read)+n]
			tail.Add(piece)
			read += piece
			if got, want := tail.String(), read[max(0, len(read)-512):]; got != want {
				t.Errorf("pieces of %v: %d bytes %q, want %d", sizes, len(got), got, len(want))
			}
		}
	}
}

func TestTheEndOfATextBeginsWithAWholeCharacter(t *testing.T) {
	for _, c := range []string{"é", "東", "😀"} {
		for n := range 4 {
			tail := detect.Tail{}
			tail.Add(strings.Repeat(c, 300) + strings.Repeat("x", n))
			want := (512-n)/len(c)*len(c) + n
			if got := tail.String(); !utf8.ValidString(got) || len(got) != want {
				t.Errorf("%s and %d letters: %d bytes, want %d: %.10q", c, n, len(got), want, got)
			}
		}
	}
}
