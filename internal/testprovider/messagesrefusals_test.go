package testprovider_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// user is a conversation of one message.
func user(content string) string { return `"messages":[{"role":"user","content":` + content + `}]` }

func TestMessagesRefusesWhatAnthropicRefuses(t *testing.T) {
	const use = `[{"type":"tool_use","id":"toolu_1","name":"a","input":{}}]`
	for _, tt := range []struct{ members, want string }{
		{`"max_tokens":null`, "max_tokens: Field required"},
		{`"max_tokens":-1`, "max_tokens: Input should be greater"},
		{`"model":""`, "model: Field required"},
		{`"messages":null`, "messages: Field required"},
		{`"messages":[]`, "messages: at least one"},
		{`"messages":{}`, "messages: Input should be a valid list"},
		{`"stream":"yes"`, "stream: Input should be a valid boolean"},
		{`"max_completion_tokens":5`, "max_completion_tokens: Extra inputs"},
		{`"container":"c"`, "container: Extra inputs"},
		{`"metadata":{"session":"s"}`, "metadata.session: Extra inputs"},
		{`"service_tier":"default"`, "service_tier: "},
		{`"temperature":1.5`, "temperature: Input should be less"},
		{`"top_p":-1`, "top_p: Input should be greater"},
		{`"stop_sequences":["a"," "]`, "stop_sequences.1: "},
		{`"system":" "`, "non-whitespace"},
		{`"system":[{"type":"text","text":""}]`, "non-empty"},
		{`"output_config":{"effort":"minimal"}`, "output_config.effort: "},
		{`"output_config":{"format":{"type":"json_object"}}`, "output_config.format.type: "},

		{`"messages":[{"role":"system","content":"x"}]`, "messages.0.role: "},
		{`"messages":[{"role":"user","content":"x","name":"n"}]`, "messages.0.name: Extra inputs"},
		{user(`""`), "messages.0: user messages must have non-empty content"},
		{user(`[]`), "messages.0: user messages must have non-empty content"},
		{user(`[{"type":"text","text":""},{"type":"text","text":"x"}]`), "text content blocks must be non-empty"},
		{user(`[{"type":"text","text":" "}]`), "must contain non-whitespace"},
		{user(`[{"type":"text","text":"x","annotations":[]}]`), "messages.0.content.0.text.annotations: Extra inputs"},
		{user(`[{"type":"input_text","text":"x"}]`), "messages.0.content.0: Input tag 'input_text'"},
		{user(`[{"type":"image","source":{"type":"base64","media_type":"image/bmp","data":"eA=="}}]`), "source.base64.media_type"},
		{user(`[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"!"}}]`), "invalid base64"},
		{user(`[{"type":"image","source":{"type":"url","url":"http://x"}}]`), "Only HTTPS"},
		{user(`[{"type":"tool_result","tool_use_id":"toolu_1","content":""}]`), "unexpected `tool_use_id`"},

		{turn(use, `"no result"`), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1"},
		{turn(use, `[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"toolu_1"}]`), "`tool_use` ids were found without"},
		{turn(strings.Replace(use, "toolu_1", "call:1", 1), `"x"`), "messages.1.content.0.tool_use.id: String should match pattern"},
		{turn(strings.Replace(use, "{}", `"{}"`, 1), `"x"`), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"},
		{turn(strings.Replace(use, `"a"`, `"a.b"`, 1), `"x"`), "tool_use.name: String should match pattern"},
		{turn(`"x"`, `"y"`) + `,"thinking":{"type":"enabled","budget_tokens":10}`, "budget_tokens: Input should be greater"},
		{`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b "}]`, "trailing whitespace"},

		{`"thinking":{"type":"enabled","budget_tokens":2000}`, "`max_tokens` must be greater"},
		{`"thinking":{"type":"adaptive"},"temperature":0.5`, "`temperature` may only be set to 1"},
		{`"thinking":{"type":"adaptive"},"top_k":4`, "`top_k` must be unset"},
		{`"thinking":{"type":"adaptive"},"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`, "prefill"},
		{`"thinking":{"type":"auto"}`, "thinking: Input tag 'auto'"},
		{`"max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":2000},"tool_choice":{"type":"any"},` + weatherTool, "forces tool use"},

		{`"tools":[{"name":"a.b","input_schema":{"type":"object"}}]`, "tools.0.custom.name: String should match"},
		{`"tools":[{"name":"a","description":null,"input_schema":{"type":"object"}}]`, "tools.0.custom.description: Input should be a valid string"},
		{`"tools":[{"name":"a"}]`, "tools.0.custom.input_schema: Field required"},
		{`"tools":[{"name":"a","input_schema":{}}]`, "tools.0.custom.input_schema.type: "},
		{`"tools":[{"type":"function","function":{"name":"a"}}]`, "tools.0: Input tag 'function'"},
		{`"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a","input_schema":{"type":"object"}}]`, "must be unique"},
		{`"tool_choice":{"type":"auto"}`, "tool_choice may only be specified while providing tools"},
		{weatherTool + `,"tool_choice":{"type":"required"}`, "tool_choice: Input tag 'required'"},
		{weatherTool + `,"tool_choice":{"type":"tool","name":"b"}`, "Tool 'b' not found"},
		{weatherTool + `,"tool_choice":"auto"`, "tool_choice: Input should be a valid dictionary"},
		{`"cache_control":{"type":"ephemeral"},"system":[` + strings.Repeat(`{"type":"text","text":"x","cache_control":{"type":"ephemeral"}},`, 3) +
			`{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]`, "A maximum of 4 blocks with cache_control"},
	} {
		message := refusedMessage(t, messagesWith(tt.members), 400, "invalid_request_error")
		if !strings.Contains(message, tt.want) {
			t.Errorf("%s: %q, want %q", tt.members, message, tt.want)
		}
	}
}

// refusedMessage is the message of a refusal in Anthropic's form.
func refusedMessage(t *testing.T, body string, status int, kind string, headers ...string) string {
	t.Helper()
	resp := sendMessages(t, http.MethodPost, "/messages", body, headers...)
	var v struct {
		Type      string
		Error     struct{ Type, Message string }
		RequestID string `json:"request_id"`
	}
	answer := readAll(t, resp)
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	if resp.StatusCode != status || v.Type != "error" || v.Error.Type != kind || v.RequestID == "" || v.RequestID != resp.Header.Get("Request-Id") {
		t.Errorf("%s\n%d: %s", body, resp.StatusCode, answer)
	}
	return v.Error.Message
}

func TestMessagesTakesWhatAnthropicTakes(t *testing.T) {
	const use = `[{"type":"tool_use","id":"toolu_1","name":"a","input":{}}]`
	for _, members := range []string{
		`"system":""`, `"temperature":0,"top_p":1,"top_k":5`, `"metadata":{"user_id":"u"}`, `"thinking":{"type":"disabled"}`,
		`"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3}]`,
		user(`[{"type":"text","text":" "},{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]`),
		user(`[{"type":"document","title":"t","source":{"type":"base64","media_type":"application/pdf","data":"eA=="}}]`),
		turn(`""`, `"x"`), turn(`[]`, `"x"`),
		turn(use, `[{"type":"tool_result","tool_use_id":"toolu_1","content":""},{"type":"text","text":"and now?"}]`),
		turn(use, `[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":""}]}]`),
		turn(`[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{},"new":1}]`, `"x"`),
		`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]`,
	} {
		askMessages(t, messagesWith(members))
	}
}

func TestMessagesWantsAVersionThatItKnows(t *testing.T) {
	for header, want := range map[string]string{
		"Anthropic-Version: ":           "header is required",
		"Anthropic-Version: 2031-01-01": "not a valid version",
		"Anthropic-Beta: nonsense":      "Unexpected value(s) `nonsense`",
	} {
		if message := refusedMessage(t, messagesWith(), 400, "invalid_request_error", header); !strings.Contains(message, want) {
			t.Errorf("%s: %s", header, message)
		}
	}
	newer := "Anthropic-Version: " + testprovider.Version2026
	for members, want := range map[string]string{
		`"temperature":1`: "temperature: Extra inputs are not permitted",
		`"top_p":1`:       "top_p: Extra inputs are not permitted",
		`"top_k":1`:       "top_k: Extra inputs are not permitted",
		user(`[{"type":"text","text":"x","citations":[{"type":"char_location"}]}]`):                        "citations: Extra inputs",
		turn(`[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}}]`, `"x"`): "document blocks",
	} {
		askMessages(t, messagesWith(members)) // the older version takes it
		if message := refusedMessage(t, messagesWith(members), 400, "invalid_request_error", newer); !strings.Contains(message, want) {
			t.Errorf("%s: %s", members, message)
		}
	}
	if resp := sendMessages(t, http.MethodPost, "/messages", messagesWith(), newer); resp.StatusCode != http.StatusOK {
		t.Errorf("%s: %d", newer, resp.StatusCode)
	}
}

func TestFieldsOfABetaComeWithItsHeader(t *testing.T) {
	body := messagesWith(`"context_management":{"edits":[]}`)
	if resp := sendMessages(t, http.MethodPost, "/messages", body, "Anthropic-Beta: other-2025-01-01, context-management-2025-06-27"); resp.StatusCode != http.StatusOK {
		t.Errorf("with the header: %s", readAll(t, resp))
	}
	refusedMessage(t, body, 400, "invalid_request_error")
}

func TestMessagesErrorsHaveAnthropicsTypes(t *testing.T) {
	refusedMessage(t, messagesWith(`"model":"gpt"`), 404, "not_found_error")
	refusedMessage(t, messagesWith(`"model":"fail"`), 500, "api_error")
	refusedMessage(t, "{", 400, "invalid_request_error")
}
