//go:build !race

// A pool drops what it is given by chance under the race detector.

package judge_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// The matcher of a body is used for the next one. A new one allocates for each rule.
func TestTheNextBodyAllocatesNoMatcher(t *testing.T) {
	rules := make([]judge.Rule, 64)
	for i := range rules {
		rules[i] = judge.Rule{Action: judge.Redact, Detector: judge.Email}
	}
	set, body := compiled(t, judge.Spec{Name: "g", Rules: rules}), []byte(`{"input":"x"}`)
	if n := testing.AllocsPerRun(100, func() { _, _ = set.Request(t.Context(), body) }); n >= 64 {
		t.Errorf("%v allocations for each body", n)
	}
}

// A usual whole answer has its probabilities as null, and only keys that are known.
func TestACleanAnswerIsJudgedWithoutAllocations(t *testing.T) {
	set, body := all(t), []byte(usualAnswer)
	if n := testing.AllocsPerRun(100, func() { _, _ = set.Answer(t.Context(), body) }); n > 0 {
		t.Errorf("%v allocations for each answer", n)
	}
}
