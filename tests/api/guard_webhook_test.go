package api

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
		if err := json.Unmarshal(body, &asked); err != nil || asked.Guardrail != "judge" || r.Header.Get("Authorization") != "Bearer "+harness.ProviderKey {
			t.Errorf("asked %s by %v: %v", body, r.Header, err)
		}
		harness.WantDocumented(t, "guardrails.md", `"guardrail"`, string(body))
		for i, text := range asked.Texts {
			switch at := strings.Index(text.Text, "mask"); {
			case strings.Contains(text.Text, "bad"):
				_, _ = io.WriteString(w, `{"action":"deny","class":"rude"}`)
				return
			case at >= 0:
				answer := `{"action":"redact","redactions":[{"text":` + strconv.Itoa(i) + `,"start":` + strconv.Itoa(at) + `,"end":` + strconv.Itoa(at+4) + `,"class":"name"}]}`
				harness.WantDocumented(t, "guardrails.md", `"action"`, answer)
				_, _ = io.WriteString(w, answer)
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
	judge := func(on, more string) harness.Setup {
		return harness.Setup{
			Keys:    harness.FullKey("guardrails judge") + harness.Key("activity", ""),
			Options: "guardrail judge {\non " + on + "\nwebhook " + m.URL + " {\napi_key {env.PROVIDER_KEY}\ntimeout 200ms\n" + more + "\n}\n}",
		}
	}
	h := harness.Start(t, judge("input", ""))
	for _, path := range guardPaths {
		for _, more := range []string{"", harness.Streaming} {
			if a := h.Client.Post(path, "full", saying(path, "fake/echo", "hello", more)); a.Status != 200 {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
		wantBlocked(t, path, h.Client.Post(path, "full", saying(path, "fake/echo", "a bad word", "")), "judge", "rude", "bad word")
		a := h.Client.Post(path, "full", saying(path, "fake/echo", "the mask of", ""))
		if a.Status != 200 || !strings.Contains(string(a.Body), "You said: the [REDACTED:name] of") {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
		for _, text := range []string{"slow", "broken", "elsewhere"} {
			a := h.Client.Post(path, "full", saying(path, "fake/echo", text, ""))
			harness.WantRefusal(t, path, a, 503, "guardrail_unavailable")
			wantHeaders(t, a, "Retry-After", "10")
			if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != "guardrail_unavailable" {
				t.Errorf("%s: row %v", path, row)
			}
		}
	}

	h.Become(judge("both", "on_failure open\nrefuse_streams"))
	h.Provider.Fake.Reset()
	for _, path := range guardPaths {
		harness.WantRefusal(t, path, h.Client.Post(path, "full", saying(path, "fake/echo", "hello", harness.Streaming)), 400, "unsupported_parameter")
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d refused streams reached the provider", n)
	}
	for _, text := range []string{"slow", "broken", "elsewhere", "hello"} {
		if a := h.Client.Post(harness.ChatV1, "full", saying(harness.ChatV1, "fake/echo", text, "")); a.Status != 200 {
			t.Errorf("%s, fails open: %d %s", text, a.Status, a.Body)
		}
	}

	h.Become(judge("output", "refuse_streams"))
	for _, path := range guardPaths {
		a := h.Client.Post(path, "full", saying(path, "fake/echo", "a bad word", ""))
		wantBlocked(t, path, a, "judge", "rude", "bad word")
		if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "usage_source") != "provider" {
			t.Errorf("%s: row %v", path, row)
		}
	}
	harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", saying(harness.ChatV1, "fake/echo", "broken", "")), 503, "guardrail_unavailable")
}
