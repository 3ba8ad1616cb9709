package judge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
)

// moderator answers requests to webhooks without a network.
type moderator func(*http.Request) (*http.Response, error)

func (m moderator) RoundTrip(r *http.Request) (*http.Response, error) { return m(r) }

func answering(status int, body string) moderator {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Location": {"https://other.example/"}}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func hooked(t *testing.T, m moderator, open bool) guardrail.Set {
	return compiled(t, judge.Spec{Name: "outside", On: guardrail.Both, Webhook: &judge.Webhook{
		URL: "https://moderator.example/judge", Header: http.Header{"Authorization": {"Bearer x"}},
		FailOpen: open, RefuseStreams: true, Transport: m,
	}})
}

const hookBody = `{"model":"m","instructions":"é be nice","input":[{"role":"user","content":"call 555 or 556"}]}`

func TestWebhookIsAskedOnceForAllTexts(t *testing.T) {
	calls := 0
	set := hooked(t, func(r *http.Request) (*http.Response, error) {
		calls++
		body, _ := io.ReadAll(r.Body)
		want := `{"guardrail":"outside","direction":"input","texts":[{"where":"instructions","text":"é be nice"},{"where":"input","text":"call 555 or 556"}]}` + "\n"
		if string(body) != want || r.Method != http.MethodPost || r.Header.Get("Authorization") != "Bearer x" || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v %s", r.Method, r.Header, body)
		}
		return answering(200, `{"action":"allow"}`)(r)
	}, false)
	if r, err := set.Request(t.Context(), []byte(hookBody)); err != nil || r.Body != nil || r.Verdict != nil || calls != 1 {
		t.Errorf("%+v, %v after %d calls", r, err, calls)
	}
	if name, ok := set.WholeOnly(); !ok || name != "outside" {
		t.Errorf("%q, %t must see whole answers", name, ok)
	}
}

func TestWebhookDenies(t *testing.T) {
	for answer, class := range map[string]string{
		`{"action":"deny","class":"self-harm"}`:             "self-harm",
		`{"action":"deny"}`:                                 "webhook",
		`{"action":"deny","class":"the text: call 555 or"}`: "webhook",
	} {
		r, err := hooked(t, answering(200, answer), false).Request(t.Context(), []byte(hookBody))
		if err != nil || r.Verdict == nil || *r.Verdict != (guardrail.Verdict{Guardrail: "outside", Class: class}) {
			t.Errorf("%s: %+v, %v", answer, r.Verdict, err)
		}
	}
}

func TestWebhookRedactsByCharacters(t *testing.T) {
	answer := `{"action":"redact","class":"phone","redactions":[{"text":1,"start":12,"end":15},{"text":0,"start":0,"end":1,"class":"letter"},{"text":1,"start":5,"end":8},{"text":1,"start":6,"end":9}]}`
	r, err := hooked(t, answering(200, answer), false).Request(t.Context(), []byte(hookBody))
	want := `{"model":"m","instructions":"[REDACTED:letter] be nice","input":[{"role":"user","content":"call [REDACTED:phone]or [REDACTED:phone]"}]}`
	if err != nil || string(r.Body) != want {
		t.Errorf("%s, %v", r.Body, err)
	}
	if len(r.Redacted) != 2 {
		t.Errorf("redacted %v", r.Redacted)
	}
}

// Arguments that are an object stay one, whatever part of their JSON is taken out.
func TestWebhookLeavesArgumentsJSON(t *testing.T) {
	body := `{"content":[{"type":"tool_use","id":"t","input":{"a": "call 555", "b": 556}}]}`
	for redaction, want := range map[string]string{
		`"start":12,"end":15`: `{"a": "call [REDACTED:webhook]", "b": 556}`,
		`"start":7,"end":26`:  `{"a": "[REDACTED:webhook]", "": null}`,
	} {
		r, err := hooked(t, answering(200, `{"action":"redact","redactions":[{"text":0,`+redaction+`}]}`), false).Answer(t.Context(), []byte(body))
		if got := strings.Replace(body, `{"a": "call 555", "b": 556}`, want, 1); err != nil || string(r.Body) != got {
			t.Errorf("%s, %v", r.Body, err)
		}
	}
}

func TestWebhookThatFails(t *testing.T) {
	for name, m := range map[string]moderator{
		"unreachable": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"redirect":    answering(307, `{"action":"allow"}`),
		"status":      answering(500, `{"action":"allow"}`),
		"no JSON":     answering(200, `allow`),
		"no action":   answering(200, `{}`),
		"long":        answering(200, `{"action":"allow","x":"`+strings.Repeat("a", 1<<20)+`"}`),
		"wrong text":  answering(200, `{"action":"redact","redactions":[{"text":2,"start":0,"end":1}]}`),
		"wrong end":   answering(200, `{"action":"redact","redactions":[{"text":0,"start":0,"end":10}]}`),
		"wrong start": answering(200, `{"action":"redact","redactions":[{"text":0,"start":-1,"end":1}]}`),
		"nothing":     answering(200, `{"action":"redact","redactions":[]}`),
		"the text":    answering(200, `{"action":"block: call 555"}`),
		"too much":    answering(200, redactions(10001, func(int) string { return "x" })),
		"classes":     answering(200, redactions(65, func(i int) string { return fmt.Sprintf("class-%d", i) })),
	} {
		_, err := hooked(t, m, false).Request(t.Context(), []byte(hookBody))
		var failed *guardrail.WebhookError
		if !errors.As(err, &failed) || failed.Guardrail != "outside" || strings.Contains(err.Error(), "555") {
			t.Errorf("%s, closed: %v", name, err)
		}
		if r, err := hooked(t, m, true).Request(t.Context(), []byte(hookBody)); err != nil || r.Verdict != nil || r.Body != nil {
			t.Errorf("%s, open: %+v, %v", name, r, err)
		}
	}
}

// A moderator may close a connection that it kept just as it is used again.
func TestWebhookIsAskedAgainWhereAKeptConnectionDies(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			from := bufio.NewReader(conn)
			for _, answer := range []string{"HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n" + `{"action":"allow"}`, ""} {
				if r, err := http.ReadRequest(from); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
				}
				_, _ = io.WriteString(conn, answer)
			}
			_ = conn.Close()
		}
	}()
	transport := new(http.Transport)
	t.Cleanup(transport.CloseIdleConnections)
	set := hooked(t, func(r *http.Request) (*http.Response, error) {
		r.URL.Scheme, r.URL.Host = "http", listener.Addr().String()
		return transport.RoundTrip(r)
	}, false)
	for range 4 {
		if _, err := set.Request(t.Context(), []byte(hookBody)); err != nil {
			t.Error(err)
		}
	}
}

// redactions takes out the first n characters of the first text one by one.
func redactions(n int, class func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"text":0,"start":%d,"end":%d,"class":%q}`, i, i+1, class(i))
	}
	return `{"action":"redact","redactions":[` + strings.Join(list, ",") + `]}`
}

func TestWebhookTakesOutMuchInLittleTime(t *testing.T) {
	const n = 10000
	r, err := hooked(t, answering(200, redactions(n, func(i int) string { return fmt.Sprintf("class-%d", i%64) })), false).
		Request(t.Context(), []byte(`{"input":"`+strings.Repeat("a", n)+`"}`))
	if got := strings.Count(string(r.Body), "[REDACTED:class-"); err != nil || got != n || len(r.Redacted) != 64 {
		t.Errorf("%d stretches of %d classes, %v", got, len(r.Redacted), err)
	}
}

// The caller chooses the length of its text. That must not switch off a webhook that lets texts
// pass when it fails.
func TestMoreTextThanAWebhookIsAskedAboutNeverPasses(t *testing.T) {
	bodies := map[string]string{
		"many": `{"content":[` + strings.Repeat(`"x",`, guardrail.MaxHookTexts) + `"x"]}`,
		"long": `{"content":"` + strings.Repeat("x", guardrail.MaxHookText+1) + `"}`,
	}
	for name, body := range bodies {
		for _, open := range []bool{false, true} {
			set := hooked(t, answering(200, `{"action":"deny"}`), open)
			_, err := set.Request(t.Context(), []byte(body))
			var limit *guardrail.HookLimitError
			if !errors.As(err, &limit) || *limit != (guardrail.HookLimitError{Guardrail: "outside", Direction: guardrail.Input}) {
				t.Errorf("%s, open %t: request %v", name, open, err)
			}
			if _, err = set.Answer(t.Context(), []byte(body)); !errors.As(err, &limit) || limit.Direction != guardrail.Output {
				t.Errorf("%s, open %t: answer %v", name, open, err)
			}
		}
	}
}

func TestWebhookLeavesNoTokenProbabilities(t *testing.T) {
	r, err := hooked(t, answering(200, `{"action":"redact","redactions":[{"text":0,"start":4,"end":13}]}`), false).Answer(t.Context(),
		[]byte(`{"choices":[{"message":{"content":"the forbidden x"},"logprobs":{"content":[{"token":"the"},{"token":" forbidden"}]}}]}`))
	if want := `{"choices":[{"message":{"content":"the [REDACTED:webhook] x"},"logprobs":null}]}`; err != nil || string(r.Body) != want {
		t.Errorf("%s, %v", r.Body, err)
	}
}

func TestWebhookHasFewQuestionsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var open, most atomic.Int32
		release := make(chan struct{})
		set := hooked(t, func(r *http.Request) (*http.Response, error) {
			if n := open.Add(1); n > most.Load() {
				most.Store(n)
			}
			<-release
			open.Add(-1)
			return answering(200, `{"action":"allow"}`)(r)
		}, false)
		var all sync.WaitGroup
		for range 40 {
			all.Go(func() {
				if _, err := set.Request(context.Background(), []byte(hookBody)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if got := open.Load(); got != 32 {
			t.Errorf("%d questions are open", got)
		}
		close(release)
		all.Wait()
		if most.Load() != 32 {
			t.Errorf("%d questions were open", most.Load())
		}
	})
}

func TestWebhookHasTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := hooked(t, func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}, false)
		start := time.Now()
		_, err := set.Answer(context.Background(), []byte(`{"output":"x"}`))
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 2*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}

func TestWebhookGetsTheTextAfterTheRules(t *testing.T) {
	seen := ""
	set := compiled(t, judge.Spec{Name: "g", On: guardrail.Input, Rules: []judge.Rule{{Action: judge.Redact, Detector: judge.Email}},
		Webhook: &judge.Webhook{URL: "https://m.example/", Transport: moderator(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			seen = string(body)
			return answering(200, `{"action":"redact","redactions":[{"text":0,"start":0,"end":4}]}`)(r)
		})}})
	r, err := set.Request(t.Context(), []byte(`{"input":"mail a@b.de","x":[1, 2]}`))
	if err != nil || strings.Contains(seen, "a@b") || string(r.Body) != `{"input":"[REDACTED:webhook] [REDACTED:email]","x":[1, 2]}` {
		t.Errorf("saw %s, passed %s, %v", seen, r.Body, err)
	}
}
