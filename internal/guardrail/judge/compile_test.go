package judge_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

func TestCompileRefuses(t *testing.T) {
	email := []judge.Rule{{Action: judge.Deny, Detector: judge.Email}}
	rule := func(r judge.Rule) judge.Spec { return judge.Spec{Name: "g", Rules: []judge.Rule{r}} }
	hook := func(w judge.Webhook, on guardrail.Direction) judge.Spec {
		return judge.Spec{Name: "g", On: on, Webhook: &w}
	}
	tests := []struct {
		spec judge.Spec
		want string
	}{
		{judge.Spec{Name: "", Rules: email}, `guardrail name ""`},
		{judge.Spec{Name: "a b", Rules: email}, `guardrail name "a b"`},
		{judge.Spec{Name: "g"}, `guardrail "g": it has neither a rule nor a webhook`},
		{judge.Spec{Name: "g", On: 8, Rules: email}, "unknown direction 8"},
		{judge.Spec{Name: "g", Window: -1, Rules: email}, "window -1: want 1 to 8192 characters"},
		{judge.Spec{Name: "g", Window: 8193, Rules: email}, "window 8193: want 1 to 8192 characters"},
		{judge.Spec{Name: "g", Rules: make([]judge.Rule, 65)}, "it has 65 rules, the limit is 64"},
		{rule(judge.Rule{Action: "drop", Detector: judge.Email}), `rule 1 (email): unknown action "drop"; want deny or redact`},
		{rule(judge.Rule{Action: judge.Deny, Detector: "faces"}), "rule 1 (faces): unknown detector; want one of [card email regexp secrets words]"},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Regexp}), `"regexp" needs a pattern`},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Email, Pattern: "a"}), `"regexp" needs a pattern`},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Words}), `"words" needs a list`},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Card, Words: []string{"a"}}), `"words" needs a list`},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Regexp, Pattern: "("}), "missing closing )"},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Regexp, Pattern: `a*|\b`}), "the pattern matches an empty text"},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Regexp, Pattern: strings.Repeat("(?:[a-z]{999}x)", 11)}), "too large"},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Words, Words: []string{"ok", " "}}), "word 2 has 0 characters"},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Words, Words: []string{strings.Repeat("a", 129)}}), "word 1 has 129 characters"},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Words, Words: []string{"\xff"}}), "word 1 is not UTF-8"},
		{rule(judge.Rule{Action: judge.Deny, Detector: judge.Words, Words: make([]string, 10001)}), "10001 words"},
		{hook(judge.Webhook{URL: "example.com", Transport: http.DefaultTransport}, guardrail.Input), "the URL must have the form"},
		{hook(judge.Webhook{URL: "ftp://example.com", Transport: http.DefaultTransport}, guardrail.Input), "the URL must have the form"},
		{hook(judge.Webhook{URL: "https://example.com/\x00", Transport: http.DefaultTransport}, guardrail.Input), "the URL does not parse"},
		{hook(judge.Webhook{URL: "https://example.com/"}, guardrail.Input), "no transport is set"},
		{hook(judge.Webhook{URL: "https://example.com/", Transport: http.DefaultTransport, Timeout: -time.Second}, guardrail.Input), "timeout -1s"},
		{hook(judge.Webhook{URL: "https://example.com/", Transport: http.DefaultTransport}, guardrail.Both), "needs refuse_streams"},
	}
	for _, test := range tests {
		if _, err := judge.Compile(test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60v: %v, want %q", test.spec, err, test.want)
		}
	}
}

func TestDirectionsAreKeptApart(t *testing.T) {
	rules := []judge.Rule{{Action: judge.Redact, Detector: judge.Email}}
	in := compiled(t, judge.Spec{Name: "in", On: guardrail.Input, Rules: rules})
	out := compiled(t, judge.Spec{Name: "out", On: guardrail.Output, Rules: rules})
	body := []byte(`{"input":"a@b.de","output":"a@b.de"}`)
	for _, test := range []struct {
		set              guardrail.Set
		request, answer  bool
		name, wantStream string
	}{{in, true, false, "in", ""}, {out, false, true, "out", "stream"}} {
		if r, err := test.set.Request(t.Context(), body); err != nil || (r.Body != nil) != test.request {
			t.Errorf("%s: request %+v, %v", test.name, r, err)
		}
		if r, err := test.set.Answer(t.Context(), body); err != nil || (r.Body != nil) != test.answer {
			t.Errorf("%s: answer %+v, %v", test.name, r, err)
		}
		if s := test.set.Stream(guardrail.Chat); (s != nil) != test.answer {
			t.Errorf("%s: stream %v", test.name, s)
		}
	}
}

func TestTheFirstGuardrailIsNamed(t *testing.T) {
	deny := func(name string) judge.Spec {
		return judge.Spec{Name: name, Rules: []judge.Rule{{Action: judge.Deny, Detector: judge.Email}}}
	}
	set := compiled(t, deny("key"), deny("model"))
	r, err := set.Request(t.Context(), []byte(`{"input":"a@b.de"}`))
	if err != nil || r.Verdict == nil || *r.Verdict != (guardrail.Verdict{Guardrail: "key", Class: "email"}) {
		t.Errorf("%+v, %v", r.Verdict, err)
	}
}

func TestAnswerThatCannotBeReadIsRefused(t *testing.T) {
	for _, body := range []string{``, `[]`, `{"a":`, "{\"a\":\"\xff\"}", `"a@b.de"`} {
		if _, err := golden(t).Answer(t.Context(), []byte(body)); !errors.Is(err, judge.ErrMalformed) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
