package desktop

import (
	"strings"
	"testing"
)

// A viewer's window shows the text as it is.
func TestEveryRefusalHasAStatusAndAShortASCIIText(t *testing.T) {
	for code := range refusals {
		r := NewRefusal(code)
		if r.Code != code || r.Status() < 400 || r.Text == "" || len(r.Text) > 160 ||
			strings.ContainsFunc(r.Text, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Errorf("%s: %d %q", code, r.Status(), r.Text)
		}
	}
}
