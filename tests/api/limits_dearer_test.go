package api

import (
	"bytes"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestWhatMakesACallDearerIsRefusedUnderAHardBudget(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.FullKey("budget 5usd/day\nhosted_tools") + harness.Key("other", "budget 5usd/day\nhosted_tools\nunpriced allow") + harness.Key("chat", "budget 5usd/day\nunpriced allow")})
	for name, rest := range map[string]string{
		"search_parameters": `,"search_parameters":{"mode":"on","max_search_results":30}`,
		"enable_search":     `,"enable_search":true`,
		"extra_body":        `,"extra_body":{"google":{"tools":[{"google_search":{}}]}}`,
		"an unknown field":  `,"surprise":1`,
	} {
		body := harness.Chat("fake/echo", rest)
		a := h.Client.Post(harness.ChatV1, "full", body)
		harness.WantRefusal(t, harness.ChatV1, a, 402, "cannot_be_priced")
		if field := []byte(rest[2 : bytes.IndexByte([]byte(rest[2:]), '"')+2]); !bytes.Contains(a.Body, field) {
			t.Errorf("%s: the refusal does not name %s: %s", name, field, a.Body)
		}
		if a := h.Client.Post(harness.ChatV1, "other", body); a.Status != 200 {
			t.Errorf("%s, unpriced allow: %d %s", name, a.Status, a.Body)
		}
	}
	tool := harness.Chat("fake/echo", `,"tools":[{"google_search":{}}]`)
	harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", tool), 402, "cannot_be_priced")
	harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "chat", tool), 403, "insufficient_scope")
	object := `{"model":"fake/echo","messages":[{"role":"user","content":{"type":"image_url","image_url":{"url":"https://x.example"}}}]}`
	harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", object), 402, "cannot_be_priced")
	for _, rest := range []string{`,"Service_Tier":"priority"`, `,"Modalities":["text","audio"],"Audio":{}`, `,"Prediction":{}`} {
		harness.WantRefusal(t, harness.ChatV1, h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", rest)), 400, "invalid_value")
	}
	plain := `,"top_k":4,"min_p":0.1,"repetition_penalty":1.1,"safety_identifier":"u","verbosity":"low","thinking":{"type":"disabled"},"chat_template_kwargs":{}`
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", plain)); a.Status != 200 {
		t.Errorf("harmless fields: %d %s", a.Status, a.Body)
	}
}

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
