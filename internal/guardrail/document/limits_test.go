package document_test

import (
	"strings"
	"testing"
)

// TestDeepResultsAreNotReadAgain counts allocations: they would grow if the rest of an object were
// read again at each of its levels.
func TestDeepResultsAreNotReadAgain(t *testing.T) {
	rules := denying("forbidden")
	nested := func(key string) string { // not in an echoed member
		return `{"choices":` + strings.Repeat(`{"`+key+`":"x","a":`, 500) + "1" + strings.Repeat("}", 500) + `}`
	}
	repeated := func(key string) string { return `{"output":[{"a":1` + strings.Repeat(`,"`+key+`":"x"`, 500) + `}]}` }
	for _, body := range []func(string) string{nested, repeated} {
		allocated := func(key string) float64 {
			data := body(key)
			return testing.AllocsPerRun(10, func() {
				if _, err := judge(t, rules, data, true); err != nil {
					t.Fatal(err)
				}
			})
		}
		if with, without := allocated("result"), allocated("resulx"); with > 1.1*without+10 {
			t.Errorf("%v allocations, %v by another name: %.60s", with, without, body("result"))
		}
	}
}
