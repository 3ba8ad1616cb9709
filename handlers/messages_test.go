package handlers

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
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
	switch {
	case strings.Contains(p.target, "/count_tokens"):
		return answering(200, "application/json", `{"input_tokens":11}`)(r)
	case strings.Contains(p.body, `"stream":true`):
		return answering(200, "text/event-stream", messageEvents)(r)
	}
	return answering(200, "application/json", message)(r)
}

// asClaude sends a request as Anthropic's SDKs do.
func asClaude(t testing.TB, g *gateway.Gateway, method, target, key, body string, header ...string) *answer {
	t.Helper()
	r := request(method, target, "", body)
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
			g := startGateway(t, setup{provider: acme.roundTrip, dialect: provider.Anthropic})
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
