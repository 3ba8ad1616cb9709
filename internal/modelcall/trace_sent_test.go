package modelcall

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
)

// A provider gets the trace only if its configuration says so, and nothing else that a caller sent.
func TestOnlyAProviderThatTakesItGetsTheTrace(t *testing.T) {
	for _, takes := range []bool{false, true} {
		for _, sampled := range []bool{false, true} {
			var sent http.Header
			s, r := newTraces(), newRig(t, roundTrip(nil))
			r.models.provider = newProvider(t, roundTrip(func(req *http.Request) (*http.Response, error) {
				sent = req.Header.Clone()
				return answering(200, chatAnswerBody)(req)
			}), func(c *provider.Config) { c.TraceContext = takes })
			req := post(strings.NewReader(hello), int64(len(hello)))
			for _, name := range []string{"Traceparent", "Tracestate", "Baggage"} {
				req.Header.Set(name, "of-the-caller")
			}
			end := func() {}
			if sampled {
				req, end = s.request(req)
			} else {
				req = req.WithContext(trace.ContextWithRemoteSpanContext(req.Context(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})))
			}
			_ = r.serveTo(t, httptest.NewRecorder(), req, wire.Chat)
			end()
			want := ""
			switch {
			case takes && sampled:
				span := s.exporter.GetSpans()[0].SpanContext // the attempt ended first
				want = "00-" + span.TraceID().String() + "-" + span.SpanID().String() + "-01"
			case takes:
				want = "00-01000000000000000000000000000000-0200000000000000-00"
			}
			if got := sent.Get("Traceparent"); got != want || sent.Get("Tracestate")+sent.Get("Baggage") != "" {
				t.Errorf("takes %v, sampled %v: sent %q, want %q: %v", takes, sampled, got, want, sent)
			}
			if row := r.rows(t)[0]; (row.TraceID != "") != sampled {
				t.Errorf("the record has the trace %q", row.TraceID)
			}
		}
	}
}

// Requests that are not model calls have attributes on the server's span.
func TestADesktopsRequestIsOnTheServersSpan(t *testing.T) {
	s, r := newTraces(), newRig(t, roundTrip(nil))
	req, end := s.request(post(strings.NewReader(""), 0))
	q := r.request(t, httptest.NewRecorder(), req)
	q.SetWorkstation("desk1")
	q.Trace.SetSession("vnc-7")
	q.Outcome.Succeed(204)
	q.Finish()
	end()
	wantAttributes(t, s.span(t, "SERVER", 0), "gatehouse.request_id=req_1", "gatehouse.tenant=default", "gatehouse.key=dev",
		"gatehouse.workstation=desk1", "gatehouse.session=vnc-7")
}

// What callers and providers write is bounded, valid and without secrets.
func TestSpansHaveNoSecretsAndNoContent(t *testing.T) {
	const canary, invented = "sk-canary-0123456789abcdef", "acme/an-invented-name-"
	answer := strings.NewReplacer("chatcmpl-1", "chatcmpl-"+canary, `"model":"m"`, `"model":"m-`+secret+`"`, "Hello.", "the answer", `"stop"`, `"`+canary+`"`).Replace(chatAnswerBody)
	for _, status := range []int{200, 400, 401} {
		s, r := newTraces(), newRig(t, answering(status, answer), unknownModels, func(r *rig) { r.Redactor = redact.New([]string{canary}, nil) })
		s.serve(t, r, wire.Chat, `{"model":"`+invented+strings.Repeat("\u00e9", 400)+`","messages":[{"role":"user","content":"the prompt"}],"user":"the user"}`, "Authorization", "Bearer "+secret)
		s.serve(t, r, wire.Chat, strings.Replace(hello, "acme/m", "acme/"+canary, 1))
		if !strings.Contains(s.tree(), "\n  chat client") {
			t.Errorf("status %d: the name of the span must not have an invented model:\n%s", status, s.tree())
		}
		for _, span := range s.exporter.GetSpans() {
			dump := span.Name + span.Status.Description
			for key, value := range attributes(span) {
				dump += "\n" + key + "=" + value
				if len(value) > 200+len("\uFFFD") || strings.ToValidUTF8(value, "") != value {
					t.Errorf("%s has %d bytes, or is not UTF-8: %q", key, len(value), value)
				}
			}
			for _, taboo := range []string{canary, secret, "the prompt", "the answer", "the user"} {
				if strings.Contains(dump, taboo) {
					t.Errorf("status %d: a span has %q:\n%s", status, taboo, dump)
				}
			}
		}
	}
}

// unknownModels makes the rig take any model, none of which the catalog has.
func unknownModels(r *rig) { r.Models = inventedModels{&r.models} }

type inventedModels struct{ *testModels }

func (m inventedModels) Find(key *keys.Key, name string) (Found, error) {
	found, err := m.testModels.Find(key, name)
	if err == nil {
		found.Groups[0][0].Model.Known = false
	}
	return found, err
}

// A request that is sent once more on a new connection is two requests.
func TestARequestThatIsSentTwiceHasTwoSpans(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		upstream := newServer(faults.New())
		defer upstream.stop()
		s, r := newTraces(), newRig(t, roundTrip(nil))
		r.models.provider = newProvider(t, upstream.client, nil)
		if _, refusal := r.serve(t, wire.Chat, strings.Replace(hello, "acme/m", "acme/echo", 1)); refusal != nil {
			t.Fatal(refusal)
		}
		s.serve(t, r, wire.Chat, strings.Replace(hello, "acme/m", "acme/no-answer", 1))
		s.wantTree(t, "SERVER server error=upstream_error", "  chat acme/no-answer client error=upstream_error",
			"    POST client error=stale_connection", "    POST client error=upstream_error")
		if again := s.span(t, "POST", 1); again["http.request.resend_count"] != "1" {
			t.Errorf("%v", again)
		}
	})
}

func TestOperationsHaveTheNamesOfTheConventions(t *testing.T) {
	for got, want := range map[string]attribute.KeyValue{
		wire.Chat.Span:       semconv.GenAIOperationNameChat,
		wire.Embeddings.Span: semconv.GenAIOperationNameEmbeddings,
		"chat_completions":   semconv.OpenAIAPITypeChatCompletions,
		"responses":          semconv.OpenAIAPITypeResponses,
	} {
		if got != want.Value.AsString() {
			t.Errorf("%s is %q", want.Key, got)
		}
	}
}
