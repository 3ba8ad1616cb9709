package api

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// codexTools are tools of the kinds that Codex sends with web search disabled.
const codexTools = `[{"type":"function","name":"exec_command","description":"Runs a command.","strict":false,"parameters":{"type":"object",` +
	`"properties":{"cmd":{"type":"string"},"tools":{"type":"array"}},"required":["cmd"],"additionalProperties":false}},` +
	`{"type":"custom","name":"apply_patch","description":"Edits files.","format":{"type":"grammar","syntax":"lark","definition":"start: LINE+"}},` +
	`{"type":"namespace","name":"agents","description":"Other agents.","tools":[{"type":"function","name":"spawn","strict":false,"parameters":{"type":"object","properties":{}}},` +
	`{"type":"function","name":"wait","strict":false,"parameters":{"type":"object","properties":{}}}]},` +
	`{"type":"tool_search","execution":"client","description":"Finds tools.","parameters":{"type":"object","properties":{"query":{"type":"string"}}}},` +
	`{"type":"local_shell"},{"type":"apply_patch"},{"type":"shell","environment":{"type":"local"}}]`

// codexTurn is a later request of such a session, with the history of its tools.
func codexTurn(model string) string {
	return `{"model":"` + model + `","instructions":"You code.","tools":` + codexTools + `,"tool_choice":"auto","parallel_tool_calls":true,"store":false,` +
		`"reasoning":{"effort":"low","summary":"auto"},"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","client_metadata":{"a":"b"},"input":[` +
		`{"type":"message","role":"user","content":[{"type":"input_text","text":"list files"}],"internal_chat_message_metadata_passthrough":{"turn_id":"t"}},` +
		`{"type":"additional_tools","role":"developer","tools":[{"type":"function","name":"late","parameters":{"type":"object"}}]},` +
		`{"type":"tool_search_call","call_id":"c1","execution":"client","status":"completed","arguments":{"query":"q","tools":["web_search"]}},` +
		`{"type":"tool_search_output","call_id":"c1","execution":"client","status":"completed","tools":[{"type":"namespace","name":"crm","description":"d","tools":[{"type":"function","name":"find"}]}]},` +
		`{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":"*** Begin Patch"},{"type":"custom_tool_call_output","call_id":"c2","output":"ok"},` +
		`{"type":"local_shell_call","call_id":"c3","status":"completed","action":{"type":"exec","command":["ls"],"env":{}}},{"type":"local_shell_call_output","call_id":"c3","output":"a"},` +
		`{"type":"shell_call","call_id":"c4","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"c4","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]},` +
		`{"type":"apply_patch_call","call_id":"c5","status":"completed","operation":{"type":"delete_file","path":"a"}},{"type":"apply_patch_call_output","call_id":"c5","status":"completed"}]}`
}

func TestToolsThatTheClientRunsNeedNoPermission(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Keys: harness.DefaultKeys[:strings.Index(harness.DefaultKeys, "\tkey chat")] + harness.Key("chat", "budget 5usd/day") + harness.Key("other", "budget 5M tokens/day")})
	for _, key := range []string{"full", "chat", "other"} {
		for _, path := range []string{harness.ResponsesV1, harness.ResponsesRouter} {
			h.Provider.Fake.Reset()
			a := h.Client.Post(path, key, codexTurn("fake/echo"))
			if a.Status != 200 {
				t.Errorf("%s, key %s: %d %s", path, key, a.Status, a.Body)
				continue
			}
			if sent := string(h.Provider.Request(0).Body); !strings.Contains(sent, codexTools) {
				t.Errorf("%s, key %s: the provider got %s", path, key, sent)
			}
		}
	}
	// The cost of a hosted tool is unknown beforehand, wherever it is declared.
	dear := harness.StartPriced(t, harness.Setup{Keys: harness.Key("full", "hosted_tools\nbudget 5usd/day")})
	body := `{"model":"fake/echo","input":[{"type":"additional_tools","role":"developer","tools":[{"type":"web_search"}]}]}`
	harness.WantRefusal(t, harness.ResponsesV1, dear.Client.Post(harness.ResponsesV1, "full", body), 402, "cannot_be_priced")
}

// A chat server only has functions: everything else is left out for every key, unless the caller
// insists on it.
func TestATranslatedCallLeavesOutWhatNoChatServerHas(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.FullKey("budget 5M tokens/day")})
	const search, function = `{"type":"web_search"}`, `{"type":"function","name":"f"}`
	additional := `{"type":"additional_tools","role":"developer","tools":[` + search + `]}`
	body := `{"model":"chatonly/echo","input":[` + additional + `,{"role":"user","content":"hi"}],"tools":[{"type":"local_shell"},` + function + `]`
	if a := h.Client.Post(harness.ResponsesV1, "full", body+"}"); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	sent := string(h.Provider.Request(0).Body)
	if !jsontest.Has(t, sent, `{"name":"f"}`) || strings.Contains(sent, "web_search") || strings.Contains(sent, "local_shell") {
		t.Errorf("the provider got %s", sent)
	}
	if lines := harness.Log.Lines(`"dropped_tools":["local_shell","web_search"]`); len(lines) != 1 {
		t.Errorf("%d lines of the log name them", len(lines))
	}
	for param, more := range map[string]string{
		"tool_choice.type": `,"tool_choice":` + search,
		"tool_choice":      `,"tool_choice":{"type":"allowed_tools","mode":"required","tools":[` + search + `]}`,
	} {
		a := h.Client.Post(harness.ResponsesV1, "full", body+more+"}")
		if v := harness.Parse(t, a.Body); a.Status != 400 || harness.At(v, "error", "param") != param {
			t.Errorf("%s: %d %s", more, a.Status, a.Body)
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 1 {
		t.Errorf("%d requests reached the provider, want 1", n)
	}
}

// By an option everything else is refused for every key.
func TestATranslatedCallBringsNoToolsByItsInput(t *testing.T) {
	h := harness.Start(t, harness.Setup{Providers: refusingTools})
	body := `{"model":"chatonly/echo","input":[{"type":"additional_tools","role":"developer","tools":[{"type":"web_search"}]}]}`
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Post(harness.ResponsesV1, "full", body), 403, "insufficient_scope")
	harness.WantRefusal(t, harness.ResponsesV1, h.Client.Post(harness.ResponsesV1, "hosted", body), 400, "unsupported_parameter")
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d requests reached the provider", n)
	}
	noted := harness.Responses("chatonly/echo", `,"client_metadata":{"a":"b"}`)
	if a := h.Client.Post(harness.ResponsesV1, "full", noted); a.Status != 200 || strings.Contains(string(h.Provider.Request(0).Body), "client_metadata") {
		t.Errorf("client_metadata: %d %s", a.Status, a.Body)
	}
}

// The name of a model is a field of every call, a translated one too.
func TestATranslatedCallToARouterIsCheckedByItsModel(t *testing.T) {
	const dear = "provider dear {\ndialect openrouter\nbase_url PROVIDER/api/v1\napi_key {env.PROVIDER_KEY}\nmodels *\ndiscover off\nresponses translate\n}\n"
	h := harness.StartPriced(t, harness.Setup{
		Keys:      harness.FullKey("") + harness.Key("chat", "budget 5M tokens/day") + harness.Key("other", "hosted_tools\nbudget 5M tokens/day"),
		Providers: harness.DefaultProviders + dear,
	})
	for _, model := range []string{"dear/echo:online", "dear/@preset/x"} {
		for _, path := range []string{harness.ResponsesV1, harness.ResponsesRouter, harness.ChatV1} {
			for _, key := range []string{"full", "chat"} {
				harness.WantRefusal(t, path, h.Client.Post(path, key, harness.Body(path, model, "")), 403, "insufficient_scope")
			}
			harness.WantRefusal(t, path, h.Client.Post(path, "other", harness.Body(path, model, "")), 402, "cannot_be_priced")
		}
	}
	if n := len(h.Provider.Fake.Requests()); n != 0 {
		t.Errorf("%d requests reached the provider", n)
	}
	// Reasoning of earlier turns is left out of such a call, so its ids name nothing.
	reasoning := strings.Repeat(`{"type":"reasoning","id":"rs_1","summary":[]},`, 300)
	body := `{"model":"dear/echo","input":[` + reasoning + `{"role":"user","content":"hi"}]}`
	for _, key := range []string{"full", "chat"} {
		if a := h.Client.Post(harness.ResponsesV1, key, body); a.Status != 200 {
			t.Errorf("key %s: %d %s", key, a.Status, a.Body)
		}
	}
}
