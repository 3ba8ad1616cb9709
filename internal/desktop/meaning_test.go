package desktop

import "testing"

func TestEveryRefusalHasAMeaning(t *testing.T) {
	for code := range refusals {
		if m := code.Meaning(); m.Text == "" || m.Advice == "" {
			t.Errorf("%s has no meaning", code)
		}
	}
	if len(refusalMeanings) != len(refusals) {
		t.Errorf("%d meanings for %d refusals", len(refusalMeanings), len(refusals))
	}
}
