package api

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Whatever upstreams the caller prefers, one that costs more than the catalog says must not answer.
func TestOpenRouterMustNotChooseADearerUpstream(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{
		Keys: harness.FullKey("budget 5usd/day") + harness.Key("other", "budget 5usd/day soft"),
		Providers: harness.DefaultProviders + "provider dear {\ndialect openrouter\nbase_url PROVIDER/api/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\nresponses translate\n}\n" +
			"provider newer {\ndialect openrouter\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\ncatalog_name dear\nchat translate\n}\n",
	})
	for _, c := range []struct{ path, body, key, prefer, prompt string }{
		{harness.ChatV1, harness.Chat("router/echo", `,"provider":{"sort":"throughput","only":["dearest"]}`), "full", "throughput", "1"},
		{harness.ChatRouter, harness.Chat("router/echo", `,"provider":{"max_price":{"prompt":0.5,"completion":99}}`), "full", "", "0.5"},
		{harness.ChatV1, harness.Chat("router/echo", ""), "full", "", "1"},
		{harness.ResponsesV1, harness.Responses("router/echo", ""), "full", "", "1"},
		{harness.ResponsesV1, harness.Responses("dear/echo", `,"provider":{"sort":"throughput"}`), "full", "", "1"},
		{harness.ChatV1, harness.Chat("newer/echo", ""), "full", "", "1"},
		{harness.ChatV1, harness.Chat("router/echo", ""), "other", "", ""},
		{harness.ChatV1, harness.Chat("fake/echo", `,"provider":{"sort":"price"}`), "full", "", ""},
	} {
		h.Provider.Fake.Reset()
		a := h.Client.Post(c.path, c.key, c.body)
		if a.Status != 200 {
			t.Errorf("%s: %d %s", c.body, a.Status, a.Body)
			continue
		}
		sent := harness.Parse(t, h.Provider.Request(0).Body)
		if c.prompt == "" {
			if harness.Has(sent, "provider") {
				t.Errorf("%s: the provider got %v", c.body, sent)
			}
			continue
		}
		if harness.At(sent, "provider", "max_price", "prompt") != harness.Number(c.prompt) || harness.At(sent, "provider", "max_price", "completion") != harness.Number("10") ||
			c.prefer != "" && harness.At(sent, "provider", "sort") != c.prefer {
			t.Errorf("%s: the provider got %v", c.body, harness.At(sent, "provider"))
		}
	}
}
