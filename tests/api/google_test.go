package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/clouds"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// onGemini has the fake provider as Google: at the Gemini API, and on Vertex AI.
var onGemini = harness.Setup{Providers: `
	provider g {
		dialect gemini
		base_url PROVIDER/gemini/v1beta
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
	provider wrong {
		dialect gemini
		base_url PROVIDER/gemini/v1beta
		api_key wrong-google-key
		models *
		discover off
	}
	provider fake {
		base_url PROVIDER/v1
		api_key {env.PROVIDER_KEY}
		models *
		discover off
	}
`, Options: `
	alias safe g/gemini-3-malformed fake/echo
	alias keyed wrong/gemini-3-echo fake/echo
`}

// sent returns the newest request that Google got.
func sent(t *testing.T, h *harness.Gateway) (clouds.Request, map[string]any) {
	t.Helper()
	list := h.Provider.Fake.Gemini.Requests()
	if len(list) == 0 {
		t.Fatal("Google got nothing")
	}
	last := list[len(list)-1]
	return last, harness.Parse(t, last.Body).(map[string]any)
}

func TestAllAPIsWorkOnGemini(t *testing.T) {
	h := harness.Start(t, onGemini)
	for _, path := range []string{harness.ChatV1, harness.ResponsesV1, "/v1/messages"} {
		for _, stream := range []string{"", harness.Streaming} {
			post := func(path, body string) harness.Answer { return h.Client.Post(path, "full", body) }
			if path == "/v1/messages" {
				post = func(path, body string) harness.Answer { return postMessages(h, path, body) }
			}
			a := post(path, harness.Body(path, "g/gemini-3-echo", `,"max_tokens":100`[:len(`,"max_tokens":100`)*strings.Count(path, "messages")]+stream))
			if a.Status != 200 || !strings.Contains(string(a.Body), "hello") {
				t.Fatalf("%s%s: %d %s", path, stream, a.Status, a.Body)
			}
			last, body := sent(t, h)
			if last.Path != "/v1beta/models/gemini-3-echo:streamGenerateContent?alt=sse" || last.Header.Get("X-Goog-Api-Key") != harness.ProviderKey || last.Header.Get("Authorization") != "" {
				t.Errorf("%s%s: Google got %s %v", path, stream, last.Path, last.Header)
			}
			if harness.At(body, "contents", 0, "parts", 0, "text") != "say hello" || body["model"] != nil || body["stream"] != nil {
				t.Errorf("%s%s: Google got %s", path, stream, last.Body)
			}
			row := h.Records.Row(a.Header.Get("X-Request-Id"))
			for key, want := range map[string]any{"model": "g/gemini-3-echo", "provider_name": "g", "status": harness.Number("200"), "usage_source": "provider"} {
				if got := harness.At(row, key); got != want {
					t.Errorf("%s%s: row[%s] = %v, want %v", path, stream, key, got, want)
				}
			}
		}
	}
}

func TestWhatGoogleSaysReachesTheCaller(t *testing.T) {
	h := harness.Start(t, onGemini)
	for _, c := range []struct {
		model  string
		status int
		code   string // "" for an answer
		shows  string
	}{
		{"g/gemini-3-blocked", 422, "provider_content_policy", ""},
		{"g/gemini-3-malformed", 502, "upstream_error", ""},
		{"g/gemini-3-error-first", 503, "upstream_overloaded", ""},
		{"g/gemini-3-no-finish", 502, "upstream_error", ""},
		{"g/gemini-3-quota-day", 502, "upstream_quota_exhausted", ""},
		{"g/gemini-3-retry", 429, "upstream_rate_limited", ""},
		{"g/gemini-3-billing", 502, "upstream_auth_error", ""},
		{"wrong/gemini-3-echo", 502, "upstream_auth_error", ""},
		{"g/gemini-3-safety-late", 200, "", `"finish_reason":"content_filter"`},
		{"g/gemini-3-sources", 200, "", `"start_index":10`},
		{"g/gemini-3-counted", 200, "", `"reasoning_tokens":40`},
		{"safe", 200, "", "say hello"},
		{"keyed", 200, "", "say hello"},
	} {
		a := h.Client.Post(harness.ChatV1, "hosted", harness.Chat(c.model, map[bool]string{true: `,"web_search_options":{}`}[strings.HasSuffix(c.model, "sources")]))
		if c.code != "" {
			harness.WantRefusal(t, harness.ChatV1, a, c.status, c.code)
		} else if a.Status != c.status || !strings.Contains(string(a.Body), c.shows) {
			t.Errorf("%s: %d %s", c.model, a.Status, a.Body)
		}
		if c.model == "g/gemini-3-retry" && a.Header.Get("Retry-After") != "35" {
			t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
		}
	}
	for model, want := range map[string]string{"g/gemini-3-malformed-late": "upstream_error", "g/gemini-3-error-late": "upstream_error", "g/gemini-3-no-finish": "upstream_error"} {
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat(model, harness.Streaming))
		if !strings.Contains(string(a.Body), want) || strings.Contains(string(a.Body), "[DONE]") && !strings.Contains(string(a.Body), want) {
			t.Errorf("%s: %d %s", model, a.Status, a.Body)
		}
	}
}

// Tokens that were used are paid for, also if the answer is none.
func TestTheUsageThatGoogleReportsBesideAFailureCounts(t *testing.T) {
	h := harness.Start(t, onGemini)
	for model, completion := range map[string]string{"g/gemini-3-blocked": "0", "g/gemini-3-malformed": "0", "g/gemini-3-no-finish": "1"} {
		for _, stream := range []string{"", harness.Streaming} {
			for path, body := range map[string]string{harness.ChatV1: harness.Chat(model, stream), harness.ResponsesV1: harness.Responses(model, stream)} {
				a := h.Client.Post(path, "full", body)
				row := h.Records.Row(a.Header.Get("X-Request-Id"))
				if harness.At(row, "usage_source") != "provider" || harness.At(row, "prompt_tokens") != harness.Number("4") || harness.At(row, "completion_tokens") != harness.Number(completion) {
					t.Errorf("%s %s%s: %v", path, model, stream, row)
				}
			}
		}
	}
}

// A model ends one request after 65,536 tokens, and goes on in the next.
func TestALongAnswerComesInSeveralRequests(t *testing.T) {
	h := harness.Start(t, onGemini)
	for _, stream := range []string{"", harness.Streaming} {
		before := len(h.Provider.Fake.Gemini.Requests())
		a := h.Client.Post(harness.ChatV1, "full", harness.Chat("g/gemini-4-continued", `,"max_tokens":100000`+stream))
		text := strings.Contains(string(a.Body), "one two") || strings.Contains(string(a.Body), `"one "`) && strings.Contains(string(a.Body), `"two"`)
		if a.Status != 200 || !text {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		if n := len(h.Provider.Fake.Gemini.Requests()) - before; n != 2 {
			t.Errorf("Google got %d requests", n)
		}
		row := h.Records.Row(a.Header.Get("X-Request-Id"))
		if harness.At(row, "prompt_tokens") != harness.Number("25") || harness.At(row, "completion_tokens") != harness.Number("8") {
			t.Errorf("the row is %v", row)
		}
	}
	a := h.Client.Post(harness.ChatV1, "full", harness.Chat("g/gemini-4-continued", ""))
	if !jsontest.Has(t, a.Body, `{"finish_reason":"length"}`) {
		t.Errorf("without a limit of the caller: %s", a.Body)
	}
}

func TestGoogleCountsAndEmbeds(t *testing.T) {
	h := harness.Start(t, onGemini)
	a := postMessages(h, "/v1/messages/count_tokens", `{"model":"g/gemini-3-echo","system":"be brief","messages":[{"role":"user","content":"one two three"}]}`)
	last, body := sent(t, h)
	if n := harness.At(harness.Parse(t, a.Body), "input_tokens"); a.Status != 200 || n == nil || last.Path != "/v1beta/models/gemini-3-echo:countTokens" ||
		harness.At(body, "generateContentRequest", "model") != "models/gemini-3-echo" {
		t.Errorf("%d %s; Google got %s %s", a.Status, a.Body, last.Path, last.Body)
	}
	a = h.Client.Post(embeddingsV1, "full", `{"model":"g/gemini-embedding-001","input":["a","bb","ccc"],"dimensions":768}`)
	list := harness.Parse(t, a.Body)
	if a.Status != 200 || harness.At(list, "data", 2, "embedding", 0) != harness.Number("3") || harness.At(list, "model") != "g/gemini-embedding-001" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

// postMessages makes a call of the Messages API.
func postMessages(h *harness.Gateway, path, body string) harness.Answer {
	r := h.Client.Request(path, "full", body)
	r.Header.Set("Anthropic-Version", "2023-06-01")
	return h.Client.Send(r)
}
