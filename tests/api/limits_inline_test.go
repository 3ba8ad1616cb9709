package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 5usd/day soft\nrate 1M tokens/min") + harness.Key("chat", "budget 5usd/day") + harness.Key("other", "budget 5M tokens/day")})
	for _, key := range []string{"full", "chat", "other"} {
		a := h.Client.Post(harness.ChatV1, key, inlineTwice("fake/usage-all"))
		if a.Status != 200 {
			t.Fatalf("key %s: %d %s", key, a.Status, a.Body)
		}
		if b := h.Records.Key(key).Budgets; len(b) != 1 || harness.Nano(t, b[0].Spent) <= 0 {
			t.Errorf("key %s was charged nothing: %+v", key, b)
		}
		if key != "full" {
			continue
		}
		if left := a.Header.Get("X-Ratelimit-Remaining-Tokens"); left == "" || len(left) >= len("1000000") {
			t.Errorf("tokens that remain of the rate: %q", left)
		}
	}
}
