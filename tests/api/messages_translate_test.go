package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

var messagePaths = []string{"/v1/messages", "/api/v1/messages"}

// messagesRequest is a Messages call as the SDKs send it.
func messagesRequest(h *harness.Gateway, path, model, more string) *http.Request {
	r := h.Client.Request(path, "full", `{"model":"`+model+`","max_tokens":200,"messages":[{"role":"user","content":"say hello"}]`+more+`}`)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Anthropic-Beta", "some-beta-2026-01-01")
	return r
}

// messagesSetups have the fake provider as one with chat completions, and as one with the Responses
// API alone.
var messagesSetups = map[string]harness.Setup{"chat": {}, "responses": responsesOnly}

func TestMessagesOfProvidersWithoutThemAreTranslated(t *testing.T) {
	for name, s := range messagesSetups {
		t.Run(name, func(t *testing.T) {
			h := harness.Start(t, s)
			for _, path := range messagePaths {
				a := h.Client.Send(messagesRequest(h, path, "fake/echo", `,"system":"be brief"`))
				v := harness.Parse(t, a.Body)
				if a.Status != 200 || harness.At(v, "type") != "message" || harness.At(v, "model") != "fake/echo" || harness.At(v, "stop_reason") != "end_turn" ||
					harness.At(v, "content", 0, "text") != "You said: say hello" || harness.At(v, "usage", "input_tokens") == harness.Number("0") {
					t.Fatalf("%s: %d %s", path, a.Status, a.Body)
				}
				found := h.Client.Get("/api/v1/generation?id="+harness.At(v, "id").(string), "full")
				if found.Status != 200 || !strings.Contains(string(found.Body), a.Header.Get("X-Request-Id")) {
					t.Errorf("%s: the message's id does not find the call: %d %s", path, found.Status, found.Body)
				}
			}
			want := `{"model":"echo","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"say hello"}],"max_completion_tokens":200}`
			if name == "responses" {
				want = `{"model":"echo","instructions":"be brief","input":[{"type":"message","role":"user","content":"say hello"}],"max_output_tokens":200,"store":false}`
			}
			if sent := string(h.Provider.Request(1).Body); sent != want {
				t.Errorf("the provider got %s, want %s", sent, want)
			}
			v := harness.Parse(t, h.Client.Send(messagesRequest(h, messagePaths[0], "fake/tools",
				`,"tools":[{"name":"weather","input_schema":{"type":"object"}},{"name":"time","input_schema":{"type":"object"}}]`)).Body)
			if harness.At(v, "stop_reason") != "tool_use" || harness.At(v, "content", 0, "name") != "weather" || harness.At(v, "content", 1, "type") != "tool_use" {
				t.Errorf("calls: %v", v)
			}
		})
	}
}

// anthropicOnly has the fake provider as one of Anthropic's API.
var anthropicOnly = harness.Setup{Providers: `
	provider fake {
		dialect anthropic
		base_url PROVIDER
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`}

func TestNoOddityOfAProviderPassesForAWholeMessage(t *testing.T) {
	for name, s := range map[string]harness.Setup{"chat": {}, "responses": responsesOnly, "anthropic": anthropicOnly} {
		h := harness.Start(t, s)
		for _, behaviour := range faults.Behaviours() {
			o := oddities[behaviour]
			plain, stream := o.chat, o.chatStream
			switch {
			case name == "responses":
				plain, stream = o.ask, o.askStream
			case name == "anthropic" && behaviour == "no-done":
				stream = broken // it lacks message_stop
			case name == "anthropic" && behaviour == "overloaded":
				o = o.as(503, "upstream_overloaded")
			}
			t.Run(name+"/"+behaviour, func(t *testing.T) {
				oddMessage(h, t, behaviour, "", o, plain)
				oddMessage(h, t, behaviour, harness.Streaming, o, stream)
			})
		}
	}
}

// messageError is the type of the error that the caller is told.
func (o oddity) messageError() string {
	switch status, _ := o.refusal(); {
	case status == 429:
		return "rate_limit_error"
	case status < 500:
		return "invalid_request_error"
	case status == 503:
		return "overloaded_error"
	}
	return "api_error"
}

func oddMessage(h *harness.Gateway, t *testing.T, behaviour, more string, o oddity, want ending) {
	t.Helper()
	h.Provider.Fake.Reset()
	h.Provider.Fake.Step(behaviour, 100)
	s := h.Client.Open(messagesRequest(h, messagePaths[0], oddModel(behaviour), more))
	defer s.Disconnect()
	status, ended, text := s.Response.StatusCode, false, ""
	if s.Response.Header.Get("Content-Type") == "text/event-stream" {
		events, err := s.Rest()
		if err != nil || len(events) == 0 {
			t.Fatalf("%v: %v", err, events)
		}
		for _, e := range events {
			v := harness.Parse(t, []byte(e.Data))
			if harness.At(v, "type") != e.Name {
				t.Errorf("event %q has %s", e.Name, e.Data)
			}
			if harness.At(v, "delta", "type") == "text_delta" {
				text += harness.At(v, "delta", "text").(string)
			}
		}
		last := events[len(events)-1]
		ended = last.Name == "message_stop"
		if kind := harness.At(harness.Parse(t, []byte(last.Data)), "error", "type"); !ended && (last.Name != "error" || kind != o.messageError()) {
			t.Errorf("the stream ends with %v", last)
		}
	} else {
		body, err := s.ReadAll()
		v := harness.Parse(t, body)
		ended = status == 200 && harness.At(v, "type") == "message"
		for i := 0; harness.At(v, "content", i) != nil; i++ {
			block, _ := harness.At(v, "content", i, "text").(string)
			text += block
		}
		if wanted, _ := o.refusal(); err != nil || !ended && (status != wanted || harness.At(v, "error", "type") != o.messageError()) {
			t.Errorf("%v: %d %.300s", err, status, body)
		}
	}
	if ended != (want == good) {
		t.Errorf("stream %v: it is whole: %v", more != "", ended)
	}
	if echo := "You said: say hello"; ended && o.text == "" && o.finish == "" && text != echo || ended && len(o.text) > 1 && text != o.text {
		t.Errorf("stream %v: it says %.100q", more != "", text)
	}
}
