package tests

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider/faults"
)

// modelPaths are the three kinds of stream: two shapes of chat, and Responses.
var modelPaths = []string{chatV1, chatRouter, responsesV1}

// textOf is the text in an event.
func textOf(t *testing.T, e event) string {
	t.Helper()
	if e.data == "[DONE]" {
		return ""
	}
	v := parse(t, []byte(e.data))
	if s, ok := at(v, "choices", 0, "delta", "content").(string); ok {
		return s
	}
	if at(v, "type") == "response.output_text.delta" {
		return at(v, "delta").(string)
	}
	return ""
}

func TestAnEventIsWithTheClientBeforeTheProviderSendsTheNext(t *testing.T) {
	h := start(t, setup{secure: true})
	for i, path := range []string{
		chatV1, chatRouter, responsesV1, responsesOR,
		h.secure + chatV1, h.secure + chatRouter, h.secure + responsesV1, h.secure + responsesOR,
	} {
		gate := "step-" + itoa(i)
		s := h.open(h.request(path, "full", bodyFor(path, "fake/"+gate, streaming)))
		if want := map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[strings.HasPrefix(path, "https")]; s.resp.Proto != want {
			t.Fatalf("%s: %s", path, s.resp.Proto)
		}
		if ct := s.resp.Header.Get("Content-Type"); ct != "text/event-stream" || s.resp.Header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: %v", path, s.resp.Header)
		}
		e := s.mustNext() // the first needs no token
		said := textOf(t, e)
		for sent := 1; said != "You said: say hello"; sent++ {
			if up := h.upstreamCall(i + 1); up.Writes != sent {
				t.Fatalf("%s: the provider has sent %d events, the client has %d", path, up.Writes, sent)
			}
			h.upstream.Step(gate, 1)
			said += textOf(t, s.mustNext())
		}
		h.upstream.Step(gate, 20) // the end
		if _, err := s.rest(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// whole reports whether the end of a stream says that the answer is complete.
func whole(events []event) bool {
	for _, e := range events {
		if e.data == "[DONE]" || e.name == "response.completed" || e.name == "response.incomplete" {
			return true
		}
	}
	return false
}

// wantStreamError checks that a stream ends with the error of its API and does not look whole.
func wantStreamError(t *testing.T, path string, events []event, status int, code string) {
	t.Helper()
	if len(events) == 0 || whole(events) {
		t.Errorf("%s: the stream looks whole, or is empty: %v", path, events)
		return
	}
	last := events[len(events)-1]
	v := parse(t, []byte(last.data))
	if strings.HasSuffix(path, "/responses") {
		if len(events) < 2 || events[len(events)-2].name != "response.failed" || last.name != "error" {
			t.Errorf("%s: the stream ends with %v", path, last)
			return
		}
		failed := parse(t, []byte(events[len(events)-2].data))
		if at(failed, "response", "status") != "failed" || at(failed, "response", "error", "message") == nil || at(failed, "type") != "response.failed" {
			t.Errorf("%s: %v", path, failed)
		}
		if at(v, "code") != code || at(v, "message") == nil || at(v, "type") != "error" || !has(v, "param") {
			t.Errorf("%s: the flat error is not there: %v", path, v)
		}
		wantErrorObject(t, responsesV1, at(v, "error"), status, code) // one shape for both APIs
		return
	}
	if isOpenRouter(path) {
		for _, key := range []string{"id", "object", "created", "model"} {
			if at(v, key) == nil {
				t.Errorf("%s: the error chunk has no %s: %v", path, key, v)
			}
		}
		if at(v, "choices", 0, "finish_reason") != "error" || at(v, "choices", 0, "delta") == nil {
			t.Errorf("%s: the error chunk is no full chunk: %v", path, v)
		}
	} else if keys := keysOf(v); !slices.Equal(keys, []string{"error"}) {
		t.Errorf("%s: keys of the error event: %v", path, keys)
	}
	wantErrorObject(t, path, at(v, "error"), status, code)
}

// quick are short timeouts; the others keep their defaults.
func quick(lines string) setup { return setup{options: "timeouts {\n" + lines + "\n}"} }

func TestCommentsKeepASilentStreamOpen(t *testing.T) {
	h := start(t, quick("heartbeat 50ms"))
	for i, path := range modelPaths {
		gate := "stall-" + itoa(i)
		s := h.open(h.request(path, "full", bodyFor(path, "fake/"+gate, streaming)))
		var seen []event
		for comments := 0; comments < 2; { // the second shows that they continue
			e, err := s.next()
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if e.comment != "" {
				comments++
				if e.data != "" || e.name != "" {
					t.Errorf("%s: a heartbeat with data: %v", path, e)
				}
			} else if seen = append(seen, e); comments > 0 {
				t.Errorf("%s: %v after a heartbeat: the provider is stalled", path, e)
			}
		}
		h.upstream.Step(gate, 1)
		rest, err := s.rest()
		if err != nil || !whole(rest) {
			t.Errorf("%s: %v %v", path, rest, err)
		}
		if text := allText(t, append(seen, rest...)); text != "You said: say hello" {
			t.Errorf("%s: %q", path, text)
		}
	}
}

func allText(t *testing.T, events []event) string {
	t.Helper()
	var text strings.Builder
	for _, e := range events {
		text.WriteString(textOf(t, e))
	}
	return text.String()
}

func TestNothingIsSentBeforeCommitAfterAndACommentThen(t *testing.T) {
	h := start(t, quick("commit_after 300ms\nheartbeat 50ms"))
	for _, path := range modelPaths {
		began := time.Now()
		s := h.open(h.request(path, "full", bodyFor(path, "fake/delayed-headers-60000", streaming)))
		if early := time.Since(began); early < 300*time.Millisecond {
			t.Errorf("%s: status %d came after %s", path, s.resp.StatusCode, early)
		}
		e, err := s.next()
		if err != nil || e.comment == "" || s.resp.StatusCode != 200 || s.resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s: %d %v %v", path, s.resp.StatusCode, e, err)
		}
		s.disconnect()
	}
}

func TestAProviderThatDoesNotBeginIsGivenUp(t *testing.T) {
	h := start(t, quick("header 200ms"))
	for _, path := range append(modelPaths, responsesOR) {
		for _, more := range []string{"", streaming} {
			a := h.post(path, "full", bodyFor(path, "fake/delayed-headers-60000", more))
			wantRefusal(t, path+more, a, 502, "upstream_timeout")
			if row := h.row(a.header.Get("X-Request-Id")); at(row, "code") != "upstream_timeout" || at(row, "status") != number("502") {
				t.Errorf("%s%s: row %v", path, more, row)
			}
		}
	}
	h.waitUpstream(func(list []faults.Request) bool {
		gone := 0
		for _, r := range list {
			if r.ClientGone {
				gone++
			}
		}
		return gone == 8
	})
}

func TestAfterCommitAFailureIsAnEvent(t *testing.T) {
	h := start(t, quick("commit_after 50ms\nheartbeat 10s\nheader 400ms"))
	for _, path := range append(modelPaths, responsesOR) {
		s := h.open(h.request(path, "full", bodyFor(path, "fake/delayed-headers-60000", streaming)))
		e, err := s.next()
		if err != nil || e.comment == "" {
			t.Fatalf("%s: %v %v", path, e, err)
		}
		events, err := s.rest()
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		wantStreamError(t, path, events, 502, "upstream_timeout")
		if row := h.row(s.resp.Header.Get("X-Request-Id")); at(row, "code") != "upstream_timeout" || at(row, "status") != number("502") {
			t.Errorf("%s: row %v", path, row)
		}
	}
}

func TestAProvidersErrorBeforeItsAnswerIsAStatus(t *testing.T) {
	h := start(t, setup{})
	for _, path := range append(modelPaths, responsesOR) {
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
			for _, more := range []string{"", streaming} {
				a := h.post(path, "full", bodyFor(path, "fake/"+model, more))
				wantRefusal(t, path+" "+model+more, a, want.status, want.code)
				if strings.Contains(string(a.body), providerKey) {
					t.Errorf("%s: %s: the provider's text leaks: %s", path, model, a.body)
				}
				row := h.row(a.header.Get("X-Request-Id"))
				if at(row, "code") != want.code || at(row, "status") != number(itoa(want.status)) || at(row, "provider_name") != "fake" {
					t.Errorf("%s: %s: row %v", path, model, row)
				}
			}
		}
	}
}

func TestAProviderThatFallsSilentEndsTheStreamWithAnError(t *testing.T) {
	h := start(t, quick("idle 300ms"))
	for i, path := range append(modelPaths, responsesOR) {
		s := h.open(h.request(path, "full", bodyFor(path, "fake/stall", streaming)))
		events, err := s.rest()
		if err != nil || allText(t, events) != "You said: " {
			t.Errorf("%s: %v, %v", path, events, err)
		}
		wantStreamError(t, path, events, 502, "upstream_timeout")
		if row := h.row(s.resp.Header.Get("X-Request-Id")); at(row, "code") != "upstream_timeout" || at(row, "status") != number("502") {
			t.Errorf("%s: row %v", path, row)
		}
		h.waitUpstream(func(list []faults.Request) bool { return len(list) == i+1 && list[i].ClientGone })
	}
}

func TestAStreamMayLastLongerThanTheTimeoutsOfItsParts(t *testing.T) {
	h := start(t, quick("header 500ms\nidle 500ms\nbody 500ms"))
	s := h.open(h.request(chatV1, "full", chat("fake/paced-8-150", streaming)))
	events, err := s.rest()
	if err != nil || !whole(events) || allText(t, events) != strings.Repeat("word ", 8) {
		t.Errorf("%v %v", events, err)
	}
}

func TestCoalescedEventsAllArrive(t *testing.T) {
	h := start(t, setup{})
	for _, path := range modelPaths {
		s := h.open(h.request(path, "full", bodyFor(path, "fake/burst-2000", streaming)))
		text, err := io.ReadAll(s.resp.Body)
		if err != nil || strings.Count(string(text), `"word "`) != 2000 {
			t.Errorf("%s: %d words, %v", path, strings.Count(string(text), `"word "`), err)
		}
		if row := h.row(s.resp.Header.Get("X-Request-Id")); at(row, "completion_tokens") != number("2000") || at(row, "status") != number(itoa(http.StatusOK)) {
			t.Errorf("%s: row %v", path, row)
		}
	}
}
