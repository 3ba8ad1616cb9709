package api

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// askGoogle is a request to Google's API as its SDKs send it: the key is in their header.
func askGoogle(h *harness.Gateway, path, key, body string) harness.Answer {
	h.T.Helper()
	r := h.Client.Request(path, "", body)
	if key != "" {
		r.Header.Set("X-Goog-Api-Key", harness.Secret(key))
	}
	return h.Client.Send(r)
}

// hello is a GenerateContentRequest; more is further members, each behind a comma.
func hello(more string) string {
	return `{"contents":[{"role":"user","parts":[{"text":"say hello"}]}]` + more + `}`
}

const (
	generate    = "/v1beta/models/g/gemini-3-echo:generateContent"
	generateSSE = "/v1beta/models/g/gemini-3-echo:streamGenerateContent?alt=sse"
)

// with is a path with another model.
func with(path, model string) string { return strings.Replace(path, "g/gemini-3-echo", model, 1) }

func TestGooglesAPIIsServedAsItCame(t *testing.T) {
	h := harness.Start(t, onGemini)
	body := hello(`, "generationConfig" : {"maxOutputTokens":40,"unheard":null}, "system_instruction":{"parts":{"text":"ü"}}`)
	body = strings.Replace(body, `,"unheard":null`, "", 1)
	for _, version := range []string{"v1beta", "v1", "v1alpha"} {
		for _, path := range []string{generate, generateSSE} {
			a := askGoogle(h, strings.Replace(path, "v1beta", version, 1), "full", body)
			if a.Status != 200 || !strings.Contains(string(a.Body), "hello") || !strings.Contains(string(a.Body), "g/gemini-3-echo") {
				t.Fatalf("%s: %d %s", version, a.Status, a.Body)
			}
			got, _ := sent(t, h)
			if string(got.Body) != body || got.Path != with(strings.TrimPrefix(path, ""), "gemini-3-echo") || got.Header.Get("X-Goog-Api-Key") != harness.ProviderKey {
				t.Errorf("Google got %s %s", got.Path, got.Body)
			}
			row := h.Records.Row(a.Header.Get("X-Request-Id"))
			for key, want := range map[string]any{"model": "g/gemini-3-echo", "usage_source": "provider", "finish_reason": "stop"} {
				if harness.At(row, key) != want {
					t.Errorf("%s of the row is %v", key, harness.At(row, key))
				}
			}
		}
	}
}

// Google's SDKs fail on everything in a stream but lines of data and empty ones.
var googleEvents = regexp.MustCompile(`^(data: \{.*\}\n\n|\n)+$`)

func TestAStreamOfGooglesAPIHasOnlyData(t *testing.T) {
	setup := onGemini
	setup.Options += "timeouts {\ncommit_after 20ms\nheartbeat 20ms\nfirst_byte 400ms\nidle 400ms\n}"
	h := harness.Start(t, setup)
	for model, failure := range map[string]string{
		"gemini-3-echo": "", "gemini-3-stall": "upstream_timeout", "gemini-3-no-finish": "upstream_error", "gemini-3-error-late": "upstream_error",
	} {
		a := askGoogle(h, with(generateSSE, "g/"+model), "full", hello(""))
		text := string(a.Body)
		last := text[strings.LastIndex(strings.TrimRight(text, "\n"), "\n")+1:]
		if a.Status != 200 || !googleEvents.MatchString(text) || jsontest.Has(t, last, `{"reason":"`+failure+`"}`) != (failure != "") {
			t.Errorf("%s: %d %q", model, a.Status, text)
		}
		if beats := strings.Contains(text, "\n\n\n"); beats != (model == "gemini-3-stall") {
			t.Errorf("%s: a heartbeat: %t: %q", model, beats, text)
		}
	}
}

func TestGooglesAPIAnswersAnArrayWithoutEvents(t *testing.T) {
	h := harness.Start(t, onGemini)
	a := askGoogle(h, strings.TrimSuffix(generateSSE, "?alt=sse"), "full", hello(""))
	list, ok := harness.Parse(t, a.Body).([]any)
	if a.Status != 200 || a.Header.Get("Content-Type") != "application/json" || !ok || len(list) != 1 || harness.At(list[0], "modelVersion") != "g/gemini-3-echo" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}

func TestRefusalsHaveGooglesShape(t *testing.T) {
	setup := onGemini
	setup.Keys = harness.Key("full", "hosted_tools") + harness.Key("chat", "max_body 200B\nguardrails gate") + harness.Key("other", "rate 1/h") +
		harness.Key("narrow", "budget 1 tokens/day") + "key models {\nsecret {env.KEY_MODELS}\nscopes models:read\n}\n"
	setup.Options += "guardrail gate {\ndeny words forbidden\n}"
	h := harness.Start(t, setup)
	askGoogle(h, generate, "other", hello(""))
	for name, c := range map[string]struct {
		path, key, body string
		status          int
		word, reason    string
	}{
		"no key":        {generate, "", hello(""), 401, "UNAUTHENTICATED", "invalid_api_key"},
		"wrong key":     {generate, "unknown", hello(""), 401, "UNAUTHENTICATED", "invalid_api_key"},
		"scope":         {generate, "models", hello(""), 403, "PERMISSION_DENIED", "insufficient_scope"},
		"hosted tool":   {generate, "chat", hello(`,"tools":[{"google_search":{}}]`), 403, "PERMISSION_DENIED", "insufficient_scope"},
		"model":         {with(generate, "nobody/m"), "full", hello(""), 404, "NOT_FOUND", "model_not_found"},
		"URL":           {"/v1beta/cachedContents", "full", hello(""), 404, "NOT_FOUND", "unknown_url"},
		"no JSON":       {generate, "full", "{", 400, "INVALID_ARGUMENT", "invalid_json"},
		"no contents":   {generate, "full", "{}", 400, "INVALID_ARGUMENT", "missing_required_parameter"},
		"two spellings": {generate, "full", hello(`,"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9}`), 400, "INVALID_ARGUMENT", "invalid_json"},
		"parts twice":   {generate, "full", `{"contents":[{"parts":[{"text":"hello"}],"parts":[{"inlineData":{"mimeType":"video/mp4","data":"AAAA"}}]}]}`, 400, "INVALID_ARGUMENT", "invalid_json"},
		"two types":     {generate, "full", `{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png","mime_type":"video/mp4","data":"AAAA"}}]}]}`, 400, "INVALID_ARGUMENT", "invalid_json"},
		"a type twice":  {generate, "full", `{"contents":[{"parts":[{"inlineData":{"mimeType":"video/mp4","mimeType":"image/png","data":"AAAA"}}]}]}`, 400, "INVALID_ARGUMENT", "invalid_json"},
		"answers twice": {generate, "full", `{"contents":[{"parts":[{"functionResponse":{"name":"f","parts":[{"inlineData":{"mimeType":"video/mp4"}}],"parts":[]}}]}]}`, 400, "INVALID_ARGUMENT", "invalid_json"},
		"cache":         {generate, "full", hello(`,"cached_content":"cachedContents/a"`), 400, "INVALID_ARGUMENT", "unsupported_parameter"},
		"uploaded file": {generate, "full", `{"contents":[{"parts":[{"fileData":{"fileUri":"https://generativelanguage.googleapis.com/v1beta/files/a"}}]}]}`, 400, "INVALID_ARGUMENT", "unsupported_parameter"},
		"other API":     {with(generate, "fake/echo"), "full", hello(""), 400, "INVALID_ARGUMENT", "unsupported_parameter"},
		"size":          {generate, "chat", hello(`,"labels":{"a":"` + strings.Repeat("x", 300) + `"}`), 413, "INVALID_ARGUMENT", "request_too_large"},
		"rate":          {generate, "other", hello(""), 429, "RESOURCE_EXHAUSTED", "rate_limit_exceeded"},
		"budget":        {generate, "narrow", hello(""), 402, "RESOURCE_EXHAUSTED", "budget_exceeded"},
		"guardrail":     {generate, "chat", hello(`,"labels":{"a":"forbidden"}`), 422, "INVALID_ARGUMENT", "guardrail_blocked"},
		"credential":    {with(generate, "wrong/gemini-3-echo"), "full", hello(""), 502, "UNAVAILABLE", "upstream_auth_error"},
		"provider":      {with(generateSSE, "g/gemini-3-err-500"), "full", hello(""), 502, "UNAVAILABLE", "upstream_error"},
		"its quota":     {with(generate, "g/gemini-3-quota-day"), "full", hello(""), 502, "UNAVAILABLE", "upstream_quota_exhausted"},
		"its rate":      {with(generate, "g/gemini-3-retry"), "full", hello(""), 429, "RESOURCE_EXHAUSTED", "upstream_rate_limited"},
		"its own":       {generate, "full", hello(`,"unheard":1`), 400, "INVALID_ARGUMENT", "upstream_rejected"},
	} {
		a := askGoogle(h, c.path, c.key, c.body)
		if name == "rate" {
			harness.WantDocumented(t, "gemini.md", `"code": 429`, string(a.Body))
		}
		e := harness.At(harness.Parse(t, a.Body), "error")
		details, _ := harness.At(e, "details").([]any)
		if a.Status != c.status || harness.At(e, "code") != harness.Number(fmt.Sprint(c.status)) || harness.At(e, "status") != c.word ||
			len(details) == 0 || harness.At(details[0], "reason") != c.reason || harness.At(e, "message") == "" {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
		if wait := a.Header.Get("Retry-After"); (wait != "") != (jsontest.String(t, a.Body, "retryDelay") != "") {
			t.Errorf("%s: Retry-After %q: %s", name, wait, a.Body)
		}
	}
	if a := askGoogle(h, with(generate, "fake/echo"), "full", hello("")); !strings.Contains(string(a.Body), `provider \"fake\"`) || !strings.Contains(string(a.Body), "/v1/chat/completions") {
		t.Errorf("no way out: %s", a.Body)
	}
}

func TestAKeyMayStandWhereGooglesClientsHaveIt(t *testing.T) {
	h := harness.Start(t, onGemini)
	for name, send := range map[string]func(*http.Request){
		"header": func(r *http.Request) { r.Header.Set("X-Goog-Api-Key", harness.Secret("full")) },
		"query":  func(r *http.Request) { r.URL.RawQuery = "key=" + harness.Secret("full") },
		"bearer": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+harness.Secret("full")) },
		"bearer beside a key of a backend": func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+harness.Secret("full"))
			r.Header.Set("X-Goog-Api-Key", "AIza-of-a-backend")
		},
	} {
		r := h.Client.Request(generate, "", hello(""))
		send(r)
		if a := h.Client.Send(r); a.Status != 200 {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

func TestGooglesAPITriesTheNextOfItsTargets(t *testing.T) {
	setup := onGemini
	setup.Options += "\nalias two wrong/gemini-3-echo fake/echo g/gemini-3-echo\nalias late g/gemini-3-error-first g/gemini-3-echo\n"
	h := harness.Start(t, setup)
	for _, path := range []string{with(generate, "two"), with(generateSSE, "two"), with(generateSSE, "late")} {
		a := askGoogle(h, path, "full", hello(""))
		if a.Status != 200 || !strings.Contains(string(a.Body), "hello") || !strings.Contains(string(a.Body), "g/gemini-3-echo") {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

func TestGuardrailsReadGooglesAPI(t *testing.T) {
	setup := onGemini
	setup.Keys = harness.FullKey("guardrails mask") + harness.Key("chat", "guardrails gate")
	setup.Options += "guardrail mask {\nredact email\n}\nguardrail gate {\non output\ndeny words secret\n}\n"
	h := harness.Start(t, setup)
	body := `{"contents":[{"parts":[{"text":"mail jo@corp.example the secret now"}]}]}`
	for _, path := range []string{generate, generateSSE} {
		a := askGoogle(h, path, "full", body)
		if a.Status != 200 || strings.Contains(string(a.Body), "jo@corp") || !strings.Contains(string(a.Body), "REDACTED") {
			t.Errorf("%d %s", a.Status, a.Body)
		}
		if a = askGoogle(h, path, "chat", body); strings.Contains(string(a.Body), "secret") || !jsontest.Has(t, a.Body, `{"reason":"guardrail_blocked"}`) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
}

func TestGooglesAPICountsAndEmbeds(t *testing.T) {
	h := harness.Start(t, onGemini)
	method := func(name string) string { return "/v1beta/models/g/gemini-embedding-001:" + name }
	for _, c := range []struct{ path, body, want, sent string }{
		{with("/v1beta/models/g/gemini-3-echo:countTokens", "g/gemini-3-echo"), hello(""), `"totalTokens":`, hello("")},
		{method("countTokens"), `{"generateContentRequest":{"model":"models/g/x","contents":[{"parts":[{"text":"a"}]}]}}`, `"totalTokens":`,
			`{"generateContentRequest":{"contents":[{"parts":[{"text":"a"}]}],"model":"models/gemini-embedding-001"}}`},
		{method("embedContent"), `{"content":{"parts":[{"text":"abc"}]}}`, `"values":[3,0]`, `{"content":{"parts":[{"text":"abc"}]}}`},
		{method("batchEmbedContents"), `{"requests":[{"model":"models/g/x","content":{"parts":[{"text":"ab"}]}}, {"content":{"parts":[{"text":"c"}]}}]}`, `{"values":[2,0]},{"values":[1,1]}`,
			`{"requests":[{"content":{"parts":[{"text":"ab"}]},"model":"models/gemini-embedding-001"}, {"content":{"parts":[{"text":"c"}]},"model":"models/gemini-embedding-001"}]}`},
	} {
		a := askGoogle(h, c.path, "full", c.body)
		if got, _ := sent(t, h); a.Status != 200 || !strings.Contains(string(a.Body), c.want) || string(got.Body) != c.sent {
			t.Errorf("%s: %d %s, and Google got %s", c.path, a.Status, a.Body, got.Body)
		}
	}
}

func TestGooglesListHasTheModelsThatItsAPICanCall(t *testing.T) {
	setup := onGemini
	setup.Providers = strings.Replace(setup.Providers, "models *\n\t\tdiscover off\n", "discover 1h\n", 1)
	setup.Options = "alias both fake/echo g/gemini-3-echo\nalias chat fake/echo\n"
	h := harness.Start(t, setup)
	for _, path := range []string{"/v1beta/models", "/v1/models"} {
		var names []string
		page := askGoogle(h, path+"?pageSize=2", "full", "")
		for next := ""; ; page = askGoogle(h, path+"?pageSize=2&pageToken="+next, "full", "") {
			list, _ := harness.At(harness.Parse(t, page.Body), "models").([]any)
			for _, m := range list {
				names = append(names, harness.At(m, "name").(string))
			}
			if next, _ = harness.At(harness.Parse(t, page.Body), "nextPageToken").(string); next == "" {
				break
			}
		}
		if want := []string{"models/both", "models/g/gemini-3-echo", "models/g/gemini-embedding-001"}; !slices.Equal(names, want) {
			t.Errorf("%s: %v", path, names)
		}
		for name, status := range map[string]int{"g/gemini-3-echo": 200, "both": 200, "chat": 404, "fake/echo": 404, "g/nope": 404} {
			if a := askGoogle(h, path+"/"+name, "full", ""); a.Status != status || status == 200 && harness.At(harness.Parse(t, a.Body), "name") != "models/"+name {
				t.Errorf("%s/%s: %d %s", path, name, a.Status, a.Body)
			}
		}
	}
}
