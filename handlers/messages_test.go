package handlers

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

const (
	say = `{"model":"acme/m","max_tokens":64,"new_field":{"x":1},"messages":[{"role":"user","content":"hello"}]}`

	message = `{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","stop_sequence":null,` +
		`"usage":{"input_tokens":7,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":8}}`

	messageEvents = `event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type":"ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":8}}

event: message_stop
data: {"type":"message_stop"}

`
)

// anthropicProvider answers as Anthropic does and keeps what it was sent.
type anthropicProvider struct {
	target, body string
	header       http.Header
}

func (p *anthropicProvider) roundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	p.target, p.body, p.header = r.URL.RequestURI(), string(body), r.Header
	var asked struct{ Stream bool }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(p.target, "/count_tokens"):
		return answering(200, "application/json", `{"input_tokens":11}`)(r)
	case asked.Stream:
		return answering(200, "text/event-stream", messageEvents)(r)
	}
	return answering(200, "application/json", message)(r)
}

// asClaude sends a request as Anthropic's SDKs do.
func asClaude(t testing.TB, g *gateway.Gateway, method, target, key, body string, header ...string) *answer {
	t.Helper()
	r := newTestRequest(method, target, "", body)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	if key != "" {
		r.Header.Set("X-Api-Key", secretOf(key))
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return send(t, &Gatehouse{gateway: g}, r)
}

func TestMessagesPassToAProviderThatHasThem(t *testing.T) {
	for _, path := range []string{"/v1/messages", "/api/v1/messages"} {
		for _, stream := range []bool{false, true} {
			var acme anthropicProvider
			g := startGateway(t, setup{Provider: acme.roundTrip, Dialect: provider.Anthropic})
			body, want, media := say, strings.Replace(message, `"m"`, `"acme/m"`, 1), "application/json"
			if stream {
				body, want, media = streamed(say), strings.Replace(messageEvents, `"m"`, `"acme/m"`, 1), "text/event-stream"
			}
			a := asClaude(t, g, "POST", path+"?beta=true&trace=1", "chat", body, "Anthropic-Beta", "x-2026,y-2026", "X-Secret", "mine")
			if a.Code != 200 || a.Header().Get("Content-Type") != media || a.Body.String() != want {
				t.Errorf("%s: %d %v\n%s\nwant\n%s", path, a.Code, a.Header(), a.Body, want)
			}
			if sent := strings.Replace(body, "acme/m", "m", 1); acme.body != sent || acme.target != "/v1/messages?beta=true" {
				t.Errorf("sent to %s: %s\nwant %s", acme.target, acme.body, sent)
			}
			if h := acme.header; h.Get("Anthropic-Version") != "2023-06-01" || h.Get("Anthropic-Beta") != "x-2026,y-2026" || h.Get("X-Secret") != "" || h.Get("X-Api-Key") != "" {
				t.Errorf("sent %v", h)
			}
			if id := a.Header().Get("Request-Id"); id == "" || id != a.Header().Get("X-Request-Id") {
				t.Errorf("%v", a.Header())
			}
			found := rows(t, g)
			if len(found) != 1 {
				t.Fatalf("%d rows", len(found))
			}
			if row := found[0]; row.Route != "POST /v1/messages" || row.Family != "anthropic" || row.PromptTokens != 12 || row.CompletionTokens != 8 ||
				row.CachedTokens != 3 || row.CostNano != 20_000 || row.Stream != stream || row.FinishReason != "stop" || row.NativeFinishReason != "end_turn" || row.UpstreamID != "msg_1" {
				t.Errorf("row %+v", row)
			}
		}
	}
}

func TestKeysOfTheMessagesFamily(t *testing.T) {
	g := startGateway(t, setup{Dialect: provider.Anthropic, Provider: new(anthropicProvider).roundTrip})
	key, other := secretOf("chat"), secretOf("models")
	for _, c := range []struct {
		path, apiKey, bearer string
		status               int
	}{
		{"/v1/messages", key, "", 200},
		{"/v1/messages", "", key, 200},
		{"/v1/messages", key, key, 200},
		{"/v1/messages", key, other, 401},
		{"/v1/messages", "sk-ant-mine", key, 401},
		{"/v1/messages", "", "", 401},
		{"/v1/messages", other, "", 403},
		{"/v1/messages/count_tokens", key, "", 200},
		{"/v1/messages/count_tokens", other, "", 403},
		{"/v1/key", "", "", 404},
		{"/api/v1/key", key, "", 200},
		{"/api/v1/key", "for-a-backend", key, 200},
	} {
		method, body := "POST", say
		if strings.HasSuffix(c.path, "/key") {
			method, body = "GET", ""
		}
		header := []string{"X-Api-Key", c.apiKey}
		if c.bearer != "" {
			header = append(header, "Authorization", "Bearer "+c.bearer)
		}
		a := asClaude(t, g, method, c.path, "", body, header...)
		if a.Code != c.status {
			t.Errorf("%+v: %d %s", c, a.Code, a.Body)
		}
		if a.Code >= 400 && (a.At(t, "type") != "error" || a.At(t, "error", "type") == nil || a.At(t, "request_id") != a.Header().Get("X-Request-Id")) {
			t.Errorf("%+v: %s", c, a.Body)
		}
	}
}

func TestErrorsOfTheMessagesFamily(t *testing.T) {
	g := startGateway(t, setup{Dialect: provider.Anthropic, Provider: answering(529, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)})
	for _, c := range []struct {
		method, path, body, has string
		status                  int
		typ, code               string
	}{
		{"POST", "/v1/messages", say, "is overloaded", 503, "overloaded_error", "upstream_overloaded"},
		{"POST", "/v1/messages", streamed(say), "is overloaded", 503, "overloaded_error", "upstream_overloaded"},
		{"POST", "/v1/messages", `{`, "not acceptable JSON", 400, "invalid_request_error", "invalid_json"},
		{"POST", "/v1/messages", strings.Replace(say, "acme/m", "acme/x", 1), "does not exist", 404, "not_found_error", "model_not_found"},
		{"GET", "/v1/messages", "", "use POST", 405, "invalid_request_error", "method_not_allowed"},
		{"POST", "/v1/messages/batches", say, "unknown URL", 404, "not_found_error", "unknown_url"},
		{"POST", "/v1/v1/messages", say, "must not end in /v1", 404, "not_found_error", "unknown_url"},
	} {
		a := asClaude(t, g, c.method, c.path, "chat", c.body)
		message, _ := a.At(t, "error", "message").(string)
		if a.Code != c.status || a.At(t, "error", "type") != c.typ || a.At(t, "error", "details", "error_code") != c.code || !strings.Contains(message, c.has) {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Code, a.Body)
		}
		if retry := a.Header().Get("Retry-After"); (retry != "") != (c.status == 503) {
			t.Errorf("%s %s: Retry-After %q", c.method, c.path, retry)
		}
	}
}

// Claude Code asks again after a refusal that does not say it is final.
func TestAUsedUpBudgetEndsAConversation(t *testing.T) {
	b, err := limits.ParseBudget("0.000001usd/day")
	must(t, err)
	g := startGateway(t, setup{Dialect: provider.Anthropic, Limits: limitedTo("chat", limits.Subject{Budgets: []limits.Budget{b}})})
	a := asClaude(t, g, "POST", "/v1/messages", "chat", say)
	if a.Code != 402 || a.At(t, "error", "type") != "billing_error" || a.Header().Get("X-Should-Retry") != "false" {
		t.Errorf("%d %v %s", a.Code, a.Header(), a.Body)
	}
}

func TestModelsOfTheMessagesFamily(t *testing.T) {
	g := startGateway(t, setup{})
	item := func(id string) string {
		return `{"type":"model","id":"acme/` + id + `","display_name":"` + id + `","created_at":"1970-01-01T00:00:00Z"}`
	}
	for path, want := range map[string]string{
		"/v1/models?limit=1000":             `{"data":[` + item("m") + `,` + item("n") + `],"has_more":false,"first_id":"acme/m","last_id":"acme/n"}`,
		"/v1/models?limit=1":                `{"data":[` + item("m") + `],"has_more":true,"first_id":"acme/m","last_id":"acme/m"}`,
		"/v1/models?after_id=acme/m":        `{"data":[` + item("n") + `],"has_more":false,"first_id":"acme/n","last_id":"acme/n"}`,
		"/v1/models?after_id=acme/n":        `{"data":[],"has_more":false,"first_id":null,"last_id":null}`,
		"/v1/models?after_id=acme/lost":     `{"data":[` + item("m") + `,` + item("n") + `],"has_more":false,"first_id":"acme/m","last_id":"acme/n"}`,
		"/v1/models?before_id=acme/n":       `{"data":[` + item("m") + `],"has_more":false,"first_id":"acme/m","last_id":"acme/m"}`,
		"/v1/models?before_id=z&limit=1":    `{"data":[` + item("n") + `],"has_more":true,"first_id":"acme/n","last_id":"acme/n"}`,
		"/api/v1/models":                    `{"data":[` + item("m") + `,` + item("n") + `],"has_more":false,"first_id":"acme/m","last_id":"acme/n"}`,
		"/v1/models/acme/m":                 item("m"),
		"/v1/models/acme%2Fm":               item("m"),
		"/api/v1/models/acme/m":             item("m"),
		"/v1/models?before_id=b&after_id=a": "",
		"/v1/models?limit=0":                "",
		"/v1/models/acme/x":                 "",
	} {
		path = strings.ReplaceAll(path, "lost", "a") // sorts before both
		a := asClaude(t, g, "GET", path, "models", "")
		if want != "" && (a.Code != 200 || a.Body.String() != want) || want == "" && (a.Code < 400 || a.At(t, "type") != "error") {
			t.Errorf("%s: %d %s, want %s", path, a.Code, a.Body, want)
		}
	}
	if a := call(t, g, "GET", "/v1/models", "models", ""); a.At(t, "object") != "list" {
		t.Errorf("without the header: %s", a.Body)
	}
	if a := asClaude(t, g, "GET", "/v1/models", "chat", ""); a.Code != 403 || a.At(t, "error", "type") != "permission_error" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := asClaude(t, g, "GET", "/v1/models", "", ""); a.Code != 401 || a.At(t, "error", "type") != "authentication_error" {
		t.Errorf("%d %s", a.Code, a.Body)
	}
}

func TestRatesOfTheMessagesFamily(t *testing.T) {
	r, err := limits.ParseRate("1/min")
	must(t, err)
	var acme anthropicProvider
	g := startGateway(t, setup{Dialect: provider.Anthropic, Provider: acme.roundTrip, Limits: limitedTo("chat", limits.Subject{Rates: []limits.Rate{r}})})
	for _, status := range []int{200, 429} {
		a := asClaude(t, g, "POST", "/v1/messages", "chat", say)
		h := a.Header()
		if a.Code != status || h.Get("Anthropic-Ratelimit-Requests-Limit") != "1" || h.Get("Anthropic-Ratelimit-Requests-Remaining") != "0" ||
			h.Get("Anthropic-Ratelimit-Requests-Reset") != "2026-03-18T12:01:01Z" {
			t.Errorf("%d %v %s", a.Code, h, a.Body)
		}
	}
}

// A key that the gateway has taken is no backend's; any other X-Api-Key may be meant for one.
func TestGuardedBackendsGetNoKeyOfTheGateway(t *testing.T) {
	g := startGateway(t, setup{})
	for _, c := range []struct{ apiKey, bearer, got string }{
		{secretOf("chat"), "", ""}, {secretOf("chat"), secretOf("chat"), ""}, {"backend", secretOf("chat"), "backend"},
	} {
		r := newTestRequest("POST", "/backend", "", "")
		r.Header.Set("X-Api-Key", c.apiKey)
		if c.bearer != "" {
			r.Header.Set("Authorization", "Bearer "+c.bearer)
		}
		next := new(nextHandler)
		must(t, (&Auth{gateway: g}).ServeHTTP(newAnswer(), r, next))
		if next.Got == nil || next.Got.Header.Get("X-Api-Key") != c.got || next.Got.Header.Get("Authorization") != "" || r.Header.Get("X-Api-Key") != c.apiKey {
			t.Errorf("%+v: the backend got %+v", c, next.Got)
		}
	}
}

func TestSingleModulesOfTheMessagesFamily(t *testing.T) {
	var acme anthropicProvider
	g := startGateway(t, setup{Dialect: provider.Anthropic, Provider: acme.roundTrip})
	for _, c := range []struct{ name, path, has string }{
		{"messages", "/lab", `"type":"message"`},
		{"messages", "/lab/v1/messages", `"type":"message"`},
		{"count_tokens", "/lab/v1/messages/count_tokens", `"input_tokens":11`},
	} {
		r := newTestRequest("POST", c.path, "chat", say)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		if a := send(t, &Endpoint{name: c.name, gateway: g}, r); a.Code != 200 || !strings.Contains(a.Body.String(), c.has) || a.Header().Get("Request-Id") == "" {
			t.Errorf("%+v: %d %s", c, a.Code, a.Body)
		}
	}
	for name, families := range map[string]string{
		"messages": "anthropic", "count_tokens": "anthropic", "models": "openai openrouter anthropic", "chat": "openai openrouter", "responses": "openai openrouter", "key": "openai openrouter",
	} {
		for _, a := range []api.API{api.OpenAI{}, api.OpenRouter{}, api.Anthropic{}} {
			if err := checkFamily(name, a); (err == nil) != strings.Contains(families, a.Name()) {
				t.Errorf("%s of %s: %v", name, a.Name(), err)
			}
		}
	}
}
