package modelcall

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/judge"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
)

func TestAWholeCallIsOneSpanWithOneAttempt(t *testing.T) {
	s, r := newTraces(), newRig(t, answering(200, strings.Replace(chatAnswerBody, `"model":"m"`, `"model":"m-2026"`, 1)))
	s.serve(t, r, wire.Chat, `{"model":"acme/m","messages":[],"max_tokens":100,"temperature":0.5,"top_p":1e-1,"n":2,"seed":-7}`)
	s.wantTree(t, "SERVER server", "  chat acme/m client", "    POST client")
	wantAttributes(t, s.span(t, "chat acme/m", 0),
		"gen_ai.operation.name=chat", "gen_ai.provider.name=acme", "gen_ai.request.model=acme/m", "gen_ai.request.stream=false",
		"gen_ai.request.max_tokens=100", "gen_ai.request.temperature=0.5", "gen_ai.request.top_p=0.1", "gen_ai.request.choice.count=2",
		"gen_ai.request.seed=-7", "gen_ai.response.id=chatcmpl-1", "gen_ai.response.model=m-2026", `gen_ai.response.finish_reasons=["stop"]`,
		"gen_ai.usage.input_tokens=3", "gen_ai.usage.output_tokens=4", "openai.api.type=chat_completions",
		"server.address=acme.invalid", "server.port=80",
		"gatehouse.request_id=req_1", "gatehouse.tenant=default", "gatehouse.key=dev", "gatehouse.cost_usd=7e-06", "gatehouse.priced=true",
		"gatehouse.attempts=1", "gatehouse.usage_source=provider")
	wantAttributes(t, s.span(t, "POST", 0),
		"http.request.method=POST", "server.address=acme.invalid", "server.port=80", "http.response.status_code=200", "gatehouse.target=acme/m")
	wantAttributes(t, s.span(t, "SERVER", 0), "gatehouse.request_id=req_1", "gatehouse.tenant=default", "gatehouse.key=dev")
	if row, id := r.rows(t)[0], s.exporter.GetSpans()[0].SpanContext.TraceID().String(); row.TraceID != id {
		t.Errorf("the record has the trace %q, want %q", row.TraceID, id)
	}
}

func TestASpanOfAStreamHasTheTimeToItsFirstChunk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r := newTraces(), newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			time.Sleep(1500 * time.Millisecond)
			return eventsOf(firstWord + lastWord + usageWord + doneWord)(req)
		}))
		s.serve(t, r, wire.Chat, strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1))
		span := s.span(t, "chat acme/m", 0)
		if span["gen_ai.response.time_to_first_chunk"] != "1.5" || span["gen_ai.request.stream"] != "true" || span["error.type"] != "" {
			t.Errorf("%v", span)
		}
	})
}

// Each API has its operation, and the API that the provider was asked.
func TestEachAPIHasItsOperation(t *testing.T) {
	const response = `{"id":"resp_1","object":"response","status":"completed","model":"m-2","output":[],"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}`
	version := []string{"Anthropic-Version", "2023-06-01"}
	for _, c := range []struct {
		name, body, answer string
		op                 *wire.Operation
		provider           func(*provider.Config)
		span, api, model   string
	}{
		{"responses", `{"model":"acme/m","input":"hi","max_output_tokens":9}`, response, wire.Responses, nil, "chat acme/m", "responses", "m-2"},
		{"responses as chat", `{"model":"acme/m","input":"hi"}`, chatAnswerBody, wire.Responses, func(c *provider.Config) { c.Translate = new(provider.Translate) }, "chat acme/m", "chat_completions", "m"},
		{"messages", say, said, wire.Messages, func(c *provider.Config) { c.Dialect = provider.Anthropic }, "chat acme/m", "", "m"},
		{"messages as chat", say, chatAnswerBody, wire.Messages, nil, "chat acme/m", "chat_completions", "m"},
		{"chat as messages", hello, said, wire.Chat, func(c *provider.Config) { c.Dialect = provider.Anthropic }, "chat acme/m", "", "m"},
		{"embeddings", embed, embeddingsBody, wire.Embeddings, nil, "embeddings acme/e", "", "e"},
	} {
		s, r := newTraces(), newRig(t, answering(200, c.answer))
		r.models.provider = newProvider(t, answering(200, c.answer), c.provider)
		s.serve(t, r, c.op, c.body, version...)
		s.wantTree(t, "SERVER server", "  "+c.span+" client", "    POST client")
		span := s.span(t, c.span, 0)
		if operation, _, _ := strings.Cut(c.span, " "); span["openai.api.type"] != c.api || span["gen_ai.response.model"] != c.model || span["gen_ai.operation.name"] != operation {
			t.Errorf("%s: %v", c.name, span)
		}
	}
}

func TestTheEventsOfAStreamNameItsModel(t *testing.T) {
	for event, want := range map[string]string{
		`{"id":"c","object":"chat.completion.chunk","model":"m-1"}`:       "m-1",
		`{"type":"response.created","response":{"id":"r","model":"m-2"}}`: "m-2",
		`{"type":"message_start","message":{"id":"m","model":"m-3"}}`:     "m-3",
		`{"type":"ping"}`: "",
		`{"message":{"message":{"model":"too deep"}}}`: "",
		`[DONE]`:      "",
		`{"model":7}`: "",
		`{"choices":[{"message":{"model":"not the answer's"}}]}`: "",
	} {
		if got := modelOf([]byte(event)); got != want {
			t.Errorf("%s: %q, want %q", event, got, want)
		}
	}
}

// A call that fails over has a span for each request; the call itself did not fail.
func TestEachAttemptHasASpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, f := newTraces(), newFleet(t, families[0], []string{"err-500", "echo"})
		f.ask(t, false, s.change)
		s.end()
		s.wantTree(t, "SERVER server", "  chat fast client", "    POST client error=upstream_error", "    POST client")
		wantAttributes(t, s.span(t, "POST", 0), "http.request.method=POST", "server.address=acme.invalid", "server.port=80",
			"http.response.status_code=500", "error.type=upstream_error", "gatehouse.target=first/err-500")
		wantAttributes(t, s.span(t, "POST", 1), "http.request.method=POST", "server.address=acme.invalid", "server.port=80",
			"http.response.status_code=200", "http.request.resend_count=1", "gatehouse.target=second/echo")
		if call := s.span(t, "chat fast", 0); call["gatehouse.attempts"] != "2" || call["gen_ai.provider.name"] != "second" {
			t.Errorf("%v", call)
		}
	})
}

// Time limits, broken answers and a panic end all spans, with the code of the failure.
func TestFailuresAreErrorsOfSpans(t *testing.T) {
	for behaviour, want := range map[string][3]string{ // of server, call, attempt
		"hang":           {" error=upstream_timeout", " error=upstream_timeout", " error=timeout_first_byte"},
		"cut-mid-stream": {" error=upstream_error", " error=upstream_error", " error=upstream_error"},
		"err-429":        {"", " error=upstream_rate_limited", " error=upstream_rate_limited"},
		"panic":          {" error=internal", " error=internal", " error=internal"},
	} {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s, f := newTraces(), newFleet(t, families[0], []string{behaviour})
				if behaviour == "panic" {
					f.panicAt = 1
				}
				func() {
					defer func() { _ = recover() }()
					f.ask(t, stream, s.change)
				}()
				s.end()
				tree := s.tree()
				first, _, _ := strings.Cut(tree, "\n")
				if first != "SERVER server"+want[0] || !strings.Contains(tree, "\n  chat fast client"+want[1]+"\n    POST client"+want[2]+"\n") {
					t.Errorf("%s, stream %v:\n%s", behaviour, stream, tree)
				}
				if behaviour != "panic" && s.span(t, "SERVER", 0)["error.type"] != s.span(t, "chat fast", 0)["error.type"] {
					t.Errorf("%s: the two spans have different errors", behaviour)
				}
			})
		}
	}
}

func TestAClientThatLeavesEndsTheSpans(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	s, r := newTraces(), newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		leave()
		<-req.Context().Done()
		return nil, req.Context().Err()
	}))
	req, end := s.request(post(strings.NewReader(hello), int64(len(hello))).WithContext(ctx))
	_ = r.serveTo(t, httptest.NewRecorder(), req, wire.Chat)
	end()
	s.wantTree(t, "SERVER server", "  chat acme/m client error=client_closed_request", "    POST client error=client_closed_request")
}

// A call that is refused before it reaches a provider has no span of its own.
func TestARefusedCallIsOnTheServersSpan(t *testing.T) {
	s, r := newTraces(), newRig(t, answering(200, chatAnswerBody))
	s.serve(t, r, wire.Chat, strings.Replace(hello, "acme/m", "acme/hidden", 1))
	s.wantTree(t, "SERVER server")
	wantAttributes(t, s.span(t, "SERVER", 0), "gatehouse.request_id=req_1", "gatehouse.tenant=default", "gatehouse.key=dev",
		"gatehouse.code=model_not_callable", "error.type=model_not_callable", "gen_ai.request.model=acme/hidden")
}

func TestGuardrailsAreEvents(t *testing.T) {
	const says = `{"model":"acme/m","messages":[{"role":"user","content":"mellon"}]}`
	answer := strings.Replace(chatAnswerBody, "Hello.", "mellon", 1)
	const refused = " event=gatehouse.guardrail,words,deny,words"
	for _, c := range []struct {
		action judge.Action
		on     guardrail.Direction
		stream bool
		want   []string
	}{
		{judge.Deny, guardrail.Input, false, []string{"SERVER server" + refused}},
		{judge.Redact, guardrail.Input, false, []string{"SERVER server event=gatehouse.guardrail,words,redact,words", "  chat acme/m client", "    POST client"}},
		{judge.Deny, guardrail.Output, false, []string{"SERVER server", "  chat acme/m client error=guardrail_blocked" + refused, "    POST client"}},
		{judge.Deny, guardrail.Output, true, []string{"SERVER server", "  chat acme/m client error=guardrail_blocked" + refused, "    POST client"}},
		{judge.Redact, guardrail.Output, false, []string{"SERVER server", "  chat acme/m client event=gatehouse.guardrail,words,redact,words", "    POST client"}},
	} {
		transport, body := answering(200, answer), says
		if c.stream {
			transport, body = eventsOf(strings.Replace(firstWord, "Hel", "mellon ", 1)+lastWord+usageWord+doneWord), strings.Replace(says, "{", `{"stream":true,`, 1)
		}
		s, r := newTraces(), newRig(t, transport, guarded(words(t, c.action, c.on)))
		s.serve(t, r, wire.Chat, body)
		s.wantTree(t, c.want...)
	}
}

func TestAGuardrailThatCannotBeAskedIsAnEvent(t *testing.T) {
	hook, err := judge.Compile(judge.Spec{Name: "hook", On: guardrail.Input, Webhook: &judge.Webhook{
		URL: "https://moderator.example/", Transport: answering(500, ""),
	}})
	if err != nil {
		t.Fatal(err)
	}
	s, r := newTraces(), newRig(t, answering(200, chatAnswerBody), guarded(hook))
	s.serve(t, r, wire.Chat, hello)
	s.wantTree(t, "SERVER server error=guardrail_unavailable event=gatehouse.guardrail,hook,unavailable")
}

// A wait for a slot is a span, also one that ends with a refusal; a call that did not wait has none.
func TestAWaitInTheQueueIsASpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneAtOnce(t, time.Minute)
		for wait, want := range map[time.Duration]string{
			3 * time.Second: "", 2 * time.Minute: " error=concurrency_limit_exceeded",
		} {
			s, first := newTraces(), r.begin(t, hello)
			if err := first.enter(); err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(wait, first.req.Finish)
			s.serve(t, r, wire.Chat, hello)
			time.Sleep(time.Hour)
			lines := strings.Split(s.tree(), "\n")
			if lines[1] != "  gatehouse.queue internal"+want {
				t.Errorf("spans\n%s", s.tree())
			}
			for _, span := range s.exporter.GetSpans() {
				if took := span.EndTime.Sub(span.StartTime); span.Name == tracing.SpanQueue && took != min(wait, time.Minute) {
					t.Errorf("the wait took %s", took)
				}
			}
		}
		s := newTraces()
		s.serve(t, r, wire.Chat, hello)
		if strings.Contains(s.tree(), tracing.SpanQueue) {
			t.Errorf("a call that did not wait has a span of the queue:\n%s", s.tree())
		}
	})
}

// The wait for the slots of a model is one, too.
func TestAWaitForAModelIsASpan(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := limits.Subject{Name: "model:acme/m", Concurrency: limits.Concurrency{Limit: 1, Queue: 10, Wait: time.Minute}}
		s, r := newTraces(), newRig(t, answering(200, chatAnswerBody), func(r *rig) {
			r.Limits.Models = []policy.ModelLimits{{Pattern: "acme/m", Subject: one}}
		})
		first := r.begin(t, hello)
		if err := first.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, first.req.Finish)
		s.serve(t, r, wire.Chat, hello)
		s.wantTree(t, "SERVER server", "  gatehouse.queue internal", "  chat acme/m client", "    POST client")
	})
}
