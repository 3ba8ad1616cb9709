package tests

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

var messagePaths = []string{"/v1/messages", "/api/v1/messages"}

// messagesRequest is a Messages call as the SDKs send it.
func (h *harness) messagesRequest(path, model, more string) *http.Request {
	r := h.request(path, "full", `{"model":"`+model+`","max_tokens":200,"messages":[{"role":"user","content":"say hello"}]`+more+`}`)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	r.Header.Set("Anthropic-Beta", "some-beta-2026-01-01")
	return r
}

// messagesSetups have the fake provider as one with chat completions, and as one with the Responses
// API alone.
var messagesSetups = map[string]setup{"chat": {}, "responses": responsesOnly}

func TestMessagesOfProvidersWithoutThemAreTranslated(t *testing.T) {
	for name, s := range messagesSetups {
		t.Run(name, func(t *testing.T) {
			h := start(t, s)
			for _, path := range messagePaths {
				a := h.send(h.messagesRequest(path, "fake/echo", `,"system":"be brief"`))
				v := parse(t, a.body)
				if a.status != 200 || at(v, "type") != "message" || at(v, "model") != "fake/echo" || at(v, "stop_reason") != "end_turn" ||
					at(v, "content", 0, "text") != "You said: say hello" || at(v, "usage", "input_tokens") == number("0") {
					t.Fatalf("%s: %d %s", path, a.status, a.body)
				}
				found := h.get("/api/v1/generation?id="+at(v, "id").(string), "full")
				if found.status != 200 || !strings.Contains(string(found.body), a.header.Get("X-Request-Id")) {
					t.Errorf("%s: the message's id does not find the call: %d %s", path, found.status, found.body)
				}
			}
			want := `{"model":"echo","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"say hello"}],"max_completion_tokens":200}`
			if name == "responses" {
				want = `{"model":"echo","instructions":"be brief","input":[{"type":"message","role":"user","content":"say hello"}],"max_output_tokens":200,"store":false}`
			}
			if sent := string(h.upstreamCall(1).Body); sent != want {
				t.Errorf("the provider got %s, want %s", sent, want)
			}
			v := parse(t, h.send(h.messagesRequest(messagePaths[0], "fake/tools",
				`,"tools":[{"name":"weather","input_schema":{"type":"object"}},{"name":"time","input_schema":{"type":"object"}}]`)).body)
			if at(v, "stop_reason") != "tool_use" || at(v, "content", 0, "name") != "weather" || at(v, "content", 1, "type") != "tool_use" {
				t.Errorf("calls: %v", v)
			}
		})
	}
}

// anthropicOnly has the fake provider as one of Anthropic's API.
var anthropicOnly = setup{providers: `
	provider fake {
		dialect anthropic
		base_url PROVIDER
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`}

func TestNoOddityOfAProviderPassesForAWholeMessage(t *testing.T) {
	for name, s := range map[string]setup{"chat": {}, "responses": responsesOnly, "anthropic": anthropicOnly} {
		h := start(t, s)
		for _, behaviour := range faults.Behaviours() {
			o := oddities[behaviour]
			plain, stream := o.chat, o.chatStream
			switch {
			case name == "responses":
				plain, stream = o.ask, o.askStream
			case name == "anthropic" && behaviour == "no-done":
				stream = broken // it lacks message_stop
			case name == "anthropic" && behaviour == "azure-filter":
				o.status = 400 // without Azure's code, which that API has no field for
			case name == "anthropic" && behaviour == "overloaded":
				o = o.as(503, "upstream_overloaded")
			}
			t.Run(name+"/"+behaviour, func(t *testing.T) {
				h.oddMessage(t, behaviour, "", o, plain)
				h.oddMessage(t, behaviour, streaming, o, stream)
			})
		}
	}
}

// messageError is the type of the error that the caller is told.
func (o oddity) messageError() string {
	switch status, _ := o.refusal(); {
	case status < 500:
		return "invalid_request_error"
	case status == 503:
		return "overloaded_error"
	}
	return "api_error"
}

func (h *harness) oddMessage(t *testing.T, behaviour, more string, o oddity, want ending) {
	t.Helper()
	h.upstream.Reset()
	h.upstream.Step(behaviour, 100)
	s := h.open(h.messagesRequest(messagePaths[0], "fake/"+behaviour, more))
	defer s.disconnect()
	status, ended, text := s.resp.StatusCode, false, ""
	if s.resp.Header.Get("Content-Type") == "text/event-stream" {
		events, err := s.rest()
		if err != nil || len(events) == 0 {
			t.Fatalf("%v: %v", err, events)
		}
		for _, e := range events {
			v := parse(t, []byte(e.data))
			if at(v, "type") != e.name {
				t.Errorf("event %q has %s", e.name, e.data)
			}
			if at(v, "delta", "type") == "text_delta" {
				text += at(v, "delta", "text").(string)
			}
		}
		last := events[len(events)-1]
		ended = last.name == "message_stop"
		if kind := at(parse(t, []byte(last.data)), "error", "type"); !ended && (last.name != "error" || kind != o.messageError()) {
			t.Errorf("the stream ends with %v", last)
		}
	} else {
		body, err := readAll(s)
		v := parse(t, body)
		ended = status == 200 && at(v, "type") == "message"
		for i := 0; at(v, "content", i) != nil; i++ {
			block, _ := at(v, "content", i, "text").(string)
			text += block
		}
		if wanted, _ := o.refusal(); err != nil || !ended && (status != wanted || at(v, "error", "type") != o.messageError()) {
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
