package modelcall

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
)

// streaming64 answers with an event stream.
func streaming64(events string) roundTrip {
	return eventStream(io.NopCloser(strings.NewReader(events)))
}

func eventStream(body io.ReadCloser) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body}, nil
	}
}

const (
	streamed  = `{"model":"acme/m","stream":true,"messages":[{"role":"user","content":"hello"}],"max_tokens":100}`
	firstWord = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}` + "\n\n"
	lastWord  = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"lo."},"finish_reason":"stop"}]}` + "\n\n"
	usageWord = `data: {"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}}` + "\n\n"
	doneWord  = "data: [DONE]\n\n"
)

func TestAStreamIsForwardedToItsEnd(t *testing.T) {
	r := newRig(t, streaming64(firstWord+lastWord+usageWord+doneWord))
	w, refusal := r.serve(t, Chat, streamed)
	body := w.Body.String()
	if refusal != nil || w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream" ||
		!strings.Contains(body, `"Hel"`) || !strings.HasSuffix(body, doneWord) || strings.Count(body, `"model":"acme/m"`) != 2 {
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
			r := newRig(t, streaming64(c.events))
			w, refusal := r.serve(t, Chat, streamed)
			if c.status == 0 {
				wantRefusal(t, refusal, c.code, "")
				if w.Body.Len() > 0 {
					t.Errorf("written: %s", w.Body)
				}
			} else if refusal != nil || !strings.Contains(w.Body.String(), `"error":`) || strings.Contains(w.Body.String(), "[DONE]") {
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
	_, refusal := r.serve(t, Chat, streamed)
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
		w, refusal := r.serve(t, Chat, streamed)
		body := w.Body.String()
		before, after, _ := strings.Cut(body, `"Hel"`)
		// At 20, 35 and 50 s, and at 65 and 80 s; 50 is the time of the first event itself.
		if n, m := strings.Count(before, ": keep-alive\n"), strings.Count(after, ": keep-alive\n"); refusal != nil || n < 2 || n > 3 || m != 2 {
			t.Errorf("%v: %d comments before the first event and %d after it", refusal, n, m)
		}
	})
}

// After 200 was sent for a comment, a failure is an event.
func TestAFailureAfterTheCommitTimeIsAnEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, roundTrip(func(*http.Request) (*http.Response, error) {
			time.Sleep(30 * time.Second)
			return answering(500, `{"error":{"message":"broken"}}`)(nil)
		}))
		w, refusal := r.serve(t, Chat, streamed)
		if refusal != nil || w.Code != 200 || !strings.Contains(w.Body.String(), `"error":`) {
			t.Errorf("%v: %d %s", refusal, w.Code, w.Body)
		}
		if row := r.rows(t)[0]; row.Status != 502 {
			t.Errorf("the record has %d", row.Status)
		}
	})
}

// failingWriter is a client that has left.
type failingWriter struct{ *httptest.ResponseRecorder }

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAClientThatLeavesAStreamIsRecorded(t *testing.T) {
	r := newRig(t, streaming64(firstWord+lastWord+usageWord+doneWord))
	c := r.beginWith(t, failingWriter{httptest.NewRecorder()}, post(strings.NewReader(streamed), int64(len(streamed))))
	if err := c.Serve(Chat, openaiAPI{}); err != nil {
		c.Fail(apierror.From(err))
	}
	c.Finish()
	if row := r.rows(t)[0]; row.Code != string(apierror.ClientGone) || row.Status != 499 {
		t.Errorf("record: %d %s", row.Status, row.Code)
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
		c := r.beginWith(t, httptest.NewRecorder(), post(strings.NewReader(streamed), int64(len(streamed))).WithContext(ctx))
		err := c.Serve(Chat, openaiAPI{})
		wantRefusal(t, err, apierror.ClientGone, "")
		c.Fail(apierror.From(err))
		c.Finish()
		if row := r.rows(t)[0]; row.UsageSource != "provider" || row.CompletionTokens != 4 || row.Status != 499 {
			t.Errorf("record %+v", row)
		}
	})
}

func TestAGuardedStreamShowsNothingThatIsDenied(t *testing.T) {
	denied := strings.Replace(lastWord, "lo.", " mellon ", 1)
	r := newRig(t, streaming64(firstWord+denied+usageWord+doneWord), guarded(words(t, guardrail.Deny, guardrail.Output)))
	w, refusal := r.serve(t, Chat, streamed)
	if strings.Contains(w.Body.String(), "mellon") {
		t.Errorf("shown: %s", w.Body)
	}
	if row := r.rows(t)[0]; row.Code != string(apierror.GuardrailBlocked) || row.Status != 422 {
		t.Errorf("%v; record: %d %s", refusal, row.Status, row.Code)
	}

	r = newRig(t, streaming64(firstWord+denied+usageWord+doneWord), guarded(words(t, guardrail.Redact, guardrail.Output)))
	w, refusal = r.serve(t, Chat, streamed)
	if body := w.Body.String(); refusal != nil || strings.Contains(body, "mellon") || !strings.HasSuffix(body, doneWord) {
		t.Errorf("%v: %s", refusal, body)
	}
}
