package judge_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

func TestAWebhookIsAskedAboutAsMuchAsItsLimits(t *testing.T) {
	for name, body := range map[string]string{
		"many":      `{"content":[` + strings.Repeat(`"x",`, guardrail.MaxHookTexts-1) + `"","x"]}`,
		"long":      `{"content":"` + strings.Repeat("x", guardrail.MaxHookText) + `"}`,
		"both long": `{"content":["` + strings.Repeat("x", guardrail.MaxHookText/2) + `","` + strings.Repeat("x", guardrail.MaxHookText/2) + `"]}`,
	} {
		r, err := hooked(t, answering(200, `{"action":"deny"}`), false).Request(t.Context(), []byte(body))
		if err != nil || r.Verdict == nil {
			t.Errorf("%s: %v, %v", name, r.Verdict, err)
		}
	}
	for name, body := range map[string]string{"no text": `{"n":1}`, "empty texts": `{"content":["",""]}`} {
		asked := moderator(func(*http.Request) (*http.Response, error) { return nil, errors.New("asked") })
		if r, err := hooked(t, asked, false).Request(t.Context(), []byte(body)); err != nil || r.Body != nil {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}

func TestAWebhookMayAnswerAMebibyte(t *testing.T) {
	allow := `{"action":"allow","x":""}`
	for _, more := range []int{0, 1} {
		answer := allow[:len(allow)-2] + strings.Repeat("a", 1<<20-len(allow)+more) + `"}`
		_, err := hooked(t, answering(200, answer), false).Request(t.Context(), []byte(hookBody))
		if (err != nil) != (more > 0) || err != nil && !strings.Contains(err.Error(), "more than 1048576 bytes") {
			t.Errorf("%d bytes: %v", len(answer), err)
		}
	}
}

func TestTheErrorsOfAWebhookSayWhatIsWrong(t *testing.T) {
	for want, m := range map[string]moderator{
		`webhook of guardrail "outside": connection refused`:                                  func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		`webhook of guardrail "outside": it answered with status 500`:                         answering(500, ``),
		`webhook of guardrail "outside": the answer is not valid JSON, or has a member twice`: answering(200, `allow`),
		`webhook of guardrail "outside": the answer has an unknown action`:                    answering(200, `{}`),
		`webhook of guardrail "outside": the answer redacts text 2 of 2 texts`:                answering(200, `{"action":"redact","redactions":[{"text":2,"start":0,"end":1}]}`),
		`webhook of guardrail "outside": the answer redacts text -1 of 2 texts`:               answering(200, `{"action":"redact","redactions":[{"text":-1,"start":0,"end":1}]}`),
		`webhook of guardrail "outside": the answer redacts 1 to 1 in a text of 9 char`:       answering(200, `{"action":"redact","redactions":[{"text":0,"start":1,"end":1}]}`),
		`webhook of guardrail "outside": the answer redacts 9 to 10 in a text of 9 c`:         answering(200, `{"action":"redact","redactions":[{"text":0,"start":9,"end":10}]}`),
		`webhook of guardrail "outside": the answer has 0 redactions, want 1 to 10000`:        answering(200, `{"action":"redact"}`),
		`webhook of guardrail "outside": broken`: func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(strings.NewReader(`{"action":"allow"}`), failing{}))}, nil
		},
	} {
		if _, err := hooked(t, m, false).Request(t.Context(), []byte(hookBody)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	err := &guardrail.HookLimitError{Guardrail: "outside", Direction: guardrail.Input}
	if want := `webhook of guardrail "outside": the input has more than 10000 texts or 8388608 bytes of them`; err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// failing is a body that breaks off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken") }

func TestAClassOfAWebhookHas32Characters(t *testing.T) {
	for class, want := range map[string]string{
		strings.Repeat("a", 32): strings.Repeat("a", 32), strings.Repeat("a", 33): "webhook", "a-b_9": "a-b_9", "A": "webhook", "": "webhook", "a b": "webhook",
	} {
		r, err := hooked(t, answering(200, fmt.Sprintf(`{"action":"deny","class":%q}`, class)), false).Request(t.Context(), []byte(hookBody))
		if err != nil || r.Verdict == nil || r.Verdict.Class != want {
			t.Errorf("%q: %v, %v", class, r.Verdict, err)
		}
	}
}

// The class of a redaction comes before that of the answer. Each verdict is reported once.
func TestRedactionsOfAWebhookHaveClasses(t *testing.T) {
	answer := `{"action":"redact","class":"all","redactions":[{"text":0,"start":8,"end":9,"class":"one"},{"text":0,"start":0,"end":1},{"text":1,"start":0,"end":4,"class":"one"},{"text":1,"start":14,"end":15,"class":"all"}]}`
	r, err := hooked(t, answering(200, answer), false).Request(t.Context(), []byte(hookBody))
	want := `{"model":"m","instructions":"[REDACTED:all] be nic[REDACTED:one]","input":[{"role":"user","content":"[REDACTED:one] 555 or 55[REDACTED:all]"}]}`
	if err != nil || string(r.Body) != want || fmt.Sprint(r.Redacted) != "[{outside all} {outside one}]" && fmt.Sprint(r.Redacted) != "[{outside one} {outside all}]" {
		t.Errorf("%s, %v, %v", r.Body, r.Redacted, err)
	}
}

// Another decoder would read another action: the answer does not count.
func TestAWebhookThatSaysTwoThingsFails(t *testing.T) {
	for _, answer := range []string{
		`{"action":"deny","action":"allow"}`, `{"action":"deny","Action":"allow"}`, `{"action":"deny","\u0061ction":"allow"}`,
		`{"action":"redact","redactions":[{"text":0,"start":0,"end":12,"end":1}]}`,
	} {
		var failed *guardrail.WebhookError
		if r, err := hooked(t, answering(200, answer), false).Request(t.Context(), []byte(hookBody)); !errors.As(err, &failed) {
			t.Errorf("%s: %+v, %v", answer, r, err)
		}
	}
}

// What a webhook leaves is what the next one reads. What they take out is reported together.
func TestWebhooksReadOneAfterAnother(t *testing.T) {
	hook := func(name, answer string) judge.Spec {
		return judge.Spec{Name: name, On: guardrail.Input, Webhook: &judge.Webhook{URL: "http://m.example", Transport: answering(200, answer)}}
	}
	first := hook("first", `{"action":"redact","redactions":[{"text":0,"start":0,"end":1}]}`)
	for answer, want := range map[string]string{
		`{"action":"allow"}`: `{"input":"[REDACTED:webhook]bc"} [{first webhook}]`,
		`{"action":"redact","class":"x","redactions":[{"text":0,"start":18,"end":19}]}`: `{"input":"[REDACTED:webhook][REDACTED:x]c"} [{first webhook} {second x}]`,
	} {
		r, err := compiled(t, first, hook("second", answer)).Request(t.Context(), []byte(`{"input":"abc"}`))
		if got := fmt.Sprintf("%s %v", r.Body, r.Redacted); err != nil || got != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
	r, err := compiled(t, first, hook("second", `{"action":"deny"}`)).Request(t.Context(), []byte(`{"input":"abc"}`))
	if err != nil || r.Body != nil || r.Redacted != nil || *r.Verdict != (guardrail.Verdict{Guardrail: "second", Class: "webhook"}) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAWebhookGetsJSON(t *testing.T) {
	set := hooked(t, func(r *http.Request) (*http.Response, error) {
		key, has := r.Header["Idempotency-Key"]
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Accept") != "application/json" || !has || len(key) > 0 || !jsontest.Has(t, body, `{"text":"<a> & b"}`) || !strings.Contains(string(body), "<a> & b") {
			t.Errorf("%v %s", r.Header, body)
		}
		return answering(200, `{"action":"allow"}`)(r)
	}, false)
	if _, err := set.Request(t.Context(), []byte(`{"input":"<a> & b"}`)); err != nil {
		t.Error(err)
	}
}

func TestAWebhookThatIsBusyForTooLongFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		set := hooked(t, func(r *http.Request) (*http.Response, error) {
			<-release
			return answering(200, `{"action":"allow"}`)(r)
		}, false)
		var all sync.WaitGroup
		for range 32 {
			all.Go(func() { _, _ = set.Request(t.Context(), []byte(hookBody)) })
		}
		synctest.Wait()
		_, err := set.Request(t.Context(), []byte(hookBody))
		if want := "all 32 requests to it are busy"; !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		close(release)
		all.Wait()
	})
}

// Only an answer has token probabilities. A member of that name in a request is text.
func TestAWebhookReadsAllTextsOfARequest(t *testing.T) {
	body := []byte(`{"logprobs":{"content":["text"]}}`)
	set := hooked(t, answering(200, `{"action":"deny"}`), false)
	if r, err := set.Request(t.Context(), body); err != nil || r.Verdict == nil {
		t.Errorf("a request passes, %v", err)
	}
	if r, err := set.Answer(t.Context(), body); err != nil || r.Verdict != nil || string(r.Body) != `{"logprobs":null}` {
		t.Errorf("of an answer: %+v, %v", r, err)
	}
}
