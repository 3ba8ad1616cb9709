package api

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestARateIsReportedAndRefuses(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("rate 2/min\nrate 1000/day")})
	for i, remaining := range []string{"1", "0"} {
		a := h.Client.Post(harness.ChatV1, "full", harness.Hello("fake/echo"))
		if a.Status != 200 {
			t.Fatalf("call %d: %d %s", i, a.Status, a.Body)
		}
		wantHeaders(t, a, "x-ratelimit-limit-requests", "2", "x-ratelimit-remaining-requests", remaining, "x-ratelimit-limit-tokens", "")
		if reset, err := time.ParseDuration(a.Header.Get("x-ratelimit-reset-requests")); err != nil || reset < time.Minute || reset > 61*time.Second {
			t.Errorf("call %d: reset %q", i, a.Header.Get("x-ratelimit-reset-requests"))
		}
	}
	for _, path := range []string{harness.ChatV1, harness.ResponsesV1, harness.ChatRouter, harness.ResponsesRouter} {
		a := h.Client.Post(path, "full", `{"model":"fake/echo","input":"hi","messages":[]}`)
		harness.WantRefusal(t, path, a, 429, "rate_limit_exceeded")
		wait, _ := strconv.Atoi(a.Header.Get("Retry-After"))
		exact, _ := strconv.Atoi(a.Header.Get("retry-after-ms"))
		final := a.Header.Get("x-should-retry") == "false" // from 60 s on an SDK's own retry cannot help
		if wait < 1 || wait > 61 || exact <= (wait-1)*1000 || exact > wait*1000 || final != (exact > 60_000) {
			t.Errorf("%s: Retry-After %d, retry-after-ms %d, x-should-retry %q", path, wait, exact, a.Header.Get("x-should-retry"))
		}
		if !harness.IsOpenRouter(path) {
			wantHeaders(t, a, "x-ratelimit-limit-requests", "2", "x-ratelimit-remaining-requests", "0", "X-RateLimit-Limit", "")
			continue
		}
		wantHeaders(t, a, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "0", "x-ratelimit-limit-requests", "")
		reset, err := strconv.ParseInt(a.Header.Get("X-RateLimit-Reset"), 10, 64)
		if left := time.Until(time.UnixMilli(reset)); err != nil || left < 0 || left > 61*time.Second {
			t.Errorf("%s: X-RateLimit-Reset %q is in %v", path, a.Header.Get("X-RateLimit-Reset"), left)
		}
		if got := harness.At(harness.Parse(t, a.Body), "error", "metadata", "limit_source"); got != "key:full" {
			t.Errorf("%s: limit_source %v", path, got)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 2 {
		t.Errorf("%d calls reached the provider", n)
	}
	if rows, _ := harness.At(harness.Parse(t, h.Client.Get("/api/v1/activity?status=429", "full").Body), "data").([]any); len(rows) != 4 || harness.At(rows[0], "code") != "rate_limit_exceeded" {
		t.Errorf("rows of the refusals: %v", rows)
	}
	if metrics := string(h.Client.Get("/metrics", "").Body); !strings.Contains(metrics, `code="rate_limit_exceeded"`) {
		t.Error("no metric of the refusals")
	}
	if a := h.Client.Get("/v1/models", "full"); a.Status != 200 || a.Header.Get("x-ratelimit-limit-requests") != "" {
		t.Errorf("the list of models: %d %v", a.Status, a.Header)
	}
}

// wantHeaders checks pairs of name and value; "" is absent.
func wantHeaders(t *testing.T, a harness.Answer, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := a.Header.Get(pairs[i]); got != pairs[i+1] {
			t.Errorf("%s: %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

func TestTokensAreCountedWhenTheyAreKnown(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("rate 2000 tokens/min")})
	a := h.Client.Post(harness.ChatV1, "full", harness.Hello("fake/echo"))
	if a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	wantHeaders(t, a, "x-ratelimit-limit-tokens", "2000", "x-ratelimit-limit-requests", "")
	// The first call was counted with about 1,050 tokens and used a few.
	if a = h.Client.Post(harness.ChatV1, "full", harness.Hello("fake/echo")); a.Status != 200 {
		t.Errorf("the second: %d %s", a.Status, a.Body)
	}
	long := `{"model":"fake/echo","messages":[{"role":"user","content":"` + strings.Repeat("x", 20_000) + `"}]}`
	for _, path := range []string{harness.ChatV1, harness.ChatRouter} { // it never fits, but a client that does not know x-should-retry needs a time
		a = h.Client.Post(path, "full", long)
		harness.WantRefusal(t, path, a, 429, "rate_limit_exceeded")
		wantHeaders(t, a, "x-should-retry", "false", "Retry-After", "60", "retry-after-ms", "60000")
	}
}
