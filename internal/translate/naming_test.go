package translate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestNamesBecomeLegal(t *testing.T) {
	long := strings.Repeat("x", 65)
	for text, want := range map[string]string{
		"Call_1-a": "Call_1-a",
		long[:64]:  long[:64],
		"call:1":   "call_1_0af63155",
		"@[`{":     "_____804abe0b",
		"":         "_e3b0c442",
	} {
		if got := (translate.Naming{Most: 64}).Legal(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if a, b := (translate.Naming{Most: 64}).Legal(long), (translate.Naming{Most: 64}).Legal(long+"y"); len(a) != 64 || len(b) != 64 || a == b {
		t.Errorf("%q, %q", a, b)
	}
	google := translate.Naming{Most: 128, Extra: ".:", First: true}
	for _, name := range []string{"a.b:c-1", "_x"} {
		if got := google.Legal(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
	if got := google.Legal("1st"); got[0] != '_' {
		t.Error(got)
	}
}
