package tests

import "testing"

// A provider that answers a request for a stream with a whole message is a stream for the clients of
// Anthropic, too.
func TestAMessageOfAProviderThatDoesNotStreamIsStreamed(t *testing.T) {
	h := start(t, setup{providers: "provider fake {\ndialect anthropic\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\n}\n"})
	for _, model := range []string{"fake/no-stream", "fake/echo"} {
		r := h.messagesRequest(messagePaths[0], model, streaming)
		r.Header.Del("Anthropic-Beta")
		s := h.open(r)
		events, err := s.rest()
		s.disconnect()
		if err != nil || len(events) < 5 || events[0].name != "message_start" || events[len(events)-1].name != "message_stop" {
			t.Fatalf("%s: %d, %v: %v", model, s.resp.StatusCode, err, events)
		}
		first := parse(t, []byte(events[0].data))
		end := parse(t, []byte(events[len(events)-2].data))
		if at(first, "message", "model") != model || at(end, "usage", "output_tokens") == number("0") {
			t.Errorf("%s: from %v to %v", model, first, end)
		}
		if row := h.row(s.resp.Header.Get("X-Request-Id")); at(row, "stream") != true || at(row, "status") != number("200") || at(row, "usage_source") != "provider" {
			t.Errorf("%s: %v", model, row)
		}
	}
}

// The next target of an alias answers if such an answer is an error.
func TestAWholeErrorToARequestForAStreamIsAFailure(t *testing.T) {
	h := start(t, setup{options: "alias team/chat {\ngroup {\ntarget fake/error-200\n}\ngroup {\ntarget fake/no-stream\n}\n}"})
	s := h.open(h.request(chatV1, "full", chat("team/chat", streaming)))
	defer s.disconnect()
	events, err := s.rest()
	if err != nil || s.resp.StatusCode != 200 || len(events) < 3 || events[len(events)-1].data != "[DONE]" || at(parse(t, []byte(events[0].data)), "model") != "fake/no-stream" {
		t.Errorf("%d, %v: %v", s.resp.StatusCode, err, events)
	}
}
