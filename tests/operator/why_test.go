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

// The row of a key made at run time has its hash. Its spending is counted by day, week and month without
// a limit, which is none to show.
func TestWhyNamesAKeyMadeAtRunTime(t *testing.T) {
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{Options: "runtime_keys {\nscopes models:read\n}", Global: "admin " + admin})
	var made struct{ Key string }
	out, failure, err := c.Operate("key", "create", "--name", "Ada", "--budget", "5 tokens/day", "--json", "--address", admin)
	if err != nil || json.Unmarshal([]byte(out), &made) != nil {
		t.Fatalf("%v %s%s", err, out, failure)
	}
	r := h.Client.Request(harness.ChatV1, "", harness.Chat("test/echo", ""))
	r.Header.Set("Authorization", "Bearer "+made.Key)
	a := h.Client.Send(r)
	text, failure, err := c.Operate("why", a.Header.Get("X-Request-Id"), "--address", admin)
	if err != nil || !strings.Contains(text, "Ada\n") || !strings.Contains(text, "budget 5 tokens/day") || strings.Contains(text, "usd") {
		t.Errorf("%d: %v %s%s", a.Status, err, text, failure)
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

// A caller that names its trace has its calls of models and tools told as one story, without any tracing.
// What the caller wrote is in no row.
func TestWhyTellsARunByItsTrace(t *testing.T) {
	const trace, parent, marker = "0af7651916cd43dd8448eb211c80319c", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", "typed-by-the-agent"
	h := harness.Vacant(t)
	admin := "unix//" + h.Dir + "/admin"
	c := h.Run(harness.Setup{
		Options: "mcp demo {\ndemo\nprice echo 0.25usd\n}\n", Global: "admin " + admin,
		Keys: "key full {\nsecret {env.KEY_FULL}\nscopes mcp:call chat:write models:read activity:read\nmcp demo\n}\nkey other {\nsecret {env.KEY_OTHER}\nscopes activity:read\ntenant other\n}\n",
	})
	send := func(path, body string, header ...string) {
		t.Helper()
		r := h.Client.Request(path, "full", body)
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		if a := h.Client.Send(r); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	call := func(tool, meta string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"text":"` + marker + `"}` + meta + `}}`
	}
	const version = "Mcp-Protocol-Version"
	send(harness.ChatV1, harness.Chat("fake/echo", ""), "Traceparent", parent)
	send("/mcp/demo", call("echo", ""), "Traceparent", parent, version, "2025-11-25")
	send("/mcp/demo", call("error", `,"_meta":{"traceparent":"`+parent+`"}`), version, "2025-11-25")
	send(harness.ChatV1, harness.Chat("fake/echo", ""))
	send(harness.ChatV1, harness.Chat("fake/echo", ""), "Traceparent", parent, "Traceparent", parent)
	send("/mcp/demo", call("echo", `,"_meta":{"traceparent":7}`), version, "2025-11-25")

	text, failure, err := c.Operate("why", trace, "--address", admin)
	if err != nil {
		t.Fatalf("%v %s", err, failure)
	}
	for _, part := range []string{"Run         " + trace, "Who         key full, tenant default", "Steps       3, 1 of them failed", "Cost        0.25", "demo/echo", "200 tool error", "fake/echo"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if first, last := strings.Index(text, "fake/echo"), strings.Index(text, "demo/error"); first > last {
		t.Errorf("the steps are in another order:\n%s", text)
	}
	out, _, err := c.Operate("why", trace, "--json", "--address", admin)
	if err != nil || strings.Contains(out, marker) || strings.Contains(text, marker) {
		t.Errorf("%v: the story has what was typed:\n%s", err, out)
	}
	for key, rows := range map[string]int{"full": 3, "other": 0} {
		a := h.Client.Get("/api/v1/activity?trace_id="+trace, key)
		if n := strings.Count(string(a.Body), trace); n != rows {
			t.Errorf("the key %s sees %d rows: %s", key, n, a.Body)
		}
	}
	if _, failure, err := c.Operate("why", strings.Repeat("2", 32), "--address", admin); err == nil || !strings.Contains(failure, "nothing with the id") {
		t.Errorf("a trace of nothing: %v %s", err, failure)
	}
}
