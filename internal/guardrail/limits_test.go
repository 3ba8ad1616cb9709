package guardrail_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// TestDeepResultsAreNotReadAgain counts what is allocated, which any walk of
// the rest of an object for each of its levels would show.
func TestDeepResultsAreNotReadAgain(t *testing.T) {
	set := denying(t, "forbidden")
	nested := func(key string) string { // in no place that is echoed
		return `{"choices":` + strings.Repeat(`{"`+key+`":"x","a":`, 500) + "1" + strings.Repeat("}", 500) + `}`
	}
	repeated := func(key string) string { return `{"output":[{"a":1` + strings.Repeat(`,"`+key+`":"x"`, 500) + `}]}` }
	for _, body := range []func(string) string{nested, repeated} {
		allocated := func(key string) float64 {
			data := []byte(body(key))
			return testing.AllocsPerRun(10, func() {
				if r, err := set.Answer(t.Context(), data); err != nil || r.Verdict != nil {
					t.Fatal(r, err)
				}
			})
		}
		if with, without := allocated("result"), allocated("resulx"); with > 1.1*without+10 {
			t.Errorf("%v allocations, %v by another name: %.60s", with, without, body("result"))
		}
	}
}

func TestABodyHasSoManyFinds(t *testing.T) {
	set := redacting(t, guardrail.Rule{Detector: guardrail.Words, Words: []string{"x"}}, 0)
	const most = 1 << 17
	for _, parts := range []int{1, 64} { // in one text, or in many
		part := `"` + strings.Repeat("x ", most/parts) + `",`
		body := `{"input":[` + strings.Repeat(part, parts) + `"%s"]}`
		var limit *guardrail.LimitError
		if _, err := set.Answer(t.Context(), fmt.Appendf(nil, body, "x")); !errors.As(err, &limit) || limit.What != "finds" {
			t.Errorf("one more than %d finds: %v", most, err)
		}
		if parts > 1 {
			continue
		}
		r, err := set.Answer(t.Context(), fmt.Appendf(nil, body, "y"))
		if err != nil || strings.Count(string(r.Body), "[REDACTED:words]") != most || cap(r.Body) > len(r.Body)+len(body) {
			t.Errorf("%d finds: %d bytes in %d, %v", most, len(r.Body), cap(r.Body), err)
		}
	}
	// Control characters become longer.
	if _, err := set.Answer(t.Context(), []byte(`{"input":"x `+strings.Repeat(`\b`, 3<<20)+`"}`)); err == nil {
		t.Error("a body grows without a bound")
	}
	event := []byte(`{"type":"response.completed","response":{"output":["` + strings.Repeat("x ", most+1) + `"]}}`)
	var limit *guardrail.LimitError
	if _, _, err := set.Stream(guardrail.Responses).Push(nil, event); !errors.As(err, &limit) {
		t.Errorf("in an event: %v", err)
	}
}

func TestTheKeysOfOpenObjectsAreBounded(t *testing.T) {
	set := denying(t, "forbidden")
	var wide, deep strings.Builder
	for i := range 1 << 17 {
		fmt.Fprintf(&wide, `"%d":0,`, i)
	}
	for i := range 400 { // the keys of all of them are held at once
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
		var limit *guardrail.LimitError
		if _, err := set.Request(t.Context(), []byte(body)); !errors.As(err, &limit) || limit.What != "keys" {
			t.Errorf("%s: %v", name, err)
		}
	}
	objects := strings.Repeat(`{`+wide.String()[:20000]+`"a":0},`, 100) // one after another
	if _, err := set.Request(t.Context(), []byte(`{"input":[`+strings.ReplaceAll(objects, `,""a"`, `,"a"`)+`0]}`)); err != nil {
		var limit *guardrail.LimitError
		if errors.As(err, &limit) {
			t.Error("what is closed counts")
		}
	}
}

func TestNothingIsReadForACallerWhoLeft(t *testing.T) {
	set := denying(t, "forbidden")
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, body := range []string{
		`{"input":"forbidden"}`, `{"input":["` + strings.Repeat(`x","`, 100) + `forbidden"]}`, `{"input":"` + strings.Repeat("a ", 1<<20) + `forbidden"}`,
	} {
		if r, err := set.Request(gone, []byte(body)); !errors.Is(err, context.Canceled) || r.Verdict != nil {
			t.Errorf("%.40s: %v, %v", body, r, err)
		}
		if r, err := set.Request(t.Context(), []byte(body)); err != nil || r.Verdict == nil {
			t.Errorf("after it %.40s: %v, %v", body, r, err)
		}
	}
}
