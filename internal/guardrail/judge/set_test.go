package judge_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

func TestDirectionsHaveNames(t *testing.T) {
	for direction, want := range map[guardrail.Direction]string{guardrail.Input: "input", guardrail.Output: "output", guardrail.Both: "both", 0: "direction 0", 4: "direction 4"} {
		if got := direction.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCompileAcceptsUpToItsLimits(t *testing.T) {
	email := judge.Rule{Action: judge.Deny, Detector: judge.Email}
	many := make([]judge.Rule, 64)
	for i := range many {
		many[i] = email
	}
	hook := func(w judge.Webhook, on guardrail.Direction) judge.Spec {
		w.Transport = http.DefaultTransport
		return judge.Spec{Name: "g", On: on, Webhook: &w}
	}
	for _, spec := range []judge.Spec{
		{Name: strings.Repeat("n", 64), Rules: many}, {Name: "A-z_0.9", Rules: many[:1], Window: 1}, {Name: "g", Rules: many[:1], Window: 8192},
		hook(judge.Webhook{URL: "http://m.example"}, guardrail.Input), hook(judge.Webhook{URL: "https://m.example/x", RefuseStreams: true}, guardrail.Output),
	} {
		if g, err := judge.Compile(spec); err != nil || g.Name() != spec.Name {
			t.Errorf("%v: %v", spec.Name, err)
		}
	}
	for _, spec := range []judge.Spec{
		{Name: strings.Repeat("n", 65), Rules: many}, hook(judge.Webhook{URL: "https:///path"}, guardrail.Input), hook(judge.Webhook{URL: "https://m.example", Timeout: -1}, guardrail.Input), hook(judge.Webhook{URL: "https://m.example"}, guardrail.Output),
	} {
		if _, err := judge.Compile(spec); err == nil {
			t.Errorf("%v is accepted", spec)
		}
	}
	if judge.DefaultWindow != 256 || judge.MaxWindow != 8192 {
		t.Error("the documented windows have changed")
	}
}

// Compile must not change the spec, which a reload may compile again.
func TestCompileCopiesTheWebhook(t *testing.T) {
	hook := judge.Webhook{URL: "http://m.example", Transport: http.DefaultTransport}
	if _, err := judge.Compile(judge.Spec{Name: "g", On: guardrail.Input, Webhook: &hook}); err != nil || hook.Timeout != 0 {
		t.Errorf("the timeout is %v, %v", hook.Timeout, err)
	}
}

func TestAWebhookHasItsTimeout(t *testing.T) {
	var left time.Duration
	set := compiled(t, judge.Spec{Name: "g", On: guardrail.Input, Webhook: &judge.Webhook{URL: "http://m.example", Timeout: time.Hour, Transport: moderator(func(r *http.Request) (*http.Response, error) {
		end, _ := r.Context().Deadline()
		left = time.Until(end)
		return answering(200, `{"action":"allow"}`)(r)
	})}})
	if _, err := set.Request(t.Context(), []byte(`{"input":"x"}`)); err != nil || left < 59*time.Minute {
		t.Errorf("%v is left, %v", left, err)
	}
}

func TestWhatIsRedactedHasItsClass(t *testing.T) {
	for detector, c := range map[judge.Detector]struct{ class, text, left string }{
		judge.Regexp:  {"pattern", "ab 12", "ab "},
		judge.Words:   {"words", "so forbidden", "so "},
		judge.Secrets: {"secret", "is AKIAQYLPMN5HHHFPZAM2", "is "},
		judge.Email:   {"email", "to a@b.de", "to "},
		judge.Card:    {"card", "no 4111111111111111", "no "},
	} {
		rule := judge.Rule{Detector: detector}
		switch detector {
		case judge.Regexp:
			rule.Pattern = "[0-9]+"
		case judge.Words:
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
	rules := []judge.Rule{{Action: judge.Redact, Detector: judge.Regexp, Pattern: "<[^>]*>"}}
	spec := func(on guardrail.Direction, window int) judge.Spec {
		return judge.Spec{Name: "g", On: on, Window: window, Rules: rules}
	}
	for _, test := range []struct {
		specs []judge.Spec
		want  int
	}{
		{[]judge.Spec{spec(guardrail.Output, 10)}, 10},
		{[]judge.Spec{spec(guardrail.Both, 10), spec(guardrail.Output, 30), spec(guardrail.Both, 20)}, 30},
		{[]judge.Spec{spec(guardrail.Input, 50), spec(guardrail.Output, 10)}, 10},
		{[]judge.Spec{spec(guardrail.Output, 0)}, 256},
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
	hook := func(name string, on guardrail.Direction) judge.Spec {
		return judge.Spec{Name: name, On: on, Webhook: &judge.Webhook{URL: "http://m.example", RefuseStreams: true, Transport: answering(200, `{"action":"allow"}`)}}
	}
	for _, test := range []struct {
		set  guardrail.Set
		want string
	}{
		{compiled(t, hook("a", guardrail.Input)), ""}, {compiled(t, hook("a", guardrail.Input), hook("b", guardrail.Output), hook("c", guardrail.Both)), "b"},
		{forbidden(t, judge.Deny), ""},
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
