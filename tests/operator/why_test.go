package operator

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Each refusal names the option that made it, and its owner.
func TestWhyNamesTheOptionThatRefused(t *testing.T) {
	h := harness.Vacant(t)
	harness.WriteCatalog(h)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{
		Keys: harness.FullKey("rate 2/min") + harness.Key("chat", "budget 1usd/day\nmax_tools 1") + harness.Key("narrow", "models fake/echo\nconcurrency 3\nguardrails words") +
			"key models {\nsecret {env.KEY_MODELS}\nscopes models:read\n}\n" + harness.Key("other", "tenant research\nmax_body 200B"),
		Options: "catalog DIR/prices.json\ntenant research {\nbudget 1 tokens/total\n}\nmodel fake/e* {\nmax_output_tokens 100\n}\nguardrail words {\non input\ndeny words forbidden\n}",
		Global:  "admin " + admin,
	})
	for range 2 {
		h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", ""))
	}
	for _, test := range []struct{ key, body, code, option string }{
		{"full", harness.Chat("fake/echo", ""), "rate_limit_exceeded", "key full: rate 2/min"},
		{"chat", harness.Chat("test/echo", `,"max_tokens":50`), "cannot_be_priced", "key chat: budget 1usd/day"},
		{"chat", harness.Chat("fake/echo", `,"max_tokens":101`), "invalid_value", "model fake/e*: max_output_tokens 100"},
		{"chat", harness.Chat("fake/echo", `,"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"}}]`), "invalid_value", "key chat: max_tools 1"},
		{"narrow", harness.Chat("fake/usage-all", ""), "model_not_found", "key narrow: models"},
		{"narrow", strings.Replace(harness.Chat("fake/echo", ""), "say hello", "forbidden", 1), "guardrail_blocked", "guardrail words: words"},
		{"models", harness.Chat("fake/echo", ""), "insufficient_scope", "key models: scopes without chat:write"},
		{"other", harness.Chat("fake/echo", `,"user":"`+strings.Repeat("x", 200)+`"`), "request_too_large", "key other: max_body 200"},
		{"other", harness.Chat("fake/echo", `,"max_tokens":50`), "budget_exceeded", "tenant research: budget 1 tokens/total"},
		{"chat", harness.Chat("none/\\u001b[2Jx", ""), "model_not_found", ""},
	} {
		a := h.Client.Post(harness.ChatV1, test.key, test.body)
		id := a.Header.Get("X-Request-Id")
		out, failure, err := c.Operate("why", id, "--json", "--address", admin)
		var story struct {
			Code      string
			RefusedBy string `json:"refused_by"`
			Meaning   string
			Limits    []struct{ Option string } `json:"limits_now"`
		}
		if err != nil || json.Unmarshal([]byte(out), &story) != nil {
			t.Errorf("%s: %v %s%s", test.option, err, out, failure)
			continue
		}
		if story.Code != test.code || story.RefusedBy != test.option || story.Meaning == "" {
			t.Errorf("%d %s\nthe story of it has %+v instead of %s %s", a.Status, a.Body, story, test.code, test.option)
		}
		if _, option, limited := strings.Cut(test.option, ": rate"); limited && (len(story.Limits) == 0 || story.Limits[0].Option != "rate"+option) {
			t.Errorf("the limits now: %+v", story.Limits)
		}
		text, failure, err := c.Operate("why", id, "--address", admin)
		if err != nil || !strings.Contains(text, test.option) || !strings.Contains(text, test.code) || strings.ContainsRune(text, '\x1b') {
			t.Errorf("%v %s\n%s", err, text, failure)
		}
	}
	_, failure, err := c.Operate("why", "req_unknown", "--address", admin)
	if err == nil || !strings.Contains(failure, "Rows are kept for 30 days") || strings.Contains(failure, "{") {
		t.Errorf("an unknown id: %v %s", err, failure)
	}
}

// A call is found by each of its ids, and its story has what was tried.
func TestWhyTellsACallByAnyOfItsIDs(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Options: "alias best {\ngroup {\ntarget fake/err-500\n}\ngroup {\ntarget test/echo\n}\n}", Global: "admin " + admin})
	a := h.Client.Post(harness.ChatV1, "other", harness.Chat("best", harness.Streaming))
	var chunk struct{ ID string }
	first, _, _ := strings.Cut(strings.TrimPrefix(string(a.Body), "data: "), "\n")
	if err := json.Unmarshal([]byte(first), &chunk); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	for _, id := range []string{a.Header.Get("X-Request-Id"), chunk.ID} {
		text, failure, err := c.Operate("why", id, "--address", admin)
		if err != nil {
			t.Errorf("%s: %v %s", id, err, failure)
			continue
		}
		for _, part := range []string{"key other, tenant other", "1. fake/err-500  500  upstream_error", "2. test/echo     200  ok", "Tokens", "stream "} {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", id, part, text)
			}
		}
	}
}
