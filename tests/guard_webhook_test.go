package tests

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// moderator is an external moderator. It refuses texts with "bad", redacts "mask", does not answer
// to "slow", and fails on "broken".
func moderator(t *testing.T) *httptest.Server {
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			Guardrail, Direction string
			Texts                []struct{ Where, Text string }
		}
		if err := json.Unmarshal(body, &asked); err != nil || asked.Guardrail != "judge" || r.Header.Get("Authorization") != "Bearer "+providerKey {
			t.Errorf("asked %s by %v: %v", body, r.Header, err)
		}
		for i, text := range asked.Texts {
			switch at := strings.Index(text.Text, "mask"); {
			case strings.Contains(text.Text, "bad"):
				_, _ = io.WriteString(w, `{"action":"deny","class":"rude"}`)
				return
			case at >= 0:
				_, _ = io.WriteString(w, `{"action":"redact","redactions":[{"text":`+itoa(i)+`,"start":`+itoa(at)+`,"end":`+itoa(at+4)+`,"class":"name"}]}`)
				return
			case strings.Contains(text.Text, "slow"):
				select {
				case <-r.Context().Done():
				case <-gone:
				}
				return
			case strings.Contains(text.Text, "broken"):
				w.WriteHeader(http.StatusBadGateway)
				return
			case strings.Contains(text.Text, "elsewhere"):
				http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
				return
			}
		}
		_, _ = io.WriteString(w, `{"action":"allow"}`)
	}))
	t.Cleanup(func() { close(gone); s.Close() })
	return s
}

func TestAnOutsideModeratorIsAsked(t *testing.T) {
	m := moderator(t)
	judge := func(on, more string) setup {
		return setup{
			keys:    limitedKey("guardrails judge") + keyBlock("activity", ""),
			options: "guardrail judge {\non " + on + "\nwebhook " + m.URL + " {\napi_key {env.PROVIDER_KEY}\ntimeout 200ms\n" + more + "\n}\n}",
		}
	}
	h := start(t, judge("input", ""))
	for _, path := range guardPaths {
		for _, more := range []string{"", streaming} {
			if a := h.post(path, "full", saying(path, "fake/echo", "hello", more)); a.status != 200 {
				t.Errorf("%s: %d %s", path, a.status, a.body)
			}
		}
		wantBlocked(t, path, h.post(path, "full", saying(path, "fake/echo", "a bad word", "")), "judge", "rude", "bad word")
		a := h.post(path, "full", saying(path, "fake/echo", "the mask of", ""))
		if a.status != 200 || !strings.Contains(string(a.body), "You said: the [REDACTED:name] of") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		for _, text := range []string{"slow", "broken", "elsewhere"} {
			a := h.post(path, "full", saying(path, "fake/echo", text, ""))
			wantRefusal(t, path, a, 503, "guardrail_unavailable")
			wantHeaders(t, a, "Retry-After", "10")
			if row := h.row(a.header.Get("X-Request-Id")); at(row, "code") != "guardrail_unavailable" {
				t.Errorf("%s: row %v", path, row)
			}
		}
	}

	h.change(h.caddyfile(judge("both", "on_failure open\nrefuse_streams")))
	h.upstream.Reset()
	for _, path := range guardPaths {
		wantRefusal(t, path, h.post(path, "full", saying(path, "fake/echo", "hello", streaming)), 400, "unsupported_parameter")
	}
	if n := len(h.upstream.Requests()); n != 0 {
		t.Errorf("%d refused streams reached the provider", n)
	}
	for _, text := range []string{"slow", "broken", "elsewhere", "hello"} {
		if a := h.post(chatV1, "full", saying(chatV1, "fake/echo", text, "")); a.status != 200 {
			t.Errorf("%s, fails open: %d %s", text, a.status, a.body)
		}
	}

	h.change(h.caddyfile(judge("output", "refuse_streams")))
	for _, path := range guardPaths {
		a := h.post(path, "full", saying(path, "fake/echo", "a bad word", ""))
		wantBlocked(t, path, a, "judge", "rude", "bad word")
		if row := h.row(a.header.Get("X-Request-Id")); at(row, "usage_source") != "provider" {
			t.Errorf("%s: row %v", path, row)
		}
	}
	wantRefusal(t, chatV1, h.post(chatV1, "full", saying(chatV1, "fake/echo", "broken", "")), 503, "guardrail_unavailable")
}
