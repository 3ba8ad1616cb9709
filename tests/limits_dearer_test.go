package tests

import (
	"bytes"
	"testing"
)

func TestWhatMakesACallDearerIsRefusedUnderAHardBudget(t *testing.T) {
	h := startPriced(t, setup{keys: limitedKey("budget 5usd/day\nhosted_tools") + keyBlock("other", "budget 5usd/day\nhosted_tools\nunpriced allow") + keyBlock("chat", "budget 5usd/day\nunpriced allow")})
	for name, rest := range map[string]string{
		"search_parameters": `,"search_parameters":{"mode":"on","max_search_results":30}`,
		"enable_search":     `,"enable_search":true`,
		"extra_body":        `,"extra_body":{"google":{"tools":[{"google_search":{}}]}}`,
		"an unknown field":  `,"surprise":1`,
	} {
		body := chat("fake/echo", rest)
		a := h.post(chatV1, "full", body)
		wantRefusal(t, chatV1, a, 402, "cannot_be_priced")
		if field := []byte(rest[2 : bytes.IndexByte([]byte(rest[2:]), '"')+2]); !bytes.Contains(a.body, field) {
			t.Errorf("%s: the refusal does not name %s: %s", name, field, a.body)
		}
		if a := h.post(chatV1, "other", body); a.status != 200 {
			t.Errorf("%s, unpriced allow: %d %s", name, a.status, a.body)
		}
	}
	tool := chat("fake/echo", `,"tools":[{"google_search":{}}]`)
	wantRefusal(t, chatV1, h.post(chatV1, "full", tool), 402, "cannot_be_priced")
	wantRefusal(t, chatV1, h.post(chatV1, "chat", tool), 403, "insufficient_scope")
	object := `{"model":"fake/echo","messages":[{"role":"user","content":{"type":"image_url","image_url":{"url":"https://x.example"}}}]}`
	wantRefusal(t, chatV1, h.post(chatV1, "full", object), 402, "cannot_be_priced")
	for _, rest := range []string{`,"Service_Tier":"priority"`, `,"Modalities":["text","audio"],"Audio":{}`, `,"Prediction":{}`} {
		wantRefusal(t, chatV1, h.post(chatV1, "full", chat("fake/echo", rest)), 400, "invalid_value")
	}
	plain := `,"top_k":4,"min_p":0.1,"repetition_penalty":1.1,"safety_identifier":"u","verbosity":"low","thinking":{"type":"disabled"},"chat_template_kwargs":{}`
	if a := h.post(chatV1, "full", chat("fake/echo", plain)); a.status != 200 {
		t.Errorf("harmless fields: %d %s", a.status, a.body)
	}
}

// Whatever upstreams the caller prefers, one that costs more than the catalog says must not answer.
func TestOpenRouterMustNotChooseADearerUpstream(t *testing.T) {
	h := startPriced(t, setup{
		keys: limitedKey("budget 5usd/day") + keyBlock("other", "budget 5usd/day soft"),
		providers: defaultProviders + "provider dear {\ndialect openrouter\nbase_url PROVIDER/api/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\nresponses translate\n}\n" +
			"provider newer {\ndialect openrouter\nbase_url PROVIDER/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\ncatalog_name dear\nchat translate\n}\n",
	})
	for _, c := range []struct{ path, body, key, prefer, prompt string }{
		{chatV1, chat("router/echo", `,"provider":{"sort":"throughput","only":["dearest"]}`), "full", "throughput", "1"},
		{chatRouter, chat("router/echo", `,"provider":{"max_price":{"prompt":0.5,"completion":99}}`), "full", "", "0.5"},
		{chatV1, chat("router/echo", ""), "full", "", "1"},
		{responsesV1, ask("router/echo", ""), "full", "", "1"},
		{responsesV1, ask("dear/echo", `,"provider":{"sort":"throughput"}`), "full", "", "1"},
		{chatV1, chat("newer/echo", ""), "full", "", "1"},
		{chatV1, chat("router/echo", ""), "other", "", ""},
		{chatV1, chat("fake/echo", `,"provider":{"sort":"price"}`), "full", "", ""},
	} {
		h.upstream.Reset()
		a := h.post(c.path, c.key, c.body)
		if a.status != 200 {
			t.Errorf("%s: %d %s", c.body, a.status, a.body)
			continue
		}
		sent := parse(t, h.upstreamCall(0).Body)
		if c.prompt == "" {
			if has(sent, "provider") {
				t.Errorf("%s: the provider got %v", c.body, sent)
			}
			continue
		}
		if at(sent, "provider", "max_price", "prompt") != number(c.prompt) || at(sent, "provider", "max_price", "completion") != number("10") ||
			c.prefer != "" && at(sent, "provider", "sort") != c.prefer {
			t.Errorf("%s: the provider got %v", c.body, at(sent, "provider"))
		}
	}
}
