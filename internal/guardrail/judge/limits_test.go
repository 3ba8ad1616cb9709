package judge_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

func TestABodyHasSoManyFinds(t *testing.T) {
	set := redacting(t, judge.Rule{Detector: judge.Words, Words: []string{"x"}}, 0)
	const most = 1 << 17
	for _, parts := range []int{1, 64} { // in one text, or in many
		part := `"` + strings.Repeat("x ", most/parts) + `",`
		body := `{"input":[` + strings.Repeat(part, parts) + `"%s"]}`
		var limit *guardrail.LimitError
		if _, err := set.Answer(t.Context(), fmt.Appendf(nil, body, "x")); !errors.As(err, &limit) || limit.What != "matches" {
			t.Errorf("one more than %d matches: %v", most, err)
		}
		if parts > 1 {
			continue
		}
		r, err := set.Answer(t.Context(), fmt.Appendf(nil, body, "y"))
		if err != nil || strings.Count(string(r.Body), "[REDACTED:words]") != most || cap(r.Body) > len(r.Body)+len(body) {
			t.Errorf("%d matches: %d bytes in %d, %v", most, len(r.Body), cap(r.Body), err)
		}
	}
	// Control characters become longer.
	if _, err := set.Answer(t.Context(), []byte(`{"input":"x `+strings.Repeat(`\b`, 3<<20)+`"}`)); err == nil {
		t.Error("a body grows without a bound")
	}
	event := []byte(`{"type":"response.completed","response":{"output":["` + strings.Repeat("x ", most+1) + `"]}}`)
	var limit *guardrail.LimitError
	if _, _, err := newWire(set, guardrail.Responses).push("", string(event)); !errors.As(err, &limit) {
		t.Errorf("in an event: %v", err)
	}
}

func TestNothingIsReadAfterTheCallerHasDisconnected(t *testing.T) {
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
