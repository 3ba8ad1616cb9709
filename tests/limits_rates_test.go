package tests

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// limitedKey is the key full with more options.
func limitedKey(options string) string {
	return keyBlock("full", options)
}

func keyBlock(name, options string) string {
	return fmt.Sprintf("key %s {\nsecret {env.KEY_%s}\nscopes chat:write models:read activity:read\n%s\n}\n", name, strings.ToUpper(name), options)
}

func chatBody(model string) string {
	return `{"model":"` + model + `","messages":[{"role":"user","content":"hello"}]}`
}

func TestARateIsReportedAndRefuses(t *testing.T) {
	h := start(t, setup{keys: limitedKey("rate 2/min\nrate 1000/day")})
	for i, remaining := range []string{"1", "0"} {
		a := h.post(chatV1, "full", chatBody("fake/echo"))
		if a.status != 200 {
			t.Fatalf("call %d: %d %s", i, a.status, a.body)
		}
		wantHeaders(t, a, "x-ratelimit-limit-requests", "2", "x-ratelimit-remaining-requests", remaining, "x-ratelimit-limit-tokens", "")
		if reset, err := time.ParseDuration(a.header.Get("x-ratelimit-reset-requests")); err != nil || reset < time.Minute || reset > 61*time.Second {
			t.Errorf("call %d: reset %q", i, a.header.Get("x-ratelimit-reset-requests"))
		}
	}
	for _, path := range []string{chatV1, responsesV1, chatRouter, responsesOR} {
		a := h.post(path, "full", `{"model":"fake/echo","input":"hi","messages":[]}`)
		wantRefusal(t, path, a, 429, "rate_limit_exceeded")
		wait, _ := strconv.Atoi(a.header.Get("Retry-After"))
		exact, _ := strconv.Atoi(a.header.Get("retry-after-ms"))
		final := a.header.Get("x-should-retry") == "false" // from 60 s on an SDK's own retry cannot help
		if wait < 1 || wait > 61 || exact <= (wait-1)*1000 || exact > wait*1000 || final != (exact > 60_000) {
			t.Errorf("%s: Retry-After %d, retry-after-ms %d, x-should-retry %q", path, wait, exact, a.header.Get("x-should-retry"))
		}
		if !isOpenRouter(path) {
			wantHeaders(t, a, "x-ratelimit-limit-requests", "2", "x-ratelimit-remaining-requests", "0", "X-RateLimit-Limit", "")
			continue
		}
		wantHeaders(t, a, "X-RateLimit-Limit", "2", "X-RateLimit-Remaining", "0", "x-ratelimit-limit-requests", "")
		reset, err := strconv.ParseInt(a.header.Get("X-RateLimit-Reset"), 10, 64)
		if left := time.Until(time.UnixMilli(reset)); err != nil || left < 0 || left > 61*time.Second {
			t.Errorf("%s: X-RateLimit-Reset %q is in %v", path, a.header.Get("X-RateLimit-Reset"), left)
		}
		if got := at(parse(t, a.body), "error", "metadata", "limit_source"); got != "key:full" {
			t.Errorf("%s: limit_source %v", path, got)
		}
	}
	if n := len(h.upstream.Requests()); n != 2 {
		t.Errorf("%d calls reached the provider", n)
	}
	if rows, _ := at(parse(t, h.get("/api/v1/activity?status=429", "full").body), "data").([]any); len(rows) != 4 || at(rows[0], "code") != "rate_limit_exceeded" {
		t.Errorf("rows of the refusals: %v", rows)
	}
	if metrics := string(h.get("/metrics", "").body); !strings.Contains(metrics, `code="rate_limit_exceeded"`) {
		t.Error("no metric of the refusals")
	}
	if a := h.get("/v1/models", "full"); a.status != 200 || a.header.Get("x-ratelimit-limit-requests") != "" {
		t.Errorf("the list of models: %d %v", a.status, a.header)
	}
}

// wantHeaders checks pairs of name and value; "" is absent.
func wantHeaders(t *testing.T, a answer, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := a.header.Get(pairs[i]); got != pairs[i+1] {
			t.Errorf("%s: %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

func TestALongWindowReportsThatARetryCannotHelp(t *testing.T) {
	h := start(t, setup{keys: limitedKey("rate 1/h")})
	if a := h.post(chatV1, "full", chatBody("fake/echo")); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	a := h.post(chatV1, "full", chatBody("fake/echo"))
	wantRefusal(t, chatV1, a, 429, "rate_limit_exceeded")
	wantHeaders(t, a, "x-should-retry", "false")
	h.stop()
	if err := h.reload(setup{keys: limitedKey("rate 1/h")}); err != nil {
		t.Fatal(err)
	}
	wantRefusal(t, chatV1, h.post(chatV1, "full", chatBody("fake/echo")), 429, "rate_limit_exceeded")
	h.change(h.caddyfile(setup{keys: limitedKey("rate 2/h")}))
	if a := h.post(chatV1, "full", chatBody("fake/echo")); a.status != 200 {
		t.Errorf("under the raised limit: %d %s", a.status, a.body)
	}
	wantRefusal(t, chatV1, h.post(chatV1, "full", chatBody("fake/echo")), 429, "rate_limit_exceeded")
}

func TestARateAppliesToItsSubject(t *testing.T) {
	for name, c := range map[string]struct{ options, other string }{
		"the tenant":  {"tenant default {\nrate 1/min\n}", "tenant:default"},
		"the gateway": {"rate 1/min", "gateway"},
		"the model":   {"model fake/* {\nrate 1/min\n}", "model:fake/*"},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, setup{options: c.options})
			if a := h.post(chatV1, "full", chatBody("fake/echo")); a.status != 200 {
				t.Fatalf("%d %s", a.status, a.body)
			}
			a := h.post(chatRouter, "chat", chatBody("fake/echo"))
			wantRefusal(t, chatRouter, a, 429, "rate_limit_exceeded")
			if got := at(parse(t, a.body), "error", "metadata", "limit_source"); got != c.other {
				t.Errorf("limit_source %v, want %s", got, c.other)
			}
		})
	}
}

func TestTokensAreCountedWhenTheyAreKnown(t *testing.T) {
	h := start(t, setup{keys: limitedKey("rate 2000 tokens/min")})
	a := h.post(chatV1, "full", chatBody("fake/echo"))
	if a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	wantHeaders(t, a, "x-ratelimit-limit-tokens", "2000", "x-ratelimit-limit-requests", "")
	// The first call was counted with about 1,050 tokens and used a few.
	if a = h.post(chatV1, "full", chatBody("fake/echo")); a.status != 200 {
		t.Errorf("the second: %d %s", a.status, a.body)
	}
	long := `{"model":"fake/echo","messages":[{"role":"user","content":"` + strings.Repeat("x", 20_000) + `"}]}`
	for _, path := range []string{chatV1, chatRouter} { // it never fits, but a client that does not know x-should-retry needs a time
		a = h.post(path, "full", long)
		wantRefusal(t, path, a, 429, "rate_limit_exceeded")
		wantHeaders(t, a, "x-should-retry", "false", "Retry-After", "60", "retry-after-ms", "60000")
	}
}

// An inline image does not count as text of that length.
func TestAPhotoFitsATokenRate(t *testing.T) {
	h := start(t, setup{keys: limitedKey("rate 20000 tokens/min")})
	body := `{"model":"fake/refusal","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("A", 600<<10) + `"}}]}]}`
	if a := h.post(chatV1, "full", body); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
