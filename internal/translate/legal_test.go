package translate_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestNamesAndIDsBecomeLegal(t *testing.T) {
	long := strings.Repeat("x", 65)
	for text, want := range map[string]string{
		"Call_1-a": "Call_1-a",
		long[:64]:  long[:64],
		"call:1":   "call_1_0af63155",
		"@[`{":     "_____804abe0b",
		"":         "",
	} {
		if got := translate.Legal(text, 8); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	a, b := translate.Legal(long, 12), translate.Legal(long+"y", 12)
	if len(a) != 64 || len(b) != 64 || a == b || a[:52] != long[:51]+"_" {
		t.Errorf("%q, %q", a, b)
	}
}
