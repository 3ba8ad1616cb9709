package tests

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// anthropicProviders have the fake provider as Anthropic.
const anthropicProviders = `
	provider fake {
		dialect anthropic
		base_url PROVIDER
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
	provider listed {
		dialect anthropic
		base_url PROVIDER
		api_key {env.PROVIDER_KEY}
		discover 10m
	}
`

func TestMessagesPassToAnthropic(t *testing.T) {
	h := start(t, setup{providers: anthropicProviders})
	for _, path := range messagePaths {
		body := `{"model":"fake/echo","max_tokens":200,  "context_management":{"edits":[]},"messages":[{"role":"user","content":"say hello"}]}`
		r := h.request(path+"?beta=true", "full", body)
		r.Header.Set("Anthropic-Version", "2023-06-01")
		r.Header.Set("Anthropic-Beta", "context-management-2025-06-27,other-2025-01-01")
		r.Header.Set("X-Api-Key", secretOf("full")) // beside the bearer token
		a := h.send(r)
		v := parse(t, a.body)
		if a.status != 200 || at(v, "type") != "message" || at(v, "model") != "fake/echo" || at(v, "content", 0, "text") != "You said: say hello" {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		up := h.upstreamCall(1)
		if want := strings.Replace(body, "fake/echo", "echo", 1); string(up.Body) != want || strings.Join(up.Header("Anthropic-Beta"), "") != "context-management-2025-06-27,other-2025-01-01" ||
			strings.Join(up.Header("X-Api-Key"), "") != providerKey || len(up.Header("Authorization")) > 0 {
			t.Errorf("%s: the provider got %s, want %s", path, up.Body, want)
		}
		found := h.get("/api/v1/generation?id="+at(v, "id").(string), "full")
		if found.status != 200 || !strings.Contains(string(found.body), a.header.Get("Request-Id")) {
			t.Errorf("%s: the message's id does not find the call: %d %s", path, found.status, found.body)
		}
		h.upstream.Reset()
	}
	r := h.request(messagePaths[0]+"/count_tokens", "full", `{"model":"fake/echo","messages":[{"role":"user","content":"say hello"}]}`)
	r.Header.Set("Anthropic-Version", "2026-10-21")
	count := h.send(r)
	if n, _ := at(parse(t, count.body), "input_tokens").(interface{ Int64() (int64, error) }); count.status != 200 || n == nil {
		t.Errorf("count_tokens: %d %s", count.status, count.body)
	}
	list := h.request("/v1/models?limit=1000", "full", "")
	list.Header.Set("Anthropic-Version", "2023-06-01")
	if a := h.send(list); a.status != 200 || !strings.Contains(string(a.body), `{"type":"model","id":"listed/echo",`) {
		t.Errorf("the list: %d %s", a.status, a.body)
	}
}

// Whatever the provider does, a stream that ends with message_stop is a row without a failure, and any
// other ends with an error event. Events have their names, and one message_start is the first.
func TestNoOddityOfAnthropicPassesForAWholeStream(t *testing.T) {
	h := start(t, setup{providers: anthropicProviders})
	whole := 0
	for _, behaviour := range faults.Behaviours() {
		t.Run(behaviour, func(t *testing.T) {
			h.upstream.Reset()
			h.upstream.Step(behaviour, 100)
			r := h.messagesRequest(messagePaths[0], "fake/"+behaviour, streaming)
			r.Header.Del("Anthropic-Beta")
			s := h.open(r)
			defer s.disconnect()
			if s.resp.Header.Get("Content-Type") != "text/event-stream" {
				body, err := readAll(s)
				if v := parse(t, body); err != nil || s.resp.StatusCode < 400 || at(v, "type") != "error" || at(v, "request_id") != s.resp.Header.Get("Request-Id") {
					t.Errorf("%v: %d %.300s", err, s.resp.StatusCode, body)
				}
				return
			}
			events, err := s.rest()
			if err != nil || len(events) == 0 {
				t.Fatalf("%v: %v", err, events)
			}
			starts := 0
			for i, e := range events {
				if at(parse(t, []byte(e.data)), "type") != e.name {
					t.Errorf("event %q has %s", e.name, e.data)
				}
				if e.name == "message_start" {
					starts++
				}
				if last := i == len(events)-1; last != (e.name == "message_stop" || e.name == "error") {
					t.Errorf("event %d of %d is %q", i, len(events), e.name)
				}
			}
			last := events[len(events)-1]
			if last.name == "message_stop" {
				whole++
			}
			if last.name == "message_stop" && (starts != 1 || !strings.Contains(events[0].data+events[1].data, `"model":"fake/`+behaviour+`"`)) {
				t.Errorf("%d starts: %v", starts, events[:2])
			}
			id := s.resp.Header.Get("X-Request-Id")
			row := h.get("/api/v1/activity?request_id="+id, "full")
			if failed := !strings.Contains(string(row.body), `"status":200`); failed != (last.name == "error") {
				t.Errorf("it ends with %v, and the row is %s", last, row.body)
			}
		})
	}
	if whole < 20 {
		t.Errorf("only %d streams were whole", whole)
	}
}
