package activity

import (
	"errors"
	"strings"
	"testing"
)

// FuzzCursor checks that a cursor has one text and that everything else is ErrBadCursor.
func FuzzCursor(f *testing.F) {
	f.Add(Cursor{1777852800123456789, 7}.String())
	f.Add(Cursor{0, 1}.String())
	f.Add(Cursor{}.String())
	f.Add("")
	f.Add("AQAAAAAAAAAAAAAAAAAAA\nA")
	f.Add("AQ==")
	f.Add(strings.Repeat("A", 500))
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCursor(s)
		if err != nil {
			if !errors.Is(err, ErrBadCursor) {
				t.Fatal(err)
			}
			return
		}
		if c.Created < 0 || c.Seq < 1 || c.String() != s {
			t.Fatalf("%q became %+v, which is %q", s, c, c.String())
		}
	})
}

func TestCursorRoundTrip(t *testing.T) {
	for _, c := range []Cursor{{0, 1}, {1<<63 - 1, 1<<63 - 1}, {1, 0xff}} {
		s := c.String()
		if got, err := parseCursor(s); err != nil || got != c || strings.ContainsAny(s, "+/=&%") {
			t.Errorf("%q: %+v, %v", s, got, err)
		}
	}
}
