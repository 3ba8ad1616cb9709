package document_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
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

func TestTheKeysOfOpenObjectsAreBounded(t *testing.T) {
	rules := denying("forbidden")
	var wide, deep strings.Builder
	for i := range 1 << 17 {
		fmt.Fprintf(&wide, `"%d":0,`, i)
	}
	for i := range 400 { // the keys of all of them are kept at once
		deep.WriteString(`{`)
		for k := range 400 {
			fmt.Fprintf(&deep, `"%d-%d":0,`, i, k)
		}
		deep.WriteString(`"a":`)
	}
	long := `"é` + strings.Repeat("k", 9<<20) + `":0,`
	for name, body := range map[string]string{
		"wide": `{"input":{` + wide.String() + `"a":0}}`,
		"deep": `{"input":` + deep.String() + `0` + strings.Repeat("}", 400) + `}`,
		"long": `{"input":{` + long + `"a":0}}`,
	} {
		var limit *document.LimitError
		if _, err := judge(t, rules, body, false); !errors.As(err, &limit) || limit.What != "keys" {
			t.Errorf("%s: %v", name, err)
		}
	}
	objects := strings.Repeat(`{`+wide.String()[:20000]+`"a":0},`, 100) // one after another
	if _, err := judge(t, rules, `{"input":[`+strings.ReplaceAll(objects, `,""a"`, `,"a"`)+`0]}`, false); err != nil {
		var limit *document.LimitError
		if errors.As(err, &limit) {
			t.Error("what is closed counts")
		}
	}
}
