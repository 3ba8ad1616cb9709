package api

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/faults"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// modelPaths are the three kinds of stream: two shapes of chat, and Responses.
var modelPaths = []string{harness.ChatV1, harness.ChatRouter, harness.ResponsesV1}

// textOf is the text in an event.
func textOf(t *testing.T, e harness.Event) string {
	t.Helper()
	if e.Data == "[DONE]" {
		return ""
	}
	return deltaOf(harness.Parse(t, []byte(e.Data)))
}

// deltaOf is the text in a parsed event.
func deltaOf(v any) string {
	if s, ok := harness.At(v, "choices", 0, "delta", "content").(string); ok {
		return s
	}
	if harness.At(v, "type") == "response.output_text.delta" {
		return harness.At(v, "delta").(string)
	}
	return ""
}

func TestAnEventIsWithTheClientBeforeTheProviderSendsTheNext(t *testing.T) {
	h := harness.Start(t, harness.Setup{Secure: true})
	for i, path := range []string{
		harness.ChatV1, harness.ChatRouter, harness.ResponsesV1, harness.ResponsesRouter,
		h.Client.Secure + harness.ChatV1, h.Client.Secure + harness.ChatRouter, h.Client.Secure + harness.ResponsesV1, h.Client.Secure + harness.ResponsesRouter,
	} {
		gate := "step-" + strconv.Itoa(i)
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/"+gate, harness.Streaming)))
		if want := map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[strings.HasPrefix(path, "https")]; s.Response.Proto != want {
			t.Fatalf("%s: %s", path, s.Response.Proto)
		}
		if ct := s.Response.Header.Get("Content-Type"); ct != "text/event-stream" || s.Response.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", path, s.Response.Header)
		}
		e := s.MustNext() // the first needs no token
		said := textOf(t, e)
		for sent := 1; said != "You said: say hello"; sent++ {
			if up := h.Provider.Request(i + 1); up.Writes != sent {
				t.Fatalf("%s: the provider has sent %d events, the client has %d", path, up.Writes, sent)
			}
			h.Provider.Fake.Step(gate, 1)
			said += textOf(t, s.MustNext())
		}
		h.Provider.Fake.Step(gate, 20) // the end
		if _, err := s.Rest(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// wantStreamError checks that a stream ends with the error of its API and does not look whole.
func wantStreamError(t *testing.T, path string, events []harness.Event, status int, code string) {
	t.Helper()
	if len(events) == 0 || harness.Whole(events) {
		t.Errorf("%s: the stream looks whole, or is empty: %v", path, events)
		return
	}
	last := events[len(events)-1]
	v := harness.Parse(t, []byte(last.Data))
	if strings.HasSuffix(path, "/responses") {
		if len(events) < 2 || events[len(events)-2].Name != "response.failed" || last.Name != "error" {
			t.Errorf("%s: the stream ends with %v", path, last)
			return
		}
		failed := harness.Parse(t, []byte(events[len(events)-2].Data))
		if harness.At(failed, "response", "status") != "failed" || harness.At(failed, "response", "error", "message") == nil || harness.At(failed, "type") != "response.failed" {
			t.Errorf("%s: %v", path, failed)
		}
		if harness.At(v, "code") != code || harness.At(v, "message") == nil || harness.At(v, "type") != "error" || !harness.Has(v, "param") {
			t.Errorf("%s: the flat error is not there: %v", path, v)
		}
		harness.WantErrorObject(t, harness.ResponsesV1, harness.At(v, "error"), status, code) // one shape for both APIs
		return
	}
	if harness.IsOpenRouter(path) {
		for _, key := range []string{"id", "object", "created", "model"} {
			if harness.At(v, key) == nil {
				t.Errorf("%s: the error chunk has no %s: %v", path, key, v)
			}
		}
		if harness.At(v, "choices", 0, "finish_reason") != "error" || harness.At(v, "choices", 0, "delta") == nil {
			t.Errorf("%s: the error chunk is no full chunk: %v", path, v)
		}
	} else if keys := harness.Keys(v); !slices.Equal(keys, []string{"error"}) {
		t.Errorf("%s: keys of the error event: %v", path, keys)
	}
	harness.WantErrorObject(t, path, harness.At(v, "error"), status, code)
}

// quick are short timeouts; the others keep their defaults.
func quick(lines string) harness.Setup { return harness.Setup{Options: "timeouts {\n" + lines + "\n}"} }

func TestCommentsKeepASilentStreamOpen(t *testing.T) {
	h := harness.Start(t, quick("heartbeat 50ms"))
	for i, path := range modelPaths {
		gate := "stall-" + strconv.Itoa(i)
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/"+gate, harness.Streaming)))
		var seen []harness.Event
		for comments := 0; comments < 2; { // the second shows that they continue
			e, err := s.Next()
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if e.Comment != "" {
				comments++
				if e.Data != "" || e.Name != "" {
					t.Errorf("%s: a heartbeat with data: %v", path, e)
				}
			} else if seen = append(seen, e); comments > 0 {
				t.Errorf("%s: %v after a heartbeat: the provider is stalled", path, e)
			}
		}
		h.Provider.Fake.Step(gate, 1)
		rest, err := s.Rest()
		if err != nil || !harness.Whole(rest) {
			t.Errorf("%s: %v %v", path, rest, err)
		}
		if text := allText(t, append(seen, rest...)); text != "You said: say hello" {
			t.Errorf("%s: %q", path, text)
		}
	}
}

func allText(t *testing.T, events []harness.Event) string {
	t.Helper()
	var text strings.Builder
	for _, e := range events {
		text.WriteString(textOf(t, e))
	}
	return text.String()
}

func TestAfterCommitAFailureIsAnEvent(t *testing.T) {
	h := harness.Start(t, quick("commit_after 50ms\nheartbeat 10s\nheader 400ms"))
	for _, path := range append(modelPaths, harness.ResponsesRouter) {
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/delayed-headers-60000", harness.Streaming)))
		e, err := s.Next()
		if err != nil || e.Comment == "" {
			t.Fatalf("%s: %v %v", path, e, err)
		}
		events, err := s.Rest()
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		wantStreamError(t, path, events, 502, "upstream_timeout")
		if row := h.Records.Row(s.Response.Header.Get("X-Request-Id")); harness.At(row, "code") != "upstream_timeout" || harness.At(row, "status") != harness.Number("502") {
			t.Errorf("%s: row %v", path, row)
		}
	}
}

func TestAProvidersErrorBeforeItsAnswerIsAStatus(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, path := range append(modelPaths, harness.ResponsesRouter) {
		for model, want := range map[string]struct {
			status int
			code   string
		}{
			"err-500": {502, "upstream_error"}, "err-503": {502, "upstream_error"}, "err-401": {502, "upstream_auth_error"},
			"err-403": {502, "upstream_auth_error"}, "err-402": {502, "upstream_quota_exhausted"},
			"err-429": {429, "upstream_rate_limited"}, "err-429-insufficient_quota": {502, "upstream_quota_exhausted"},
			"err-400": {400, "upstream_rejected"}, "err-404": {404, "upstream_rejected"}, "err-413": {413, "upstream_rejected"},
			"err-422": {422, "upstream_rejected"}, "err-400-context_length_exceeded": {400, "context_length_exceeded"},
			"err-400-content_policy_violation": {422, "provider_content_policy"}, "err-408": {502, "upstream_error"},
			"err-409": {502, "upstream_error"}, "err-418": {502, "upstream_error"},
		} {
			for _, more := range []string{"", harness.Streaming} {
				a := h.Client.Post(path, "full", harness.Body(path, "fake/"+model, more))
				harness.WantRefusal(t, path+" "+model+more, a, want.status, want.code)
				if strings.Contains(string(a.Body), harness.ProviderKey) {
					t.Errorf("%s: %s: the provider's text leaks: %s", path, model, a.Body)
				}
				row := h.Records.Row(a.Header.Get("X-Request-Id"))
				if harness.At(row, "code") != want.code || harness.At(row, "status") != harness.Number(strconv.Itoa(want.status)) || harness.At(row, "provider_name") != "fake" {
					t.Errorf("%s: %s: row %v", path, model, row)
				}
			}
		}
	}
}

func TestAProviderThatFallsSilentEndsTheStreamWithAnError(t *testing.T) {
	h := harness.Start(t, quick("idle 300ms"))
	for i, path := range append(modelPaths, harness.ResponsesRouter) {
		s := h.Client.Open(h.Client.Request(path, "full", harness.Body(path, "fake/stall", harness.Streaming)))
		events, err := s.Rest()
		if err != nil || allText(t, events) != "You said: " {
			t.Errorf("%s: %v, %v", path, events, err)
		}
		wantStreamError(t, path, events, 502, "upstream_timeout")
		if row := h.Records.Row(s.Response.Header.Get("X-Request-Id")); harness.At(row, "code") != "upstream_timeout" || harness.At(row, "status") != harness.Number("502") {
			t.Errorf("%s: row %v", path, row)
		}
		h.Provider.Wait(func(list []faults.Request) bool { return len(list) == i+1 && list[i].ClientGone })
	}
}
