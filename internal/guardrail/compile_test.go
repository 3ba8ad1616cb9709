package guardrail_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

func TestCompileRefuses(t *testing.T) {
	email := []guardrail.Rule{{Action: guardrail.Deny, Detector: guardrail.Email}}
	rule := func(r guardrail.Rule) guardrail.Spec { return guardrail.Spec{Name: "g", Rules: []guardrail.Rule{r}} }
	hook := func(w guardrail.Webhook, on guardrail.Direction) guardrail.Spec {
		return guardrail.Spec{Name: "g", On: on, Webhook: &w}
	}
	tests := []struct {
		spec guardrail.Spec
		want string
	}{
		{guardrail.Spec{Name: "", Rules: email}, `guardrail name ""`},
		{guardrail.Spec{Name: "a b", Rules: email}, `guardrail name "a b"`},
		{guardrail.Spec{Name: "g"}, `guardrail "g": it has neither a rule nor a webhook`},
		{guardrail.Spec{Name: "g", On: 8, Rules: email}, "unknown direction 8"},
		{guardrail.Spec{Name: "g", Window: -1, Rules: email}, "window -1: want 1 to 8192 characters"},
		{guardrail.Spec{Name: "g", Window: 8193, Rules: email}, "window 8193: want 1 to 8192 characters"},
		{guardrail.Spec{Name: "g", Rules: make([]guardrail.Rule, 65)}, "it has 65 rules, the limit is 64"},
		{rule(guardrail.Rule{Action: "drop", Detector: guardrail.Email}), `rule 1 (email): unknown action "drop"; want deny or redact`},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: "faces"}), "rule 1 (faces): unknown detector; want one of [card email regexp secrets words]"},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Regexp}), `"regexp" needs a pattern`},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Email, Pattern: "a"}), `"regexp" needs a pattern`},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Words}), `"words" needs a list`},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Card, Words: []string{"a"}}), `"words" needs a list`},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Regexp, Pattern: "("}), "missing closing )"},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Regexp, Pattern: `a*|\b`}), "the pattern matches an empty text"},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Regexp, Pattern: strings.Repeat("(?:[a-z]{999}x)", 11)}), "too large"},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Words, Words: []string{"ok", " "}}), "word 2 has 0 characters"},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Words, Words: []string{strings.Repeat("a", 129)}}), "word 1 has 129 characters"},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Words, Words: []string{"\xff"}}), "word 1 is not UTF-8"},
		{rule(guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Words, Words: make([]string, 10001)}), "10001 words"},
		{hook(guardrail.Webhook{URL: "example.com", Transport: http.DefaultTransport}, guardrail.Input), "the URL must have the form"},
		{hook(guardrail.Webhook{URL: "ftp://example.com", Transport: http.DefaultTransport}, guardrail.Input), "the URL must have the form"},
		{hook(guardrail.Webhook{URL: "https://example.com/\x00", Transport: http.DefaultTransport}, guardrail.Input), "the URL does not parse"},
		{hook(guardrail.Webhook{URL: "https://example.com/"}, guardrail.Input), "no transport is set"},
		{hook(guardrail.Webhook{URL: "https://example.com/", Transport: http.DefaultTransport, Timeout: -time.Second}, guardrail.Input), "timeout -1s"},
		{hook(guardrail.Webhook{URL: "https://example.com/", Transport: http.DefaultTransport}, guardrail.Both), "needs refuse_streams"},
	}
	for _, test := range tests {
		if _, err := guardrail.Compile(test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60v: %v, want %q", test.spec, err, test.want)
		}
	}
}

func TestWithoutGuardrailsNothingIsRead(t *testing.T) {
	if set := guardrail.Join(nil, nil); set != nil {
		t.Errorf("a set of nothing: %v", set)
	}
	var none *guardrail.Set
	if r, err := none.Request(t.Context(), []byte(`{"input":"a@b.de"}`)); err != nil || r.Body != nil || r.Verdict != nil {
		t.Errorf("%v, %v", r, err)
	}
	if s := none.Stream(guardrail.Chat); s != nil {
		t.Error("a stream is judged by nothing")
	}
	if name, ok := none.WholeOnly(); ok {
		t.Errorf("%q must see whole answers", name)
	}
}

func TestDirectionsAreKeptApart(t *testing.T) {
	rules := []guardrail.Rule{{Action: guardrail.Redact, Detector: guardrail.Email}}
	in := compiled(t, guardrail.Spec{Name: "in", On: guardrail.Input, Rules: rules})
	out := compiled(t, guardrail.Spec{Name: "out", On: guardrail.Output, Rules: rules})
	body := []byte(`{"input":"a@b.de","output":"a@b.de"}`)
	for _, test := range []struct {
		set              *guardrail.Set
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
	deny := func(name string) guardrail.Spec {
		return guardrail.Spec{Name: name, Rules: []guardrail.Rule{{Action: guardrail.Deny, Detector: guardrail.Email}}}
	}
	set := compiled(t, deny("key"), deny("model"))
	r, err := set.Request(t.Context(), []byte(`{"input":"a@b.de"}`))
	if err != nil || r.Verdict == nil || *r.Verdict != (guardrail.Verdict{Guardrail: "key", Class: "email"}) {
		t.Errorf("%+v, %v", r.Verdict, err)
	}
}

func TestAnswerThatCannotBeReadIsRefused(t *testing.T) {
	for _, body := range []string{``, `[]`, `{"a":`, "{\"a\":\"\xff\"}", `"a@b.de"`} {
		if _, err := golden(t).Answer(t.Context(), []byte(body)); !errors.Is(err, guardrail.ErrMalformed) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
