package jsonscan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

func outline(pieces ...string) string {
	var o jsonscan.Outline
	for _, p := range pieces {
		o.Add([]byte(p))
	}
	return string(o.Text())
}

func TestAnOutlineHasNoLongStrings(t *testing.T) {
	kept, long := strings.Repeat("a", 4<<10), strings.Repeat("a", 4<<10+1)
	for text, want := range map[string]string{
		`{"a":"b","c":[1,"` + kept + `"]}`:                           `{"a":"b","c":[1,"` + kept + `"]}`,
		`{"a":"` + long + `","c":{"d":"` + long + long + `"},"e":1}`: `{"a":"","c":{"d":""},"e":1}`,
		`{"a":"` + kept[1:] + `\""}`:                                 `{"a":""}`, // an escape is two bytes
		`{"a":"\"` + long + `\\","b":"\\"}`:                          `{"a":"","b":"\\"}`,
		`[` + strings.Repeat("1,", jsonscan.MaxOutline/2) + `1]`:     ``,
	} {
		if got := outline(text); got != want {
			t.Errorf("%.60s… has %.60s…, want %.60s…", text, got, want)
		}
	}
}

// FuzzOutline holds that the outline does not depend on where the text is cut, and that it is the text
// if that has no long strings.
func FuzzOutline(f *testing.F) {
	f.Add(`{"a":"b\"\\","c":"`+strings.Repeat(`\u0061`, 700)+`"}`, 5, 9)
	f.Add(`"`+strings.Repeat("x", 5000), 4097, 4098)
	f.Fuzz(func(t *testing.T, text string, a, b int) {
		a, b = min(max(a, 0), len(text)), min(max(b, 0), len(text))
		a, b = min(a, b), max(a, b)
		whole := outline(text)
		if got := outline(text[:a], text[a:b], text[b:]); got != whole {
			t.Fatalf("%q cut at %d and %d: %q, want %q", text, a, b, got, whole)
		}
		if len(text) <= 4<<10 && whole != text {
			t.Fatalf("%q became %q", text, whole)
		}
		if _, err := jsonscan.Lenient([]byte(text), nil); err == nil && len(text) < jsonscan.MaxOutline {
			if _, err := jsonscan.Lenient(bytes.TrimSpace([]byte(whole)), nil); err != nil {
				t.Fatalf("%q became %q: %v", text, whole, err)
			}
		}
	})
}
