package anthropicrules_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/anthropicrules"
)

// messagesWith is a request of the Messages API with these members on top.
func messagesWith(members ...string) string {
	body := map[string]json.RawMessage{}
	for _, text := range append([]string{`"model":"echo","max_tokens":100,"messages":[{"role":"user","content":"hello there"}]`}, members...) {
		if err := json.Unmarshal([]byte("{"+text+"}"), &body); err != nil {
			panic(err)
		}
	}
	return string(answers.Encode(body))
}

// refused is why a request is refused, "" if it is not. Headers are "Name: value".
func refused(body string, headers ...string) string {
	header := http.Header{"Anthropic-Version": {"2023-06-01"}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		header.Set(name, value)
	}
	if err := anthropicrules.Check(header, []byte(body), false); err != nil {
		return err.Error()
	}
	return ""
}

func taken(t *testing.T, body string, headers ...string) {
	t.Helper()
	if why := refused(body, headers...); why != "" {
		t.Errorf("%s\nrefused: %s", body, why)
	}
}

const weatherTool = `"tools":[{"name":"get_weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}]`

// turn is a conversation in which the assistant said content and the user results.
func turn(assistant, user string) string {
	return `"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":` + assistant + `},{"role":"user","content":` + user + `}]`
}

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
		{turn(use, `[{"type":"tool_result","tool_use_id":"toolu_1"},{"type":"tool_result","tool_use_id":"toolu_1"}]`), "each `tool_use` must have a single result"},
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
		message := refused(messagesWith(tt.members))
		if !strings.Contains(message, tt.want) {
			t.Errorf("%s: %q, want %q", tt.members, message, tt.want)
		}
	}
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
		taken(t, messagesWith(members))
	}
}

func TestMessagesWantsAVersionThatItKnows(t *testing.T) {
	for header, want := range map[string]string{
		"Anthropic-Version: ":           "header is required",
		"Anthropic-Version: 2031-01-01": "not a valid version",
		"Anthropic-Beta: nonsense":      "Unexpected value(s) `nonsense`",
	} {
		if message := refused(messagesWith(), header); !strings.Contains(message, want) {
			t.Errorf("%s: %s", header, message)
		}
	}
	newer := "Anthropic-Version: " + "2026-10-21"
	for members, want := range map[string]string{
		`"temperature":1`: "temperature: Extra inputs are not permitted",
		`"top_p":1`:       "top_p: Extra inputs are not permitted",
		`"top_k":1`:       "top_k: Extra inputs are not permitted",
		user(`[{"type":"text","text":"x","citations":[{"type":"char_location"}]}]`):                        "citations: Extra inputs",
		turn(`[{"type":"document","source":{"type":"text","media_type":"text/plain","data":"x"}}]`, `"x"`): "document blocks",
	} {
		taken(t, messagesWith(members)) // the older version takes it
		if message := refused(messagesWith(members), newer); !strings.Contains(message, want) {
			t.Errorf("%s: %s", members, message)
		}
	}
	taken(t, messagesWith(), newer)
}

func TestFieldsOfABetaComeWithItsHeader(t *testing.T) {
	body := messagesWith(`"context_management":{"edits":[]}`)
	taken(t, body, "Anthropic-Beta: other-2025-01-01, context-management-2025-06-27")
	if refused(body) == "" {
		t.Error("taken without the header")
	}
}

func TestThinkingIsTakenBackFromItsModelOnly(t *testing.T) {
	var m struct{ Content []json.RawMessage }
	thinks := `"max_tokens":3000,"thinking":{"type":"enabled","budget_tokens":2000},` + weatherTool
	if err := json.Unmarshal(answer(t, messagesWith(thinks)), &m); err != nil || len(m.Content) != 2 {
		t.Fatalf("%v: %s", err, m.Content)
	}
	var use struct{ ID string }
	if err := json.Unmarshal(m.Content[1], &use); err != nil {
		t.Fatal(err)
	}
	results := `[{"type":"tool_result","tool_use_id":"` + use.ID + `","content":"rain"}]`
	replay := func(thinking string, more ...string) string {
		return refused(messagesWith(append([]string{thinks, turn("["+thinking+string(m.Content[1])+"]", results)}, more...)...))
	}
	thinking := string(m.Content[0]) + ","
	if why := replay(thinking); why != "" {
		t.Errorf("unchanged: %s", why)
	}
	for name, got := range map[string]string{
		"changed text":  replay(strings.Replace(thinking, "wants", "needs", 1)),
		"other model":   replay(thinking, `"model":"lorem"`),
		"no signature":  replay(`{"type":"thinking","thinking":"x","signature":""},`),
		"made up":       replay(`{"type":"thinking","thinking":"x","signature":"bm9uc2Vuc2U="},`),
		"data made up":  replay(`{"type":"redacted_thinking","data":"bm9uc2Vuc2U="},`),
		"no thinking":   replay(""),
		"thinking last": replay(thinking, turn("["+strings.Trim(thinking, ",")+"]", `"x"`)),
	} {
		want := "Invalid `"
		switch name {
		case "no thinking":
			want = "Expected `thinking`"
		case "thinking last":
			want = "cannot be `thinking`"
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// answer is a good answer to a request: thinking, and the call of its first tool.
func answer(t *testing.T, body string) []byte {
	t.Helper()
	r, err := answers.ParseMessages([]byte(body), false)
	if err != nil || !r.Thinks {
		t.Fatalf("thinks: %v, %v", r.Thinks, err)
	}
	reply := &answers.Reply{
		ID: "1", Model: r.Model, Reasoning: []string{"The user wants an answer."}, Finish: "tool_calls",
		Calls: []answers.Call{{Name: r.Tools[0].Name, Arguments: []string{`{"city":"Oslo"}`}}},
	}
	return answers.Encode(reply.Message())
}
