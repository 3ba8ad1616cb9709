package guardrail_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

func TestDirectionsHaveNames(t *testing.T) {
	for direction, want := range map[guardrail.Direction]string{guardrail.Input: "input", guardrail.Output: "output", guardrail.Both: "both", 0: "direction 0", 4: "direction 4"} {
		if got := direction.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCompileAcceptsUpToItsLimits(t *testing.T) {
	email := guardrail.Rule{Action: guardrail.Deny, Detector: guardrail.Email}
	many := make([]guardrail.Rule, 64)
	for i := range many {
		many[i] = email
	}
	hook := func(w guardrail.Webhook, on guardrail.Direction) guardrail.Spec {
		w.Transport = http.DefaultTransport
		return guardrail.Spec{Name: "g", On: on, Webhook: &w}
	}
	for _, spec := range []guardrail.Spec{
		{Name: strings.Repeat("n", 64), Rules: many}, {Name: "A-z_0.9", Rules: many[:1], Window: 1}, {Name: "g", Rules: many[:1], Window: 8192},
		hook(guardrail.Webhook{URL: "http://m.example"}, guardrail.Input), hook(guardrail.Webhook{URL: "https://m.example/x", RefuseStreams: true}, guardrail.Output),
	} {
		if g, err := guardrail.Compile(spec); err != nil || g.Name() != spec.Name {
			t.Errorf("%v: %v", spec.Name, err)
		}
	}
	for _, spec := range []guardrail.Spec{
		{Name: strings.Repeat("n", 65), Rules: many}, hook(guardrail.Webhook{URL: "https:///path"}, guardrail.Input), hook(guardrail.Webhook{URL: "https://m.example", Timeout: -1}, guardrail.Input), hook(guardrail.Webhook{URL: "https://m.example"}, guardrail.Output),
	} {
		if _, err := guardrail.Compile(spec); err == nil {
			t.Errorf("%v is accepted", spec)
		}
	}
	if guardrail.DefaultWindow != 256 || guardrail.MaxWindow != 8192 {
		t.Error("the documented windows have changed")
	}
}

// Compile must not change the spec, which a reload may compile again.
func TestCompileCopiesTheWebhook(t *testing.T) {
	hook := guardrail.Webhook{URL: "http://m.example", Transport: http.DefaultTransport}
	if _, err := guardrail.Compile(guardrail.Spec{Name: "g", On: guardrail.Input, Webhook: &hook}); err != nil || hook.Timeout != 0 {
		t.Errorf("the timeout is %v, %v", hook.Timeout, err)
	}
}

func TestAWebhookHasItsTimeout(t *testing.T) {
	var left time.Duration
	set := compiled(t, guardrail.Spec{Name: "g", On: guardrail.Input, Webhook: &guardrail.Webhook{URL: "http://m.example", Timeout: time.Hour, Transport: moderator(func(r *http.Request) (*http.Response, error) {
		end, _ := r.Context().Deadline()
		left = time.Until(end)
		return answering(200, `{"action":"allow"}`)(r)
	})}})
	if _, err := set.Request(t.Context(), []byte(`{"input":"x"}`)); err != nil || left < 59*time.Minute {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestWhatIsRedactedHasItsClass(t *testing.T) {
	for detector, c := range map[guardrail.Detector]struct{ class, text, left string }{
		guardrail.Regexp:  {"pattern", "ab 12", "ab "},
		guardrail.Words:   {"words", "so forbidden", "so "},
		guardrail.Secrets: {"secret", "is AKIAQYLPMN5HHHFPZAM2", "is "},
		guardrail.Email:   {"email", "to a@b.de", "to "},
		guardrail.Card:    {"card", "no 4111111111111111", "no "},
	} {
		rule := guardrail.Rule{Detector: detector}
		switch detector {
		case guardrail.Regexp:
			rule.Pattern = "[0-9]+"
		case guardrail.Words:
			rule.Words = []string{"forbidden"}
		}
		r, err := redacting(t, rule, 0).Request(t.Context(), []byte(`{"input":"`+c.text+`","more":["`+c.text+`"]}`))
		left := c.left + "[REDACTED:" + c.class + "]"
		if want := `{"input":"` + left + `","more":["` + left + `"]} [{test ` + c.class + `}]`; err != nil || fmt.Sprintf("%s %v", r.Body, r.Redacted) != want {
			t.Errorf("%s: %s %v, %v", detector, r.Body, r.Redacted, err)
		}
	}
}

// Streams hold back as much as the largest window of the guardrails that read answers.
func TestTheLargestWindowOfAnswersCounts(t *testing.T) {
	rules := []guardrail.Rule{{Action: guardrail.Redact, Detector: guardrail.Regexp, Pattern: "<[^>]*>"}}
	spec := func(on guardrail.Direction, window int) guardrail.Spec {
		return guardrail.Spec{Name: "g", On: on, Window: window, Rules: rules}
	}
	for _, test := range []struct {
		specs []guardrail.Spec
		want  int
	}{
		{[]guardrail.Spec{spec(guardrail.Output, 10)}, 10},
		{[]guardrail.Spec{spec(guardrail.Both, 10), spec(guardrail.Output, 30), spec(guardrail.Both, 20)}, 30},
		{[]guardrail.Spec{spec(guardrail.Input, 50), spec(guardrail.Output, 10)}, 10},
		{[]guardrail.Spec{spec(guardrail.Output, 0)}, 256},
	} {
		s := newWire(compiled(t, test.specs...), guardrail.Chat)
		got := client{texts: map[string]string{}, finished: map[int]bool{}}
		events, _, _ := s.push("", `{"choices":[{"delta":{"content":"<`+strings.Repeat("x", 999)+`"}}]}`)
		got.read(t, events)
		if held := 1000 - len(got.texts["0content"]); held != test.want {
			t.Errorf("%d characters are held back, want %d", held, test.want)
		}
	}
}

func TestTheFirstWebhookOnAnswersRefusesStreams(t *testing.T) {
	hook := func(name string, on guardrail.Direction) guardrail.Spec {
		return guardrail.Spec{Name: name, On: on, Webhook: &guardrail.Webhook{URL: "http://m.example", RefuseStreams: true, Transport: answering(200, `{"action":"allow"}`)}}
	}
	for _, test := range []struct {
		set  *guardrail.Set
		want string
	}{
		{compiled(t, hook("a", guardrail.Input)), ""}, {compiled(t, hook("a", guardrail.Input), hook("b", guardrail.Output), hook("c", guardrail.Both)), "b"},
		{forbidden(t, guardrail.Deny), ""},
	} {
		if name, ok := test.set.WholeOnly(); name != test.want || ok != (test.want != "") {
			t.Errorf("%q, %t, want %q", name, ok, test.want)
		}
	}
	// A webhook alone reads no stream, and no answer if it is for requests.
	if s := compiled(t, hook("a", guardrail.Both)).Stream(guardrail.Chat); s != nil {
		t.Error("a webhook reads a stream")
	}
	if r, err := compiled(t, hook("a", guardrail.Input)).Answer(t.Context(), []byte(`[]`)); err != nil || r.Body != nil {
		t.Errorf("%v, %v", r, err)
	}
}

// A body that is denied is not sent in parts: no text and no redaction comes with the verdict.
func TestADenialComesAlone(t *testing.T) {
	set := golden(t)
	body := []byte(`{"logprobs":["x"],"a":"jo@corp.example","b":"red mercury"}`)
	for name, judge := range map[string]func() (guardrail.Result, error){
		"request": func() (guardrail.Result, error) { return set.Request(t.Context(), body) },
		"answer":  func() (guardrail.Result, error) { return set.Answer(t.Context(), body) },
	} {
		if r, err := judge(); err != nil || r.Verdict == nil || r.Body != nil || r.Redacted != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
