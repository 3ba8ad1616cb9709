package responsesonchat_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

func TestWhatHasNoCounterpartIsRefusedByName(t *testing.T) {
	for _, c := range []struct{ members, param, code string }{
		{`"previous_response_id":"resp_1"`, "previous_response_id", "unsupported_parameter"},
		{`"conversation":{"id":"conv_1"}`, "conversation", "unsupported_parameter"},
		{`"prompt":{"id":"pmpt_1"}`, "prompt", "unsupported_parameter"},
		{`"background":true`, "background", "unsupported_parameter"},
		{`"background":1`, "background", "invalid_value"},
		{`"store":"yes"`, "store", "invalid_value"},
		{`"truncation":"auto"`, "truncation", "unsupported_parameter"},
		{`"max_tool_calls":3`, "max_tool_calls", "unsupported_parameter"},
		{`"context_management":[]`, "context_management", "unsupported_parameter"},
		{`"plugins":[{"id":"web"}]`, "plugins", "unsupported_parameter"},
		{`"something_new":1`, "something_new", "unsupported_parameter"},
		{`"stream_options":{"something_new":1}`, "stream_options.something_new", "unsupported_parameter"},
		{`"instructions":[]`, "instructions", "invalid_value"},
		{`"max_output_tokens":0`, "max_output_tokens", "invalid_value"},
		{`"max_output_tokens":"9"`, "max_output_tokens", "invalid_value"},
		{`"top_logprobs":-1`, "top_logprobs", "invalid_value"},
		{`"include":"all"`, "include", "invalid_value"},
		{`"include":[1]`, "include[0]", "invalid_value"},
		{`"reasoning":{"max_tokens":100}`, "reasoning.max_tokens", "unsupported_parameter"},
		{`"reasoning":{"mode":"pro"}`, "reasoning.mode", "unsupported_parameter"},
		{`"reasoning":"low"`, "reasoning", "invalid_value"},

		{`"text":{"format":{"type":"grammar"}}`, "text.format.type", "unsupported_parameter"},
		{`"text":{"format":{}}`, "text.format.type", "missing_required_parameter"},
		{`"text":{"format":{"type":"json_schema","schema":{}}}`, "text.format.name", "missing_required_parameter"},
		{`"text":{"format":{"type":"json_schema","name":"a"}}`, "text.format.schema", "missing_required_parameter"},
		{`"text":{"format":{"type":"text","name":"a"}}`, "text.format.name", "unsupported_parameter"},
		{`"text":{"other":1}`, "text.other", "unsupported_parameter"},
		{`"text":{"verbosity":1}`, "text.verbosity", "invalid_value"},

		{`"tools":{}`, "tools", "invalid_value"},
		{`"tools":[{"type":"function","name":"a"},{"type":"web_search"}]`, "tools[1].type", "unsupported_parameter"},
		{`"tools":[{"type":"custom"}]`, "tools[0].name", "missing_required_parameter"},
		{`"tools":[{"type":"custom","name":"a","description":1}]`, "tools[0].description", "invalid_value"},
		{`"tools":[{"type":"custom","name":"a","format":{"type":"json"}}]`, "tools[0].format.type", "unsupported_parameter"},
		{`"tools":[{"type":"custom","name":"a","format":{"type":"grammar","syntax":"lark"}}]`, "tools[0].format.definition", "missing_required_parameter"},
		{`"tools":[{"type":"namespace","tools":[]}]`, "tools[0].name", "missing_required_parameter"},
		{`"tools":[{"type":"namespace","name":"n","tools":[{"type":"mcp"}]}]`, "tools[0].tools[0].type", "unsupported_parameter"},
		{`"tools":[{"type":"namespace","name":"n","tools":[{"type":"function"}]}]`, "tools[0].tools[0].name", "missing_required_parameter"},
		{`"tools":[{"type":"local_shell"}]`, "tools[0].type", "unsupported_parameter"},
		{`"tools":[{"type":"mcp","server_url":"x"}]`, "tools[0].type", "unsupported_parameter"},
		{`"tools":[{"name":"a"}]`, "tools[0].type", "missing_required_parameter"},
		{`"tools":[{"type":"function"}]`, "tools[0].name", "missing_required_parameter"},
		{`"tools":[{"type":"function","name":"a","allowed_callers":["programmatic"]}]`, "tools[0].allowed_callers", "unsupported_parameter"},
		{`"tool_choice":"any"`, "tool_choice", "invalid_value"},
		{`"tool_choice":1`, "tool_choice", "invalid_value"},
		{`"tool_choice":"required"`, "tool_choice", "invalid_value"},
		{`"tool_choice":{"type":"web_search"}`, "tool_choice.type", "unsupported_parameter"},
		{`"tool_choice":{"type":"function"}`, "tool_choice.name", "missing_required_parameter"},
		{`"tool_choice":{"name":"f"}`, "tool_choice.type", "missing_required_parameter"},
		{`"tool_choice":{"type":"allowed_tools","tools":[]}`, "tool_choice.mode", "missing_required_parameter"},
		{`"tool_choice":{"type":"allowed_tools","mode":"auto"}`, "tool_choice.tools", "missing_required_parameter"},
		{`"tools":[{"type":"function","name":"a"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"b"}]}`, "tool_choice.tools", "invalid_value"},
		{`"tools":[{"type":"function","name":"a"}],"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp"}]}`, "tool_choice.tools[0].type", "unsupported_parameter"},
		{`"parallel_tool_calls":"no"`, "parallel_tool_calls", "invalid_value"},
	} {
		refused(t, `{"model":"m","input":"hi",`+c.members+`}`, c.param, c.code)
	}
}

func TestInputThatHasNoCounterpartIsRefusedByName(t *testing.T) {
	user := func(part string) string { return `{"role":"user","content":[` + part + `]}` }
	for _, c := range []struct{ item, param, code string }{
		{`{"type":"item_reference","id":"msg_1"}`, "input[1].type", "unsupported_parameter"},
		{`{"type":"web_search_call","id":"ws_1"}`, "input[1].type", "unsupported_parameter"},
		{`{"type":"compaction_trigger"}`, "input[1].type", "unsupported_parameter"},
		{`{"type":"additional_tools","tools":[{"type":"web_search"}]}`, "input[1].tools[0].type", "unsupported_parameter"},
		{`{"type":"custom_tool_call","call_id":"c","name":"f"}`, "input[1].input", "missing_required_parameter"},
		{`{"type":"tool_search_call","call_id":"c","arguments":"{}"}`, "input[1].arguments", "invalid_value"},
		{`"text"`, "input[1]", "invalid_value"},
		{`{"type":1}`, "input[1].type", "invalid_value"},
		{`{"content":"a"}`, "input[1].role", "missing_required_parameter"},
		{`{"role":"tool","content":"a"}`, "input[1].role", "invalid_value"},
		{`{"role":"user"}`, "input[1].content", "missing_required_parameter"},
		{`{"role":"user","content":1}`, "input[1].content", "invalid_value"},
		{`{"role":"user","content":"a","weight":0}`, "input[1].weight", "unsupported_parameter"},
		{`{"role":"user","c\u006fntent":"a"}`, "input[1]", "invalid_json"},

		{user(`{"type":"input_image","file_id":"file_1"}`), "input[1].content[0].file_id", "unsupported_parameter"},
		{user(`{"type":"input_image"}`), "input[1].content[0].image_url", "missing_required_parameter"},
		{user(`{"type":"input_file","file_id":"file_1"}`), "input[1].content[0].file_id", "unsupported_parameter"},
		{user(`{"type":"input_file","file_url":"https://example.com"}`), "input[1].content[0].file_url", "unsupported_parameter"},
		{user(`{"type":"input_file","filename":"a"}`), "input[1].content[0].file_data", "missing_required_parameter"},
		{user(`{"type":"input_audio"}`), "input[1].content[0].input_audio", "missing_required_parameter"},
		{user(`{"type":"input_audio","input_audio":{"data":"A"}}`), "input[1].content[0].input_audio.format", "missing_required_parameter"},
		{user(`{"type":"input_text","text":"a"},{"type":"input_video"}`), "input[1].content[1].type", "unsupported_parameter"},
		{user(`{"text":"a"}`), "input[1].content[0].type", "missing_required_parameter"},
		{user(`{"type":"input_text"}`), "input[1].content[0].text", "missing_required_parameter"},
		{user(`"a"`), "input[1].content[0]", "invalid_value"},
		{`{"role":"system","content":[{"type":"input_image","image_url":"u"}]}`, "input[1].content[0].type", "unsupported_parameter"},
		{`{"role":"assistant","content":[{"type":"input_image","image_url":"u"}]}`, "input[1].content[0].type", "unsupported_parameter"},
		{`{"role":"assistant","content":[{"type":"refusal"}]}`, "input[1].content[0].refusal", "missing_required_parameter"},

		{`{"type":"function_call","name":"f","arguments":"{}"}`, "input[1].call_id", "missing_required_parameter"},
		{`{"type":"function_call","call_id":"c","name":"f","arguments":{}}`, "input[1].arguments", "invalid_value"},
		{`{"type":"function_call_output","output":"x"}`, "input[1].call_id", "missing_required_parameter"},
		{`{"type":"function_call_output","call_id":"c","output":[{"text":"x"}]}`, "input[1].output[0].type", "missing_required_parameter"},
		{`{"type":"function_call_output","call_id":"c"}`, "input[1].output", "missing_required_parameter"},
		{`{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","file_id":"file_1"}]}`, "input[1].output[0].file_id", "unsupported_parameter"},
		{`{"type":"custom_tool_call_output","call_id":"c","output":[{"type":"input_audio"}]}`, "input[1].output[0].type", "unsupported_parameter"},
	} {
		refused(t, `{"model":"m","input":[{"role":"user","content":"a"},`+c.item+`]}`, c.param, c.code)
	}
}

func refused(t *testing.T, body, param, code string) {
	t.Helper()
	_, _, err := translateBody(body, responsesonchat.Options{})
	translatetest.MustRefuse(t, body, err, param, code)
}

func TestNullIsNotSaid(t *testing.T) {
	members := translatetest.Nulls(responsesonchat.Fields(), "model", "input")
	chat, _, err := translateBody(`{"model":"m","input":"hi"`+members+`}`, responsesonchat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"model":"echo","messages":[{"role":"user","content":"hi"}]}`; string(chat) != want {
		t.Errorf("got %s", chat)
	}
}

func TestTooMuchInputIsRefused(t *testing.T) {
	items := strings.Repeat(`{"role":"user","content":"a"},`, 1<<14)
	refused(t, `{"model":"m","input":[`+items+`{"role":"user","content":"a"}]}`, "input", "invalid_value")
	parts := strings.Repeat(`{"type":"input_text","text":"a"},`, 1<<12)
	refused(t, `{"model":"m","input":[{"role":"user","content":[`+parts+`{"type":"input_text","text":"a"}]}]}`, "input[0].content", "invalid_value")
	tools := strings.Repeat(`{"type":"function","name":"a"},`, 1<<10)
	refused(t, `{"model":"m","input":"hi","tools":[`+tools+`{"type":"function","name":"a"}]}`, "tools", "invalid_value")
}

func TestALongValueIsNotRepeatedInFull(t *testing.T) {
	_, _, err := translateBody(`{"model":"m","input":"hi","truncation":"`+strings.Repeat("é", 4000)+`"}`, responsesonchat.Options{})
	if e := translatetest.MustFail(t, err); len(e.Message) > 300 {
		t.Errorf("a message of %d bytes", len(e.Message))
	}
}
