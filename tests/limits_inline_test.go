package tests

import (
	"strings"
	"testing"
)

// inlineTwice is a call whose image is in sources in sources. Their contents come before the
// members that make them data.
func inlineTwice(model string) string {
	source := `{"type":"image_url","image_url":"data:image/png,` + strings.Repeat("B", 60_000) + `"}`
	for range 2 {
		source = `{"type":"image","source":{"content":[` + source + `],"url":""}}`
	}
	return `{"model":"` + model + `","messages":[{"role":"user","content":"hi","image_url":"","source":{"content":[` + source + `],"url":""}}]}`
}

func TestAnImageInSourcesInSourcesIsCharged(t *testing.T) {
	h := startPriced(t, setup{keys: limitedKey("budget 5usd/day soft\nrate 1M tokens/min") + keyBlock("chat", "budget 5usd/day") + keyBlock("other", "budget 5M tokens/day")})
	for _, key := range []string{"full", "chat", "other"} {
		a := h.post(chatV1, key, inlineTwice("fake/usage-all"))
		if a.status != 200 {
			t.Fatalf("key %s: %d %s", key, a.status, a.body)
		}
		if b := h.keyInfo(key).Budgets; len(b) != 1 || nano(t, b[0].Spent) <= 0 {
			t.Errorf("key %s was charged nothing: %+v", key, b)
		}
		if key != "full" {
			continue
		}
		if left := a.header.Get("X-Ratelimit-Remaining-Tokens"); left == "" || len(left) >= len("1000000") {
			t.Errorf("tokens that remain of the rate: %q", left)
		}
	}
}
