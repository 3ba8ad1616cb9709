package modelcall

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// eventsOf answers each request with these events.
func eventsOf(events string) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		return eventStream(io.NopCloser(strings.NewReader(events)))(r)
	}
}

func eventStream(body io.ReadCloser) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
	}
}

const (
	streamed          = `{"model":"acme/m","stream":true,"messages":[{"role":"user","content":"hello"}],"max_tokens":100}`
	responsesStreamed = `{"model":"acme/m","stream":true,"input":"hello"}`

	firstWord = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}` + "\n\n"
	lastWord  = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"lo."},"finish_reason":"stop"}]}` + "\n\n"
	usageWord = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}` + "\n\n"
	doneWord  = "data: [DONE]\n\n"
)

func TestAStreamIsForwardedToItsEnd(t *testing.T) {
	r := newRig(t, eventsOf(firstWord+lastWord+usageWord+doneWord))
	w, refusal := r.serve(t, wire.Chat, streamed)
	body := w.Body.String()
	if refusal != nil || w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream" ||
		!strings.Contains(body, `"Hel"`) || !strings.HasSuffix(body, doneWord) || jsontest.Count(t, body, `{"model":"acme/m"}`) != 2 {
		t.Errorf("%v: %d %v\n%s", refusal, w.Code, w.Header(), body)
	}
	if row := r.rows(t)[0]; row.Status != 200 || !row.Stream || row.FirstToken <= 0 || row.PromptTokens != 3 || row.CompletionTokens != 4 || row.FinishReason != "stop" {
		t.Errorf("record %+v", row)
	}
}

// A failure before the first words is a status, also if both come in one packet; later it is an event
// and the one end of the stream.
func TestAFailureInAStreamIsAStatusOrAnEvent(t *testing.T) {
	failure := `data: {"error":{"message":"overloaded","code":"server_error"}}` + "\n\n"
	for _, c := range []struct {
		name, events string
		status       int
		code         apierror.Code
		source       string
	}{
		{"at once", failure, 0, apierror.UpstreamError, "none"},
		{"after words", firstWord + failure, 200, apierror.UpstreamError, "estimated"},
		{"cut at once", "", 0, apierror.UpstreamError, "none"},
		{"cut after words", firstWord, 200, apierror.UpstreamError, "estimated"},
		{"cut after the role", strings.Replace(firstWord, `"Hel"`, `""`, 1), 200, apierror.UpstreamError, "estimated"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, eventsOf(c.events))
			w, refusal := r.serve(t, wire.Chat, streamed)
			if c.status == 0 {
				wantRefusal(t, refusal, c.code, "")
				if w.Body.Len() > 0 {
					t.Errorf("written: %s", w.Body)
				}
			} else if refusal != nil || len(jsontest.Values(t, w.Body.String(), "error")) == 0 || strings.Contains(w.Body.String(), "[DONE]") {
				t.Errorf("%v: %s", refusal, w.Body)
			}
			if row := r.rows(t)[0]; row.Code != string(c.code) || row.Status != 502 || row.UsageSource != c.source {
				t.Errorf("record: %d %s, usage %s", row.Status, row.Code, row.UsageSource)
			}
		})
	}
}

func TestAnAnswerThatIsNoStreamIsABrokenAnswer(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody))
	_, refusal := r.serve(t, wire.Chat, streamed)
	wantRefusal(t, refusal, apierror.UpstreamError, "makes no sense")
}

// A silent provider is bridged by comments, first after the commit time, then by the heartbeat.
func TestAStreamIsKeptAliveWhileTheProviderIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		r := newRig(t, eventStream(reader))
		go func() {
			time.Sleep(50 * time.Second) // the bubble's clock
			_, _ = io.WriteString(writer, firstWord)
			time.Sleep(40 * time.Second)
			_, _ = io.WriteString(writer, lastWord+doneWord)
			_ = writer.Close()
		}()
		w, refusal := r.serve(t, wire.Chat, streamed)
		body := w.Body.String()
		before, after, _ := strings.Cut(body, `"Hel"`)
		// At 20, 35 and 50 s, and at 65 and 80 s; 50 is the time of the first event itself.
		if n, m := strings.Count(before, ": keep-alive\n"), strings.Count(after, ": keep-alive\n"); refusal != nil || n < 2 || n > 3 || m != 2 {
			t.Errorf("%v: %d comments before the first event and %d after it", refusal, n, m)
		}
	})
}

// Codex does not count comments: it gets an event after a minute without one, and others do not.
func TestAClientThatCountsOnlyEventsIsKeptAlive(t *testing.T) {
	for _, c := range []struct {
		op           *wire.Operation
		body, caller string
		events       int // at 80, 160 and 220 s
	}{
		{wire.Responses, responsesStreamed, "codex_exec", 3}, {wire.Responses, responsesStreamed, "Codex", 0}, {wire.Responses, responsesStreamed, "", 0}, {wire.Chat, streamed, "codex_exec", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			reader, writer := io.Pipe()
			r := newRig(t, eventStream(reader), func(r *rig) {
				r.models.provider = newProvider(t, eventStream(reader), func(p *provider.Config) { p.Translate = new(provider.Translate) })
			})
			go func() {
				time.Sleep(100 * time.Second)
				_, _ = io.WriteString(writer, firstWord)
				time.Sleep(130 * time.Second)
				_, _ = io.WriteString(writer, lastWord+doneWord)
				_ = writer.Close()
			}()
			request := post(strings.NewReader(c.body), int64(len(c.body)))
			request.Header.Set("Originator", c.caller)
			w := httptest.NewRecorder()
			if refusal := r.serveTo(t, w, request, c.op); refusal != nil {
				t.Fatal(refusal)
			}
			const event = "event: keepalive\ndata: {\"type\":\"keepalive\"}\n\n"
			if n := strings.Count(w.Body.String(), event); n != c.events || !strings.Contains(w.Body.String(), ": keep-alive\n") {
				t.Errorf("%q: %d events\n%s", c.caller, n, w.Body)
			}
		})
	}
}

// A client that waits for the end of the body is not held by a provider that leaves its own open.
func TestTheBodyEndsAtOnceAfterTheLastEvent(t *testing.T) {
	const (
		text      = `data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n"
		failed    = `data: {"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"server_error","message":"no"}}}` + "\n\n"
		completed = `data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[]}}` + "\n\n"
	)
	for name, c := range map[string]struct {
		op                *wire.Operation
		body, events, end string
		translate         *provider.Translate
	}{
		"chat":       {wire.Chat, streamed, firstWord + lastWord + doneWord, doneWord, nil},
		"responses":  {wire.Responses, responsesStreamed, completed, "response.completed", nil},
		"failed":     {wire.Responses, responsesStreamed, text + failed, "response.failed", nil},
		"translated": {wire.Responses, responsesStreamed, firstWord + lastWord + doneWord, "response.completed", new(provider.Translate)},
	} {
		synctest.Test(t, func(t *testing.T) {
			reader, writer := io.Pipe()
			open := roundTrip(func(r *http.Request) (*http.Response, error) {
				context.AfterFunc(r.Context(), func() { _ = reader.Close() }) // as a transport does
				return eventStream(reader)(r)
			})
			r := newRig(t, open, func(r *rig) {
				r.models.provider = newProvider(t, open, func(p *provider.Config) { p.Translate = c.translate })
			})
			go func() { _, _ = io.WriteString(writer, c.events) }()
			began := time.Now()
			w, refusal := r.serve(t, c.op, c.body)
			if took := time.Since(began); refusal != nil || took > 10*time.Millisecond || !strings.Contains(w.Body.String(), c.end) {
				t.Errorf("%s: %v after %s: %s", name, refusal, took, w.Body)
			}
		})
	}
}

// After 200 was sent for a comment, a failure is an event.
func TestAFailureAfterTheCommitTimeIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) {
			time.Sleep(30 * time.Second)
			return answering(500, `{"error":{"message":"broken"}}`)(nil)
		}))
		w, refusal := r.serve(t, wire.Chat, streamed)
		if refusal != nil || w.Code != 200 || len(jsontest.Values(t, w.Body.String(), "error")) == 0 {
			t.Errorf("%v: %d %s", refusal, w.Code, w.Body)
		}
		if row := r.rows(t)[0]; row.Status != 502 {
			t.Errorf("the record has %d", row.Status)
		}
	})
}

// The headers of the rates come before the first byte, also if a heartbeat is the first.
func TestEveryAnswerShowsTheRatesOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := func(r *http.Request) (*http.Response, error) {
			time.Sleep(30 * time.Second) // the bubble's clock
			return eventsOf(firstWord + lastWord + usageWord + doneWord)(r)
		}
		minute := limits.Subject{Name: "key:dev", Rates: []limits.Rate{{Unit: limits.Requests, Limit: 10, Window: 60e9}}}
		for name, c := range map[string]struct {
			provider roundTrip
			body     string
		}{
			"whole": {answering(200, chatAnswerBody), hello}, "stream": {eventsOf(firstWord + lastWord + doneWord), streamed}, "heartbeat first": {late, streamed},
		} {
			r := newRig(t, c.provider, limited(&policy.KeyLimits{Subjects: []limits.Subject{minute}}))
			w, refusal := r.serve(t, wire.Chat, c.body)
			if left := w.Result().Header.Get("X-Test-Remaining"); refusal != nil || left != "9" {
				t.Errorf("%s: %v, %q requests are left", name, refusal, left)
			}
		}
	})
}

// leftClient is the writer of a client that has left.
type leftClient struct {
	*httptest.ResponseRecorder
	statuses []int
}

func (w *leftClient) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func (w *leftClient) WriteHeader(status int) { w.statuses = append(w.statuses, status) }

// The answer of a client that leaves has begun: no other status follows, and no error is left to write.
func TestAClientThatLeavesAStreamIsRecorded(t *testing.T) {
	events := strings.NewReader(firstWord + lastWord + usageWord + doneWord)
	for source, body := range map[string]io.Reader{"provider": events, "estimated": iotest.OneByteReader(strings.NewReader(firstWord + lastWord))} {
		r := newRig(t, eventStream(io.NopCloser(body)))
		w := &leftClient{ResponseRecorder: httptest.NewRecorder()}
		if refusal := r.serveTo(t, w, post(strings.NewReader(streamed), int64(len(streamed))), wire.Chat); refusal != nil || len(w.statuses) != 1 {
			t.Errorf("%v is left to write after %v", refusal, w.statuses)
		}
		if row := r.rows(t)[0]; row.Code != string(apierror.ClientGone) || row.Status != 499 || row.UsageSource != source {
			t.Errorf("record: %d %s, usage %s, want %s", row.Status, row.Code, row.UsageSource, source)
		}
	}
}

// An answer that is only read for its usage is not given to anybody, and its usage counts.
func TestADrainedStreamIsChargedByItsUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		r := newRig(t, eventStream(reader), func(r *rig) { r.Limits.Drain = time.Minute })
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			_, _ = io.WriteString(writer, firstWord)
			leave()
			time.Sleep(time.Second)
			_, _ = io.WriteString(writer, lastWord+usageWord+doneWord)
			_ = writer.Close()
		}()
		request := post(strings.NewReader(streamed), int64(len(streamed))).WithContext(ctx)
		if refusal := r.serveTo(t, httptest.NewRecorder(), request, wire.Chat); refusal != nil {
			t.Errorf("%v is left to write", refusal)
		}
		if row := r.rows(t)[0]; row.UsageSource != "provider" || row.CompletionTokens != 4 || row.Status != 499 {
			t.Errorf("record %+v", row)
		}
	})
}

func TestAGuardedStreamShowsNothingThatIsDenied(t *testing.T) {
	denied := strings.Replace(lastWord, "lo.", " mellon ", 1)
	r := newRig(t, eventsOf(firstWord+denied+usageWord+doneWord), guarded(words(t, judge.Deny, guardrail.Output)))
	w, refusal := r.serve(t, wire.Chat, streamed)
	if strings.Contains(w.Body.String(), "mellon") {
		t.Errorf("shown: %s", w.Body)
	}
	if row := r.rows(t)[0]; row.Code != string(apierror.GuardrailBlocked) || row.Status != 422 {
		t.Errorf("%v; record: %d %s", refusal, row.Status, row.Code)
	}

	r = newRig(t, eventsOf(firstWord+denied+usageWord+doneWord), guarded(words(t, judge.Redact, guardrail.Output)))
	w, refusal = r.serve(t, wire.Chat, streamed)
	if body := w.Body.String(); refusal != nil || strings.Contains(body, "mellon") || !strings.HasSuffix(body, doneWord) {
		t.Errorf("%v: %s", refusal, body)
	}
}
