package translate

import (
	"strings"
	"testing"
)

func cutAt(text string, stops []string, size int) (out, found string) {
	s := Stops{Sequences: stops}
	for text != "" && found == "" {
		n := min(size, len(text))
		var piece string
		piece, found = s.Next(text[:n])
		out, text = out+piece, text[n:]
	}
	return out + s.Rest(), found
}

func TestTheStopSequenceThatIsCompleteFirstEndsAText(t *testing.T) {
	for _, c := range []struct {
		text        string
		stops       []string
		want, found string
	}{
		{"one END two", []string{"END"}, "one ", "END"},
		{"aab", []string{"ab"}, "a", "ab"},
		{"abababc", []string{"ababc"}, "ab", "ababc"},
		{"xabcd", []string{"abcd", "bc"}, "xa", "bc"},
		{"xabc", []string{"bc", "abc"}, "x", "abc"},
		{"grün→", []string{"→"}, "grün", "→"},
		{"END", []string{"END"}, "", "END"},
		{"an EN", []string{"END"}, "an EN", ""},
	} {
		for size := 1; size <= len(c.text); size++ {
			if out, found := cutAt(c.text, c.stops, size); out != c.want || found != c.found {
				t.Errorf("%q in pieces of %d: %q, %q", c.text, size, out, found)
			}
		}
	}
}

func FuzzStops(f *testing.F) {
	f.Add("aababcab", "abc", "ba", 1)
	f.Fuzz(func(t *testing.T, text, a, b string, size int) {
		if a == "" || b == "" || len(a) > maxStop || len(b) > maxStop || size < 1 {
			return
		}
		stops := []string{a, b}
		want, stop := cutAt(text, stops, max(1, len(text)))
		if out, found := cutAt(text, stops, size); out != want || found != stop {
			t.Fatalf("in one piece %q, %q; in pieces of %d %q, %q", want, stop, size, out, found)
		}
		if strings.Contains(want, a) || strings.Contains(want, b) || !strings.HasPrefix(text, want+stop) {
			t.Fatalf("%q became %q, %q", text, want, stop)
		}
	})
}
