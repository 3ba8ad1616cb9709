package modelcall

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// inJSON is a whole answer of a provider that says so.
func inJSON(body io.Reader) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, ContentLength: -1, Body: io.NopCloser(body)}, nil
	}
}

func TestAWholeAnswerToARequestForAStreamIsStreamed(t *testing.T) {
	r := newRig(t, inJSON(strings.NewReader(chatAnswerBody)), limited(budget(t, "1usd/day")))
	w, refusal := r.serve(t, wire.Chat, streamed)
	body := w.Body.String()
	if refusal != nil || w.Code != 200 || w.Header().Get("Content-Type") != "text/event-stream" || !strings.HasSuffix(body, doneWord) ||
		!jsontest.Has(t, body, `{"model":"acme/m"}`) || !jsontest.Has(t, body, `{"finish_reason":"stop"}`) {
		t.Errorf("%v: %d %v\n%s", refusal, w.Code, w.Header(), body)
	}
	if row := r.rows(t)[0]; row.Status != 200 || !row.Stream || row.UsageSource != "provider" || row.PromptTokens == 0 || row.FinishReason != "stop" {
		t.Errorf("record %+v", row)
	}
}

// What becomes a stream is translated like one, in all directions.
func TestAWholeAnswerIsTranslatedLikeAStream(t *testing.T) {
	chatOnly := func(c *provider.Config) { c.Translate = &provider.Translate{} }
	responsesOnly := func(c *provider.Config) { c.ResponsesOnly = true }
	for _, c := range []struct {
		name, body, answer, last string
		op                       *wire.Operation
		change                   func(*provider.Config)
	}{
		{"chat of Responses", streamed, responsesAnswerBody, doneWord, wire.Chat, responsesOnly},
		{"Responses of chat", `{"model":"acme/m","input":"hello","stream":true}`, chatAnswerBody, `"type":"response.completed"`, wire.Responses, chatOnly},
		{"Responses", `{"model":"acme/m","input":"hello","stream":true}`, responsesAnswerBody, `"type":"response.completed"`, wire.Responses, nil},
	} {
		r := newRig(t, answering(200, `{}`))
		r.models.provider = newProvider(t, inJSON(strings.NewReader(c.answer)), c.change)
		w, refusal := r.serve(t, c.op, c.body)
		if body := w.Body.String(); refusal != nil || !strings.Contains(body, c.last) || !strings.Contains(body, "Hello.") {
			t.Errorf("%s: %v\n%s", c.name, refusal, body)
		}
	}
}

// A body that is cut, is too slow, or has an error is a failure, and another target may be asked.
func TestAWholeAnswerThatFailsIsNoStream(t *testing.T) {
	for _, c := range []struct {
		name, source string
		body         io.Reader
		text         string
	}{
		{"an error", "none", strings.NewReader(`{"error":{"message":"out of memory","type":"server_error"}}`), "failed"},
		{"half", "estimated", strings.NewReader(chatAnswerBody[:40]), "not JSON"},
		{"a broken connection", "estimated", io.MultiReader(strings.NewReader(chatAnswerBody[:40]), iotest.ErrReader(errors.New("reset"))), "broke off"},
		{"nothing", "none", strings.NewReader(""), "not JSON"},
		{"another API", "provider", strings.NewReader(responsesAnswerBody), "no chat completion"},
	} {
		r := newRig(t, inJSON(c.body))
		w, refusal := r.serve(t, wire.Chat, streamed)
		if wantRefusal(t, refusal, apierror.UpstreamError, c.text); w.Body.Len() > 0 {
			t.Errorf("%s: written: %s", c.name, w.Body)
		}
		if row := r.rows(t)[0]; row.Status != 502 || row.UsageSource != c.source {
			t.Errorf("%s: record: %d, usage %s", c.name, row.Status, row.UsageSource)
		}
	}
}

func TestAWholeAnswerThatStopsIsAnIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		r := newRig(t, inJSON(reader))
		go func() {
			_, _ = io.WriteString(writer, chatAnswerBody[:40])
			time.Sleep(2 * r.Timeouts.Idle) // the bubble's clock
			_ = writer.CloseWithError(errors.New("gone"))
		}()
		began := time.Now()
		w, _ := r.serve(t, wire.Chat, streamed)
		if row := r.rows(t)[0]; row.Status != 502 || time.Since(began) < r.Timeouts.Idle {
			t.Errorf("after %s: record %d %s\n%s", time.Since(began), row.Status, row.Code, w.Body)
		}
		time.Sleep(2 * r.Timeouts.Idle)
	})
}

func TestAWholeAnswerIsGuardedLikeAStream(t *testing.T) {
	denied := strings.Replace(responsesAnswerBody, "Hello.", "mellon", 1)
	r := newRig(t, inJSON(strings.NewReader(denied)), guarded(words(t, judge.Redact, guardrail.Output)))
	w, refusal := r.serve(t, wire.Responses, `{"model":"acme/m","input":"hello","stream":true}`)
	if body := w.Body.String(); refusal != nil || strings.Contains(body, "mellon") || !strings.Contains(body, "response.completed") {
		t.Errorf("%v: %s", refusal, body)
	}
}
