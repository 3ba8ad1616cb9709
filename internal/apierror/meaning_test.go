package apierror

import (
	"strings"
	"testing"
)

func TestEveryCodeHasAMeaning(t *testing.T) {
	for _, code := range Codes() {
		m := code.Meaning()
		for _, text := range []string{m.Text, m.Advice} {
			if !strings.HasSuffix(text, ".") || strings.Contains(text, "|") {
				t.Errorf("%s: %q is no sentence for a row of a table", code, text)
			}
		}
	}
	if len(meanings) != len(Codes()) {
		t.Errorf("%d meanings for %d codes", len(meanings), len(Codes()))
	}
	if Codes()[0].Status() != 400 || ClientGone.Status() != 499 {
		t.Error("the codes are not ordered by status")
	}
}
