package guard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guard"
)

func TestCompileRefuses(t *testing.T) {
	email := []guard.Rule{{Action: guard.Deny, Detector: guard.Email}}
	rule := func(r guard.Rule) guard.Spec { return guard.Spec{Name: "g", Rules: []guard.Rule{r}} }
	hook := func(w guard.Webhook, on guard.Direction) guard.Spec {
		return guard.Spec{Name: "g", On: on, Webhook: &w}
	}
	tests := []struct {
		spec guard.Spec
		want string
	}{
		{guard.Spec{Name: "", Rules: email}, `guardrail name ""`},
		{guard.Spec{Name: "a b", Rules: email}, `guardrail name "a b"`},
		{guard.Spec{Name: "g"}, `guardrail "g": neither a rule nor a webhook`},
		{guard.Spec{Name: "g", On: 8, Rules: email}, "unknown direction 8"},
		{guard.Spec{Name: "g", Window: -1, Rules: email}, "a window of -1 characters"},
		{guard.Spec{Name: "g", Window: 8193, Rules: email}, "a window of 8193 characters"},
		{guard.Spec{Name: "g", Rules: make([]guard.Rule, 65)}, "65 rules: at most 64"},
		{rule(guard.Rule{Action: "drop", Detector: guard.Email}), `rule 1 (email): unknown action "drop"`},
		{rule(guard.Rule{Action: guard.Deny, Detector: "faces"}), "rule 1 (faces): unknown detector"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Regexp}), "regexp needs one"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Email, Pattern: "a"}), "a pattern belongs to regexp"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Words}), "words needs one"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Card, Words: []string{"a"}}), "a list of words belongs to words"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Regexp, Pattern: "("}), "missing closing )"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Regexp, Pattern: `a*|\b`}), "the pattern matches an empty text"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Regexp, Pattern: strings.Repeat("(?:[a-z]{999}x)", 11)}), "at most"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Words, Words: []string{"ok", " "}}), "word 2 has 0 characters"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Words, Words: []string{strings.Repeat("a", 129)}}), "word 1 has 129 characters"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Words, Words: []string{"\xff"}}), "word 1 is not UTF-8"},
		{rule(guard.Rule{Action: guard.Deny, Detector: guard.Words, Words: make([]string, 10001)}), "10001 words"},
		{hook(guard.Webhook{URL: "example.com", Transport: http.DefaultTransport}, guard.Input), "its URL is not of the form"},
		{hook(guard.Webhook{URL: "ftp://example.com", Transport: http.DefaultTransport}, guard.Input), "its URL is not of the form"},
		{hook(guard.Webhook{URL: "https://example.com/\x00", Transport: http.DefaultTransport}, guard.Input), "its URL does not parse"},
		{hook(guard.Webhook{URL: "https://example.com/"}, guard.Input), "it has no transport"},
		{hook(guard.Webhook{URL: "https://example.com/", Transport: http.DefaultTransport, Timeout: -time.Second}, guard.Input), "a timeout of -1s"},
		{hook(guard.Webhook{URL: "https://example.com/", Transport: http.DefaultTransport}, guard.Both), "cannot judge a stream"},
	}
	for _, test := range tests {
		if _, err := guard.Compile(test.spec); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.60v: %v, want %q", test.spec, err, test.want)
		}
	}
}

func TestWithoutGuardrailsNothingIsRead(t *testing.T) {
	if set := guard.Join(nil, nil); set != nil {
		t.Errorf("a set of nothing: %v", set)
	}
	var none *guard.Set
	if r, err := none.Request(t.Context(), []byte(`{"input":"a@b.de"}`)); err != nil || r.Body != nil || r.Verdict != nil {
		t.Errorf("%v, %v", r, err)
	}
	if s := none.Stream(guard.Chat); s != nil {
		t.Error("a stream is judged by nothing")
	}
	if name, ok := none.WholeOnly(); ok {
		t.Errorf("%q must see whole answers", name)
	}
}

func TestDirectionsAreKeptApart(t *testing.T) {
	rules := []guard.Rule{{Action: guard.Redact, Detector: guard.Email}}
	in := compiled(t, guard.Spec{Name: "in", On: guard.Input, Rules: rules})
	out := compiled(t, guard.Spec{Name: "out", On: guard.Output, Rules: rules})
	body := []byte(`{"input":"a@b.de","output":"a@b.de"}`)
	for _, test := range []struct {
		set              *guard.Set
		request, answer  bool
		name, wantStream string
	}{{in, true, false, "in", ""}, {out, false, true, "out", "stream"}} {
		if r, err := test.set.Request(t.Context(), body); err != nil || (r.Body != nil) != test.request {
			t.Errorf("%s: request %+v, %v", test.name, r, err)
		}
		if r, err := test.set.Answer(t.Context(), body); err != nil || (r.Body != nil) != test.answer {
			t.Errorf("%s: answer %+v, %v", test.name, r, err)
		}
		if s := test.set.Stream(guard.Chat); (s != nil) != test.answer {
			t.Errorf("%s: stream %v", test.name, s)
		}
	}
}

func TestTheFirstGuardrailIsNamed(t *testing.T) {
	deny := func(name string) guard.Spec {
		return guard.Spec{Name: name, Rules: []guard.Rule{{Action: guard.Deny, Detector: guard.Email}}}
	}
	set := compiled(t, deny("key"), deny("model"))
	r, err := set.Request(t.Context(), []byte(`{"input":"a@b.de"}`))
	if err != nil || r.Verdict == nil || *r.Verdict != (guard.Verdict{Guardrail: "key", Class: "email"}) {
		t.Errorf("%+v, %v", r.Verdict, err)
	}
}
