package modelcall

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	responsesBody       = `{"model":"acme/m","input":"hello"}`
	responsesAnswerBody = `{"id":"resp_up","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"message","id":"msg_1",` +
		`"role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello.","annotations":[]}]}],` +
		`"usage":{"input_tokens":3,"output_tokens":4,"total_tokens":7}}`
	chatBody = `{"model":"acme/m","messages":[{"role":"user","content":"hello"}]}`
)

// recording answers by path, and keeps what it was sent.
type recording struct {
	paths, bodies []string
	chat          string // the answer to a chat
	responses     string
}

func (p *recording) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.paths, p.bodies = append(p.paths, r.URL.Path), append(p.bodies, string(body))
	if strings.HasSuffix(r.URL.Path, "/responses") {
		return answering(200, p.responses)(r)
	}
	return answering(200, p.chat)(r)
}

// directions are the two operations at a provider with both APIs, and at one that has only the other.
var directions = []struct {
	name     string
	op       *wire.Operation
	body     string
	provider func(*provider.Config)
	path     string
	shows    []string // in the caller's answer
	limit    string   // the member that bounds the output upstream
}{
	{"chat", wire.Chat, chatBody, func(*provider.Config) {}, "/v1/chat/completions", []string{`"object":"chat.completion"`, `"content":"Hello."`}, "max_completion_tokens"},
	{"chat as responses", wire.Chat, chatBody, func(c *provider.Config) { c.ResponsesOnly = true }, "/v1/responses",
		[]string{`"object":"chat.completion"`, `"content":"Hello."`}, "max_output_tokens"},
	{"responses", wire.Responses, responsesBody, func(*provider.Config) {}, "/v1/responses", []string{`"object":"response"`, `"text":"Hello."`}, "max_output_tokens"},
	{"responses as chat", wire.Responses, responsesBody, func(c *provider.Config) { c.Translate = new(provider.Translate) }, "/v1/chat/completions",
		[]string{`"object":"response"`, `"text":"Hello."`, `"id":"resp_1"`}, "max_completion_tokens"},
}

func TestEachOperationIsAnsweredByEachKindOfProvider(t *testing.T) {
	for _, d := range directions {
		t.Run(d.name, func(t *testing.T) {
			p := &recording{chat: chatAnswerBody, responses: responsesAnswerBody}
			r := newRig(t, p, func(r *rig) { r.models.provider = newProvider(t, p, d.provider) })
			w, refusal := r.serve(t, d.op, d.body)
			if refusal != nil || w.Code != 200 || len(p.paths) != 1 || p.paths[0] != d.path || !jsontest.Has(t, p.bodies[0], `{"model":"m"}`) {
				t.Fatalf("%v: %d; sent %v %v", refusal, w.Code, p.paths, p.bodies)
			}
			for _, text := range append(d.shows, `"model":"acme/m"`) {
				if !strings.Contains(w.Body.String(), text) {
					t.Errorf("the answer has no %s: %s", text, w.Body)
				}
			}
			if strings.Contains(p.bodies[0], d.limit) {
				t.Errorf("a limit that nobody asked for: %s", p.bodies[0])
			}
			if row := r.rows(t)[0]; row.PromptTokens != 3 || row.CompletionTokens != 4 || row.UsageSource != "provider" {
				t.Errorf("record %+v", row)
			}
		})
	}
}

func TestACapIsToldToEachKindOfProvider(t *testing.T) {
	for _, d := range directions {
		p := &recording{chat: chatAnswerBody, responses: responsesAnswerBody}
		r := newRig(t, p, limited(&policy.KeyLimits{Caps: policy.Caps{Output: 10}}), func(r *rig) { r.models.provider = newProvider(t, p, d.provider) })
		if _, refusal := r.serve(t, d.op, d.body); refusal != nil {
			t.Fatalf("%s: %v", d.name, refusal)
		}
		if want := `"` + d.limit + `":10`; !strings.Contains(p.bodies[0], want) {
			t.Errorf("%s: sent %s, want %s", d.name, p.bodies[0], want)
		}
		if row := r.rows(t)[0]; row.OutputCap != 10 {
			t.Errorf("%s: the record has a cap of %d", d.name, row.OutputCap)
		}
	}
}

// A router could choose a dearer upstream than the one whose price was reserved.
func TestARouterIsToldThePriceThatWasReserved(t *testing.T) {
	const price = `"max_price":{"prompt":1,"completion":1}`
	for _, d := range directions {
		for text, told := range map[string]bool{"1usd/day": true, "1usd/day soft": false, "1M tokens/day": false} {
			p := &recording{chat: chatAnswerBody, responses: responsesAnswerBody}
			r := newRig(t, p, limited(budget(t, text)), func(r *rig) {
				r.models.provider = newProvider(t, p, func(c *provider.Config) { d.provider(c); c.Dialect = "openrouter" })
			})
			if _, refusal := r.serve(t, d.op, d.body); refusal != nil {
				t.Fatalf("%s: %v", d.name, refusal)
			}
			if got := strings.Contains(p.bodies[0], price); got != told {
				t.Errorf("%s under %s: sent %s", d.name, text, p.bodies[0])
			}
		}
	}
}

func TestAnAnswerThatCannotBeReadIsAFailure(t *testing.T) {
	for _, d := range directions {
		p := &recording{chat: "<html>", responses: "<html>"}
		r := newRig(t, p, func(r *rig) { r.models.provider = newProvider(t, p, d.provider) })
		w, refusal := r.serve(t, d.op, d.body)
		if wantRefusal(t, refusal, apierror.UpstreamError, ""); w.Body.Len() > 0 {
			t.Errorf("%s: written: %s", d.name, w.Body)
		}
	}
}

func TestACallThatATranslationCannotCarryIsRefused(t *testing.T) {
	for body, c := range map[string]struct {
		op     *wire.Operation
		change func(*provider.Config)
	}{
		strings.Replace(chatBody, `{"model"`, `{"n":2,"model"`, 1):                    {wire.Chat, func(c *provider.Config) { c.ResponsesOnly = true }},
		strings.Replace(responsesBody, `{"model"`, `{"truncation":"auto","model"`, 1): {wire.Responses, func(c *provider.Config) { c.Translate = new(provider.Translate) }},
	} {
		p := &recording{}
		r := newRig(t, p, func(r *rig) { r.models.provider = newProvider(t, p, c.change) })
		_, refusal := r.serve(t, c.op, body)
		if wantRefusal(t, refusal, apierror.UnsupportedParameter, ""); len(p.paths) > 0 {
			t.Errorf("sent %v", p.bodies)
		}
	}
}

func TestAModelsRateRefusesACall(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody), func(r *rig) {
		one := limits.Rate{Unit: limits.Requests, Limit: 1, Window: 60e9}
		r.Limits.Models = []policy.ModelLimits{{Pattern: "acme/m", Subject: limits.Subject{Name: "model:acme/m", Rates: []limits.Rate{one}}}}
	})
	if _, refusal := r.serve(t, wire.Chat, hello); refusal != nil {
		t.Fatal(refusal)
	}
	_, refusal := r.serve(t, wire.Chat, hello)
	wantRefusal(t, refusal, apierror.RateLimitExceeded, "model:acme/m")
}

func TestALimitThatCannotBeReadIsRefusedUnderACap(t *testing.T) {
	r := newRig(t, answering(200, chatAnswerBody), limited(&policy.KeyLimits{Caps: policy.Caps{Output: 10}}))
	_, refusal := r.serve(t, wire.Chat, strings.Replace(hello, `"max_tokens":100`, `"max_tokens":"many"`, 1))
	wantRefusal(t, refusal, apierror.InvalidValue, "max_tokens")
}

// What is only checked takes nothing of the model's limits.
func TestACheckTakesNothingOfTheModelsRate(t *testing.T) {
	one := limits.Rate{Unit: limits.Requests, Limit: 1, Window: 60e9}
	r := newRig(t, answering(200, `{}`), func(r *rig) {
		r.Limits.Models = []policy.ModelLimits{{Pattern: "acme/m", Subject: limits.Subject{Name: "model:acme/m", Rates: []limits.Rate{one}}}}
	})
	for range 2 {
		q := r.request(t, httptest.NewRecorder(), post(strings.NewReader(hello), int64(len(hello))))
		if err := Check(&r.Deps, q, wire.Chat, openaiAPI{}); err != nil {
			t.Fatal(err)
		}
		q.Finish()
	}
	c := r.begin(t, hello)
	defer c.req.Finish()
	if err := c.admit(t.Context()); err != nil {
		t.Fatal(err)
	}
}
