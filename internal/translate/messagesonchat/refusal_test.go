package messagesonchat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chat"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

func TestWhatHasNoCounterpartIsRefusedByName(t *testing.T) {
	for _, c := range []struct{ members, param, code string }{
		{`"mcp_servers":[{"url":"u"}]`, "mcp_servers", "unsupported_parameter"},
		{`"container":"c1"`, "container", "unsupported_parameter"},
		{`"inference_geo":"us"`, "inference_geo", "unsupported_parameter"},
		{`"plugins":[{"id":"web"}]`, "plugins", "unsupported_parameter"},
		{`"something_new":1`, "something_new", "unsupported_parameter"},
		{`"top_k":5`, "top_k", "unsupported_parameter"},
		{`"top_k":"5"`, "top_k", "invalid_value"},
		{`"stop_sequences":["a","b","c","d","e"]`, "stop_sequences", "invalid_value"},
		{`"stop_sequences":[1]`, "stop_sequences[0]", "invalid_value"},
		{`"stop_sequences":"a"`, "stop_sequences", "invalid_value"},
		{`"metadata":{"user":"u"}`, "metadata.user", "unsupported_parameter"},
		{`"metadata":{"user_id":1}`, "metadata.user_id", "invalid_value"},
		{`"service_tier":"priority"`, "service_tier", "unsupported_parameter"},
		{`"cache_control":1`, "cache_control", "invalid_value"},
		{`"system":1`, "system", "invalid_value"},
		{`"system":[{"type":"image"}]`, "system[0].type", "unsupported_parameter"},
		{`"system":[{"type":"text"}]`, "system[0].text", "missing_required_parameter"},
		{`"system":[{"type":"text","text":"a","x":1}]`, "system[0].x", "unsupported_parameter"},

		{`"thinking":{"type":"sometimes"}`, "thinking.type", "unsupported_parameter"},
		{`"thinking":{"type":"enabled"}`, "thinking.budget_tokens", "missing_required_parameter"},
		{`"thinking":{"type":"enabled","budget_tokens":0}`, "thinking.budget_tokens", "invalid_value"},
		{`"thinking":{"type":"adaptive","display":"full"}`, "thinking.display", "unsupported_parameter"},
		{`"thinking":{"type":"adaptive","x":1}`, "thinking.x", "unsupported_parameter"},
		{`"thinking":{}`, "thinking.type", "missing_required_parameter"},
		{`"output_config":{"effort":"most"}`, "output_config.effort", "unsupported_parameter"},
		{`"output_config":{"task_budget":1}`, "output_config.task_budget", "unsupported_parameter"},
		{`"output_config":{"format":{"type":"grammar"}}`, "output_config.format.type", "unsupported_parameter"},
		{`"output_config":{"format":{"type":"json_schema"}}`, "output_config.format.schema", "missing_required_parameter"},
		{`"output_config":{"format":{"type":"json_schema","schema":{}}},"output_format":{"type":"json_schema","schema":{}}`, "output_format", "invalid_value"},

		{`"tools":{}`, "tools", "invalid_value"},
		{`"tools":[{"type":"bash_20250124","name":"bash"}]`, "tools[0].type", "unsupported_parameter"},
		{`"tools":[{"type":"web_search_20250305","name":"web_search"}]`, "tools[0].type", "unsupported_parameter"},
		{`"tools":[{"name":"a"}]`, "tools[0].input_schema", "missing_required_parameter"},
		{`"tools":[{"input_schema":{}}]`, "tools[0].name", "missing_required_parameter"},
		{`"tools":[{"name":"a","input_schema":{},"x":1}]`, "tools[0].x", "unsupported_parameter"},
		{`"tools":[{"name":"a","input_schema":{},"strict":"yes"}]`, "tools[0].strict", "invalid_value"},
		{`"tool_choice":{"type":"any"}`, "tool_choice", "invalid_value"},
		{`"tool_choice":{"type":"tool"}`, "tool_choice.name", "missing_required_parameter"},
		{`"tool_choice":{"type":"maybe"}`, "tool_choice.type", "unsupported_parameter"},
		{`"tool_choice":{"type":"auto","name":"f"}`, "tool_choice.name", "unsupported_parameter"},
		{`"tool_choice":"auto"`, "tool_choice", "invalid_value"},
	} {
		refused(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],`+c.members+`}`, messagesonchat.Options{}, c.param, c.code)
	}
}

func TestMessagesThatHaveNoCounterpartAreRefusedByName(t *testing.T) {
	user := func(block string) string { return `{"role":"user","content":[` + block + `]}` }
	answer := func(block string) string {
		return `{"role":"assistant","content":[` + block + `]},{"role":"user","content":"a"}`
	}
	const called = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},`
	const result = `{"type":"tool_result","tool_use_id":"a","content":"b"}`
	const image = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`
	for _, c := range []struct{ message, param, code string }{
		{`"text"`, "messages[1]", "invalid_value"},
		{`{"content":"a"}`, "messages[1].role", "missing_required_parameter"},
		{`{"role":"tool","content":"a"}`, "messages[1].role", "invalid_value"},
		{`{"role":"user"}`, "messages[1].content", "missing_required_parameter"},
		{`{"role":"user","content":1}`, "messages[1].content", "invalid_value"},
		{`{"role":"user","content":"a","name":"b"}`, "messages[1].name", "unsupported_parameter"},
		{`{"role":"assistant","content":"The answer is"}`, "messages[1].role", "unsupported_parameter"},
		{`{"role":"assistant","content":[]},{"role":"user","content":""}`, "messages[2].content", "invalid_value"},

		{user(`{"type":"search_result","source":"u","title":"t","content":[]}`), "messages[1].content[0].type", "unsupported_parameter"},
		{user(`{"type":"container_upload","file_id":"f"}`), "messages[1].content[0].type", "unsupported_parameter"},
		{user(`{"type":"tool_use","id":"a","name":"f","input":{}}`), "messages[1].content[0].type", "unsupported_parameter"},
		{user(`{"type":"image","source":{"type":"file","file_id":"f"}}`), "messages[1].content[0].source.type", "unsupported_parameter"},
		{user(`{"type":"image","source":{"type":"base64","data":"AA=="}}`), "messages[1].content[0].source.media_type", "missing_required_parameter"},
		{user(`{"type":"image","source":{"type":"url","url":"u","x":1}}`), "messages[1].content[0].source.x", "unsupported_parameter"},
		{user(`{"type":"document","source":{"type":"url","url":"u"}}`), "messages[1].content[0].source.type", "unsupported_parameter"},
		{user(`{"type":"document","source":{"type":"file","file_id":"f"}}`), "messages[1].content[0].source.type", "unsupported_parameter"},
		{user(`{"type":"document","citations":{"enabled":true},"source":{"type":"text","data":"a"}}`), "messages[1].content[0].citations.enabled", "unsupported_parameter"},
		{user(`{"type":"text"}`), "messages[1].content[0].text", "missing_required_parameter"},
		{user(`{"type":"text","text":"a","cache_control":1}`), "messages[1].content[0].cache_control", "invalid_value"},
		{user(`{"text":"a"}`), "messages[1].content[0].type", "missing_required_parameter"},
		{user(`{"type":"tool_result","content":"a"}`), "messages[1].content[0].tool_use_id", "missing_required_parameter"},
		{user(`{"type":"tool_result","tool_use_id":"a","content":1}`), "messages[1].content[0].content", "invalid_value"},
		{user(`{"type":"tool_result","tool_use_id":"a","is_error":"yes"}`), "messages[1].content[0].is_error", "invalid_value"},
		{user(`{"type":"tool_result","tool_use_id":"a","content":[{"type":"search_result"}]}`), "messages[1].content[0].content[0].type", "unsupported_parameter"},
		{user(result), "messages[1].content[0].tool_use_id", "invalid_value"},
		{called + user(result) + `,{"role":"assistant","content":"b"},` + user(result), "messages[4].content[0].tool_use_id", "invalid_value"},

		{answer(image), "messages[1].content[0].type", "unsupported_parameter"},
		{answer(`{"type":"document","source":{"type":"text","data":"a"}}`), "messages[1].content[0].type", "unsupported_parameter"},
		{answer(`{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`), "messages[1].content[0].type", "unsupported_parameter"},
		{answer(`{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`), "messages[1].content[0].type", "unsupported_parameter"},
		{answer(`{"type":"mcp_tool_use","id":"a","name":"f","server_name":"s","input":{}}`), "messages[1].content[0].type", "unsupported_parameter"},
		{answer(`{"type":"compaction","content":"a"}`), "messages[1].content[0].type", "unsupported_parameter"},
		{answer(`{"type":"tool_use","id":"a","name":"f","input":"{}"}`), "messages[1].content[0].input", "invalid_value"},
		{answer(`{"type":"tool_use","id":"a","name":"f"}`), "messages[1].content[0].input", "missing_required_parameter"},
		{answer(`{"type":"tool_use","name":"f","input":{}}`), "messages[1].content[0].id", "missing_required_parameter"},
	} {
		refused(t, `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":"a"},`+c.message+`]}`, messagesonchat.Options{}, c.param, c.code)
	}
}

func TestWhatARequestMustHave(t *testing.T) {
	for body, param := range map[string]string{
		`{"model":"m","max_tokens":9}`: "messages",
	} {
		refused(t, body, messagesonchat.Options{}, param, "missing_required_parameter")
	}
	refused(t, `{"model":"m","max_tokens":9,"messages":[]}`, messagesonchat.Options{}, "messages", "invalid_value")
	refused(t, `{"model":"m","max_tokens":-1,"messages":[{"role":"user","content":"hi"}]}`, messagesonchat.Options{}, "max_tokens", "invalid_value")
	// 0 is legal for Anthropic: it fills the cache and answers nothing.
	refused(t, `{"model":"m","max_tokens":0,"messages":[{"role":"user","content":"hi"}]}`, messagesonchat.Options{MaxOutput: 5}, "max_tokens", "unsupported_parameter")
}

func TestTheVersionOfTheAPIDecides(t *testing.T) {
	request := func(members, block string) string {
		return `{"model":"m","max_tokens":9,` + members + `"messages":[{"role":"user","content":[` + block + `]}]}`
	}
	const plain, cited = `{"type":"text","text":"a","citations":[]}`, `{"type":"text","text":"a","citations":[{}]}`
	first, second := messagesonchat.Options{Version: "2023-06-01"}, messagesonchat.Options{Version: "2026-10-21", OpenRouter: true, Chat: chat.Options{Cache: true, Links: true}}
	for _, key := range []string{"temperature", "top_p", "top_k"} {
		refused(t, request(`"`+key+`":1,`, plain), second, key, "unsupported_parameter")
	}
	refused(t, request("", cited), second, "messages[0].content[0].citations", "unsupported_parameter")
	for _, c := range []struct {
		body string
		opt  messagesonchat.Options
	}{
		{request(`"temperature":1,"top_p":1,`, cited), first}, {request(`"temperature":1,`, cited), messagesonchat.Options{}},
		{request(`"temperature":null,`, plain), second},
	} {
		if _, _, err := translateBody(c.body, c.opt); err != nil {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}

func TestWhatTheResponsesAPILacksIsRefusedByTheCallersName(t *testing.T) {
	opt := messagesonchat.Options{Responses: true}
	refused(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"stop_sequences":[""]}`, opt, "stop_sequences[0]", "invalid_value")
	refused(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}],"top_k":1}`, opt, "top_k", "unsupported_parameter")
}

func refused(t *testing.T, body string, opt messagesonchat.Options, param, code string) {
	t.Helper()
	_, _, err := translateBody(body, opt)
	translatetest.MustRefuse(t, body, err, param, code)
}

func TestNullIsNotSaid(t *testing.T) {
	members := translatetest.Nulls(messagesonchat.Fields(), "model", "messages", "max_tokens")
	chat, _, err := translateBody(`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]`+members+`}`, messagesonchat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"model":"echo","messages":[{"role":"user","content":"hi"}],"max_completion_tokens":9}`; string(chat) != want {
		t.Errorf("got %s", chat)
	}
}

func TestTooMuchInputIsRefused(t *testing.T) {
	body := func(messages, tools string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + messages + `],"tools":[` + tools + `]}`
	}
	const message, block, tool = `{"role":"user","content":"a"}`, `{"type":"text","text":"a"}`, `{"name":"a","input_schema":{}}`
	none := messagesonchat.Options{}
	refused(t, body(strings.Repeat(message+",", 1<<14)+message, ""), none, "messages", "invalid_value")
	refused(t, body(`{"role":"user","content":[`+strings.Repeat(block+",", 1<<12)+block+`]}`, ""), none, "messages[0].content", "invalid_value")
	refused(t, body(message, strings.Repeat(tool+",", 1<<10)+tool), none, "tools", "invalid_value")
}

// An empty document says nothing, and must not break the JSON around it.
func TestAnEmptyDocumentInAResultIsLeftOut(t *testing.T) {
	const image, empty = `{"type":"image","source":{"type":"url","url":"https://x/a.png"}}`, `{"type":"document","source":{"type":"text","media_type":"text/plain","data":""}}`
	body := `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` +
		image + "," + empty + "," + image + "," + empty + `]}]}]}`
	chat, _, err := translateBody(body, messagesonchat.Options{})
	if err != nil || !json.Valid(chat) || strings.Count(string(chat), "image_url\",") != 2 || strings.Count(string(chat), "[An image") > 2 {
		t.Errorf("%v, %s", err, chat)
	}
}
