package api

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A provider that answers a request for a stream with a whole message is a stream for the clients of
// Anthropic, too.
func TestAMessageOfAProviderThatDoesNotStreamIsStreamed(t *testing.T) {
	h := harness.Start(t, harness.Setup{Providers: "provider fake {\ndialect anthropic\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\n}\n"})
	for _, model := range []string{"fake/no-stream", "fake/echo"} {
		r := messagesRequest(h, messagePaths[0], model, harness.Streaming)
		r.Header.Del("Anthropic-Beta")
		s := h.Client.Open(r)
		events, err := s.Rest()
		s.Disconnect()
		if err != nil || len(events) < 5 || events[0].Name != "message_start" || events[len(events)-1].Name != "message_stop" {
			t.Fatalf("%s: %d, %v: %v", model, s.Response.StatusCode, err, events)
		}
		first := harness.Parse(t, []byte(events[0].Data))
		end := harness.Parse(t, []byte(events[len(events)-2].Data))
		if harness.At(first, "message", "model") != model || harness.At(end, "usage", "output_tokens") == harness.Number("0") {
			t.Errorf("%s: from %v to %v", model, first, end)
		}
		if row := h.Records.Row(s.Response.Header.Get("X-Request-Id")); harness.At(row, "stream") != true || harness.At(row, "status") != harness.Number("200") || harness.At(row, "usage_source") != "provider" {
			t.Errorf("%s: %v", model, row)
		}
	}
}

// The next target of an alias answers if such an answer is an error.
func TestAWholeErrorToARequestForAStreamIsAFailure(t *testing.T) {
	h := harness.Start(t, harness.Setup{Options: "alias team/chat {\ngroup {\ntarget fake/error-200\n}\ngroup {\ntarget fake/no-stream\n}\n}"})
	s := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("team/chat", harness.Streaming)))
	defer s.Disconnect()
	events, err := s.Rest()
	if err != nil || s.Response.StatusCode != 200 || len(events) < 3 || events[len(events)-1].Data != "[DONE]" || harness.At(harness.Parse(t, []byte(events[0].Data)), "model") != "fake/no-stream" {
		t.Errorf("%d, %v: %v", s.Response.StatusCode, err, events)
	}
}
