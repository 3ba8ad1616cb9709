package handlers

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

const (
	ask = `{"model":"acme/m","input":"hello"}`

	chatEvents = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hi"}}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":8,"total_tokens":20}}

data: [DONE]

`
	response = `{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed",` +
		`"output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}],` +
		`"usage":{"input_tokens":12,"input_tokens_details":{"cached_tokens":0},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":20}}`

	responseEvents = `event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"in_progress","output":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":1,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"hi"}

event: response.completed
data: {"type":"response.completed","sequence_number":2,"response":` + response + `}

`
)

// spoken is a provider that answers calls of either API, whole or streamed, and keeps what it was
// sent.
type spoken struct{ path, body string }

func (s *spoken) roundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.path, s.body = r.URL.Path, string(body)
	var asked struct{ Stream bool }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	chat, stream := strings.HasSuffix(s.path, "/chat/completions"), asked.Stream
	media, text := "application/json", response
	switch {
	case chat && stream:
		media, text = "text/event-stream", chatEvents
	case chat:
		text = completion
	case stream:
		media, text = "text/event-stream", responseEvents
	}
	return answering(200, media, text)(r)
}

func streamed(body string) string { return strings.TrimSuffix(body, "}") + `,"stream":true}` }

// Each API is answered in the family's shape, whole and streamed, and leaves one row.
func TestCallsAreAnswered(t *testing.T) {
	for _, c := range []struct {
		path, body  string
		upstream    string
		media       string
		has, hasNot []string // of the answer
		named       bool     // the answer has X-Generation-Id
	}{
		{"/v1/chat/completions", hello, "/v1/chat/completions", "application/json", []string{`"content":"hi"`, `"chatcmpl-1"`}, []string{`"cost"`}, false},
		{"/v1/chat/completions", streamed(hello), "/v1/chat/completions", "text/event-stream",
			[]string{`"content":"hi"`, "data: [DONE]\n\n"}, []string{`"usage":{`}, false},
		{"/api/v1/chat/completions", hello, "/v1/chat/completions", "application/json",
			[]string{`"content":"hi"`, `"cost":0.00002`, `"provider":"acme"`}, []string{`"chatcmpl-1"`}, true},
		{"/api/v1/chat/completions", streamed(hello), "/v1/chat/completions", "text/event-stream",
			[]string{`"content":"hi"`, `"cost":0.00002`, "data: [DONE]\n\n"}, nil, true},
		{"/v1/responses", ask, "/v1/responses", "application/json", []string{`"text":"hi"`}, nil, false},
		{"/v1/responses", streamed(ask), "/v1/responses", "text/event-stream", []string{"event: response.completed\n"}, []string{"[DONE]"}, false},
		{"/api/v1/responses", ask, "/v1/responses", "application/json", []string{`"text":"hi"`}, nil, true},
		{"/api/v1/responses", streamed(ask), "/v1/responses", "text/event-stream", []string{"event: response.completed\n"}, nil, true},
	} {
		var acme spoken
		g := startGateway(t, setup{Provider: acme.roundTrip})
		a := call(t, g, "POST", c.path, "chat", c.body)
		text := a.Body.String()
		if a.Code != 200 || a.Header().Get("Content-Type") != c.media || acme.path != c.upstream || !jsontest.Has(t, acme.body, `{"model":"m"}`) {
			t.Errorf("%s: %d %v, sent to %s: %s", c.path, a.Code, a.Header(), acme.path, text)
		}
		for _, part := range c.has {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %s in %s", c.path, part, text)
			}
		}
		for _, part := range c.hasNot {
			if strings.Contains(text, part) {
				t.Errorf("%s: %s in %s", c.path, part, text)
			}
		}
		generation := a.Header().Get(api.GenerationIDHeader)
		found := rows(t, g)
		if (generation != "") != c.named || len(found) != 1 {
			t.Fatalf("%s: generation %q, %d rows", c.path, generation, len(found))
		}
		row := found[0]
		if row.Route != "POST "+c.path || row.Model != "acme/m" || row.Provider != "acme" || row.Key != "chat" || row.Status != 200 ||
			row.PromptTokens != 12 || row.CompletionTokens != 8 || row.CostNano != 20_000 || row.Stream != (c.media == "text/event-stream") ||
			generation != "" && row.ID != generation {
			t.Errorf("%s: row %+v", c.path, row)
		}
	}
}

func TestFailedCallsAreAnsweredInTheFamilysShape(t *testing.T) {
	g := startGateway(t, setup{Provider: answering(500, "application/json", `{"error":{"message":"no"}}`)})
	for _, stream := range []bool{false, true} {
		for path, code := range map[string]string{
			"/v1/chat/completions": "upstream_error", "/api/v1/chat/completions": "provider_unavailable",
			"/v1/responses": "upstream_error", "/api/v1/responses": "provider_unavailable",
		} {
			body := hello
			if strings.HasSuffix(path, "responses") {
				body = ask
			}
			if stream {
				body = streamed(body)
			}
			a := call(t, g, "POST", path, "chat", body)
			if a.Want(t, 502, code, ""); a.Header().Get("Retry-After") == "" {
				t.Errorf("%s: %v", path, a.Header())
			}
		}
	}
}
