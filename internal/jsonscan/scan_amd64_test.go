package jsonscan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func needVectors(t testing.TB) {
	t.Helper()
	if !vectors {
		t.Skip("this machine has no AVX2")
	}
}

// both checks the text of a string with and without vectors.
func both(t testing.TB, text []byte) {
	t.Helper()
	needVectors(t)
	end, f := textWith(true, text)
	wantEnd, want := textWith(false, text)
	if end != wantEnd || f != want {
		t.Fatalf("%q ends at %d, %q; without vectors at %d, %q", text, end, f, wantEnd, want)
	}
}

func textWith(use bool, data []byte) (int, fault) {
	defer func(was bool) { vectors = was }(vectors)
	vectors = use
	return text(data, 0)
}

// parts is what a string may hold and what breaks it.
var parts = []string{
	`"`, `\"`, `\\"`, `\\\"`, `\/\b\f\n\r\t`, `\x`, `\$`, `\`, "\\\x7f", "\\é", `\u12`, `\u0aF9`, `\u0aF9\uaf09`, `\u00g0`, `\u00/0`, `\u00:0`, `\u@000`, `\uG000`, "\\u`000", `\u\u00`, `\u12\n`, `\u12\b4`, `\u1\n00`, `\u12\\0`, `\u1\/20`, `\u1/20`, `\u12t0`, `\u123n`, `\ur123`, `\u1$23`, `\u0\u1`, `\u12"4`, "\\u12\n4", `\u12é`,
	"\x00", "\x1f", "\n", " ", "\x7f", "/u0aF\\\\u",
	"é", "\u07ff", "\u0800", "\ud7ff", "\ue000", "東京", "\U00010000", "\U0010ffff", "ééé", "é東😀",
	"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2é", "\xe0\x9f\xbf", "\xe0\xa0", "\xed\xa0\x80", "\xed\x9f", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe6\x9d", "東\x80", "é\x80", "😀\xbf",
}

// Each part lies at each place of a block, behind text that is scanned in blocks and before more.
func TestVectorsStopWhereTheSlowWayStops(t *testing.T) {
	for _, part := range parts {
		for _, fill := range []string{"plain text, ", `\n`, `\\`, `\u00e9`, "é", "東京", "😀"} {
			text := strings.Repeat(fill, (vectorsAfter+3*scanBlock)/len(fill)+1)
			for _, shift := range []int{0, 1, 3} {
				for n := range 2*scanBlock/len(fill) + 1 {
					before := text[:len(fill)*(vectorsAfter/len(fill)+1)] + strings.Repeat("x", shift) + text[:n*len(fill)]
					both(t, []byte(before+part))
					both(t, []byte(before+part+text+`"`))
				}
			}
		}
	}
}

func TestVectorsReadEveryPairOfBytes(t *testing.T) {
	text := []byte(strings.Repeat("a", vectorsAfter+2*scanBlock) + `"`)
	between := vectorsAfter + scanBlock - 1 // the last byte of one block, and the first of the next
	for first := range 256 {
		for second := range 256 {
			text[between], text[between+1] = byte(first), byte(second)
			both(t, text)
			if first >= 0x80 && second >= 0xc0 { // then the second may only lack its last bytes
				for n := range 3 {
					copy(text[between+2:], "\xa0\x80\x80"[:n+1])
					both(t, text)
				}
				copy(text[between+2:], "aaa")
			}
		}
		text[between-1], text[between+1] = '\\', 'a'
		both(t, text)
		text[between-1] = 'a'
	}
}

// A text is cut into pieces of scanMax, wherever a character or an escape is cut.
func TestVectorsReadLongTexts(t *testing.T) {
	for _, fill := range []string{"x", `\n`, `\\`, `\u00e9`, "é", "東", "😀"} {
		for shift := range 7 {
			text := strings.Repeat("x", shift) + strings.Repeat(fill, 3*scanMax/len(fill))
			both(t, []byte(text+`"`))
			both(t, []byte(text+"\x01"))
			if end := scan([]byte(text), 0); end < len(text)-2*scanBlock {
				t.Errorf("%q behind %d bytes: the scan ended at %d of %d", fill, shift, end, len(text))
			}
		}
	}
}

// The vectors check every valid text to its last block: no byte, at any place, sends it to the slow way.
func TestVectorsReadAllValidText(t *testing.T) {
	needVectors(t)
	var all strings.Builder
	for r := rune(' '); r <= unicode.MaxRune; r += 1 + r/256 {
		switch {
		case r == '"' || r == '\\':
			all.WriteByte('\\')
			fallthrough
		case utf8.ValidRune(r):
			all.WriteRune(r)
		}
		fmt.Fprintf(&all, `\u%04x\u%04X\%c`, uint16(r*31), uint16(r*77), `"\/bfnrt`[r%8])
	}
	for shift := range scanBlock {
		text := []byte(strings.Repeat("x", shift) + all.String())
		if end := scan(text, 0); end < len(text)-2*scanBlock {
			t.Fatalf("shifted by %d, the scan ended at %d of %d, before %q", shift, end, len(text), text[end:end+scanBlock])
		}
	}
}

func FuzzVectorsAreTheSlowWay(f *testing.F) {
	for _, part := range parts {
		f.Add([]byte(part), uint8(60), uint8(70))
	}
	f.Fuzz(func(t *testing.T, part []byte, before, after uint8) {
		random := rand.New(rand.NewPCG(uint64(before), uint64(after)))
		fill := []string{"x", `\n`, `\\`, `\u00e9`, "é", "東", "😀", string(part)}
		var text []byte
		for len(text) < vectorsAfter+int(before) {
			text = append(text, fill[random.IntN(len(fill)-1)]...)
		}
		text = append(text, part...)
		for range after {
			text = append(text, fill[random.IntN(len(fill))]...)
		}
		both(t, text)
		both(t, append(text, '"'))
		both(t, append(part, '"'))
	})
}
