package modelcall

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// strict is a provider that refuses stream_options, as Databricks, Mistral and FastAPI say it, and with
// broken also what is left.
type strict struct {
	refusal string
	status  int
	broken  bool
	calls   []bool // whether each had stream_options
}

func (p *strict) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return nil, err
	}
	_, _ = io.Copy(io.Discard, r.Body)
	_, has := sent["stream_options"]
	p.calls = append(p.calls, has)
	if has || p.broken {
		return answering(p.status, p.refusal)(r)
	}
	answer := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}`
	if strings.HasSuffix(r.URL.Path, "/v1/completions") {
		answer = `data: {"id":"c","object":"text_completion","created":1,"model":"m","choices":[{"index":0,"text":"hello","logprobs":null,"finish_reason":"stop"}]}`
	}
	resp, err := answering(200, answer+"\n\ndata: [DONE]\n\n")(r)
	resp.Header.Set("Content-Type", "text/event-stream")
	return resp, err
}

func (p *strict) rig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, p, limited(budget(t, "1usd/day")))
	r.models.provider = newProvider(t, p, func(c *provider.Config) { c.Translate = new(provider.Translate) })
	return r
}

const unknownField = `{"error_code":"BAD_REQUEST","message":"{\"external_model_message\":{\"message\":\"json: unknown field \\\"stream_options\\\"\"}}"}`

func TestAStreamIsAskedForWithoutStreamOptionsWhereTheyAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		op            *wire.Operation
		body, refusal string
		status        int
	}{
		"chat":        {wire.Chat, `{"model":"acme/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`, unknownField, 400},
		"asked for":   {wire.Chat, `{"model":"acme/m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hello"}]}`, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted","input":true}]},"type":"invalid_request_error","param":null,"code":null}`, 422},
		"a long one":  {wire.Chat, `{"model":"acme/m","stream":true,"messages":[{"role":"user","content":"` + strings.Repeat("hello ", 9000) + `"}]}`, unknownField, 400},
		"completions": {wire.Completions, `{"model":"acme/m","stream":true,"prompt":"hello","max_tokens":9}`, unknownField, 400},
		"responses":   {wire.Responses, `{"model":"acme/m","stream":true,"input":"hello"}`, `{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`, 422},
		"messages":    {wire.Messages, messagesBody(`"stream":true,`), unknownField, 400},
	} {
		t.Run(name, func(t *testing.T) {
			p := &strict{refusal: c.refusal, status: c.status}
			r := p.rig(t)
			for range 2 {
				req := post(strings.NewReader(c.body), int64(len(c.body)))
				if c.op == wire.Messages {
					req.Header.Set("Anthropic-Version", "2023-06-01")
				}
				w := httptest.NewRecorder()
				if refusal := r.serveTo(t, w, req, c.op); refusal != nil || !strings.Contains(w.Body.String(), "hello") {
					t.Fatalf("%v %s", refusal, w.Body)
				}
			}
			if len(p.calls) != 3 || !p.calls[0] || p.calls[1] || p.calls[2] {
				t.Errorf("requests with stream_options: %v", p.calls)
			}
			for _, row := range r.rows(t) {
				if row.Status != 200 || row.Attempts != 1 || row.UsageSource != activity.UsageEstimated || row.PromptTokens == 0 || row.CompletionTokens == 0 || row.CostNano == 0 {
					t.Errorf("%+v", row)
				}
			}
		})
	}
}

// An error may quote the request: that alone proves nothing about the provider.
func TestARefusalThatOnlyNamesStreamOptionsIsNotRemembered(t *testing.T) {
	p := &strict{refusal: `{"error":{"message":"bad tools in {\"stream_options\":{}}"}}`, status: 400, broken: true}
	r := p.rig(t)
	const body = `{"model":"acme/m","stream":true,"messages":[{"role":"user","content":"hello"}]}`
	for range 2 {
		if _, refusal := r.serve(t, wire.Chat, body); refusal == nil || refusal.Code != apierror.UpstreamRejected {
			t.Error(refusal)
		}
	}
	if len(p.calls) != 4 || !p.calls[0] || p.calls[1] || !p.calls[2] || p.calls[3] {
		t.Errorf("requests with stream_options: %v", p.calls)
	}
	if spent := r.balance(t).Spent; spent != 0 {
		t.Errorf("spent %d", spent)
	}
	if _, refusal := r.serve(t, wire.Chat, strings.Replace(body, `"stream":true,`, "", 1)); refusal == nil || len(p.calls) != 5 {
		t.Errorf("whole: %v, %d requests", refusal, len(p.calls))
	}
}
