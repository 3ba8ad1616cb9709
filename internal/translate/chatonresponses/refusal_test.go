package chatonresponses_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

func refused(t *testing.T, body, param, code string) {
	t.Helper()
	_, err := translateBody(body, chatonresponses.Options{})
	translatetest.MustRefuse(t, body, err, param, code)
}

func withField(field string) string {
	return `{"model":"m","messages":[{"role":"user","content":"a"}],` + field + `}`
}

func TestChatFieldsWithoutACounterpartAreRefusedOrLeftOut(t *testing.T) {
	translatetest.CheckUnlike(t, chatonresponses.Fields(), 19, func(member string) ([]string, error) {
		r, err := translateBody(withField(member), chatonresponses.Options{})
		if err != nil {
			return nil, err
		}
		return r.original.LeftOut(), nil
	})
	for field, param := range map[string]string{
		`"n":2`: "n", `"stop":"a","logprobs":true`: "logprobs",
		`"modalities":["text","audio"]`: "modalities", `"something_new":1`: "something_new",
		`"web_search_options":{}`: "web_search_options",
	} {
		refused(t, withField(field), param, "unsupported_parameter")
	}
}

func TestChatFieldsAreChecked(t *testing.T) {
	fn := `{"type":"function","function":{"name":"f"}}`
	for _, c := range []struct{ field, param, code string }{
		{`"max_tokens":0`, "max_tokens", "invalid_value"},
		{`"max_completion_tokens":"9"`, "max_completion_tokens", "invalid_value"},
		{`"max_completion_tokens":9,"max_tokens":8`, "max_tokens", "invalid_value"},
		{`"top_logprobs":2`, "top_logprobs", "invalid_value"},
		{`"top_logprobs":-1,"logprobs":true`, "top_logprobs", "invalid_value"},
		{`"logprobs":1`, "logprobs", "invalid_value"},
		{`"store":1`, "store", "invalid_value"},
		{`"stop":""`, "stop", "invalid_value"},
		{`"stop":["a",1]`, "stop[1]", "invalid_value"},
		{`"stop":["a","b","c","d","e"]`, "stop", "invalid_value"},
		{`"stop":"` + strings.Repeat(" ", 1025) + `"`, "stop", "invalid_value"},
		{`"verbosity":1`, "verbosity", "invalid_value"},
		{`"reasoning_effort":1`, "reasoning_effort", "invalid_value"},
		{`"reasoning":1`, "reasoning", "invalid_value"},
		{`"reasoning":{"max_tokens":1}`, "reasoning.max_tokens", "unsupported_parameter"},
		{`"reasoning":{"effort":1}`, "reasoning.effort", "invalid_value"},
		{`"reasoning":{"enabled":1}`, "reasoning.enabled", "invalid_value"},
		{`"reasoning":{"exclude":1}`, "reasoning.exclude", "invalid_value"},
		{`"reasoning":{"summary":1}`, "reasoning.summary", "invalid_value"},
		{`"include_reasoning":1`, "include_reasoning", "invalid_value"},
		{`"stream_options":{"x":1}`, "stream_options.x", "unsupported_parameter"},
		{`"response_format":{"type":"grammar"}`, "response_format.type", "unsupported_parameter"},
		{`"response_format":{"type":"json_object","x":1}`, "response_format.x", "unsupported_parameter"},
		{`"response_format":{}`, "response_format.type", "missing_required_parameter"},
		{`"response_format":{"type":"json_schema"}`, "response_format.json_schema", "missing_required_parameter"},
		{`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`, "response_format.json_schema.name", "missing_required_parameter"},
		{`"response_format":{"type":"json_schema","json_schema":{"name":"a"}}`, "response_format.json_schema.schema", "missing_required_parameter"},
		{`"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{},"x":1}}`, "response_format.json_schema.x", "unsupported_parameter"},
		{`"tools":{}`, "tools", "invalid_value"},
		{`"tools":[{"type":"web_search"}]`, "tools[0].type", "unsupported_parameter"},
		{`"tools":[{"function":{"name":"f"}}]`, "tools[0].type", "missing_required_parameter"},
		{`"tools":[{"type":"function"}]`, "tools[0].function", "missing_required_parameter"},
		{`"tools":[{"type":"function","function":{}}]`, "tools[0].function.name", "missing_required_parameter"},
		{`"tools":[{"type":"function","function":{"name":"f","x":1}}]`, "tools[0].function.x", "unsupported_parameter"},
		{`"tools":[{"type":"custom","custom":{"name":"f","format":{"type":"regex"}}}]`, "tools[0].custom.format.type", "unsupported_parameter"},
		{`"tools":[{"type":"custom","custom":{"name":"f","format":{"type":"grammar"}}}]`, "tools[0].custom.format.grammar", "missing_required_parameter"},
		{`"tools":[{"type":"custom","custom":{"name":"f","format":{"type":"grammar","grammar":{"syntax":"lark"}}}}]`, "tools[0].custom.format.grammar.definition", "missing_required_parameter"},
		{`"tool_choice":"any"`, "tool_choice", "invalid_value"},
		{`"tool_choice":"required"`, "tool_choice", "invalid_value"},
		{`"tools":[],"tool_choice":` + fn, "tool_choice", "invalid_value"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"web_search"}`, "tool_choice.type", "unsupported_parameter"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"function","function":{}}`, "tool_choice.function.name", "missing_required_parameter"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"allowed_tools"}`, "tool_choice.allowed_tools", "missing_required_parameter"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto"}}`, "tool_choice.allowed_tools.tools", "missing_required_parameter"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"all","tools":[]}}`, "tool_choice.allowed_tools.mode", "invalid_value"},
		{`"parallel_tool_calls":1`, "parallel_tool_calls", "invalid_value"},
	} {
		refused(t, withField(c.field), c.param, c.code)
	}
}

func TestMessagesWithoutACounterpartAreRefused(t *testing.T) {
	user := func(part string) string { return `{"role":"user","content":[` + part + `]}` }
	call := func(rest string) string {
		return `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",` + rest + `}]}`
	}
	for _, c := range []struct{ message, param, code string }{
		{`"text"`, "messages[1]", "invalid_value"},
		{`{"content":"a"}`, "messages[1].role", "missing_required_parameter"},
		{`{"role":"function","name":"f","content":"a"}`, "messages[1].role", "unsupported_parameter"},
		{`{"role":"user","function_call":{"name":"f","arguments":""}}`, "messages[1].function_call", "unsupported_parameter"},
		{`{"role":"user"}`, "messages[1].content", "missing_required_parameter"},
		{`{"role":"user","content":7}`, "messages[1].content", "invalid_value"},
		{`{"role":"system","content":[{"type":"image_url","image_url":{"url":"u"}}]}`, "messages[1].content[0].type", "unsupported_parameter"},
		{user(`{"type":"refusal","refusal":"x"}`), "messages[1].content[0].type", "unsupported_parameter"},
		{user(`{"type":"video_url","video_url":{"url":"u"}}`), "messages[1].content[0].type", "unsupported_parameter"},
		{user(`{"type":"text"}`), "messages[1].content[0].text", "missing_required_parameter"},
		{user(`{"text":"a"}`), "messages[1].content[0].type", "missing_required_parameter"},
		{user(`{"type":"image_url"}`), "messages[1].content[0].image_url", "missing_required_parameter"},
		{user(`{"type":"image_url","image_url":"u"}`), "messages[1].content[0].image_url", "invalid_value"},
		{user(`{"type":"image_url","image_url":{}}`), "messages[1].content[0].image_url.url", "missing_required_parameter"},
		{user(`{"type":"file","file":{"filename":"a"}}`), "messages[1].content[0].file.file_data", "missing_required_parameter"},
		{user(`{"type":"input_audio","input_audio":{"data":"A"}}`), "messages[1].content[0].input_audio.format", "missing_required_parameter"},
		{`{"role":"assistant"}`, "messages[1].content", "missing_required_parameter"},
		{`{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"u"}}]}`, "messages[1].content[0].type", "unsupported_parameter"},
		{`{"role":"assistant","content":"a","audio":{"id":"x"}}`, "messages[1].audio", "unsupported_parameter"},
		{`{"role":"assistant","content":"a","function_call":{"name":"f"}}`, "messages[1].function_call.arguments", "missing_required_parameter"},
		{`{"role":"assistant","content":"a","prefix":true}`, "messages[1].prefix", "unsupported_parameter"},
		{call(`"x":1`), "messages[1].tool_calls[0].x", "unsupported_parameter"},
		{call(`"function":{"name":"f"}`), "messages[1].tool_calls[0].function.arguments", "missing_required_parameter"},
		{call(`"function":{"arguments":"{}"}`), "messages[1].tool_calls[0].function.name", "missing_required_parameter"},
		{`{"role":"assistant","tool_calls":[{"id":"c","type":"mcp"}]}`, "messages[1].tool_calls[0].type", "unsupported_parameter"},
		{`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":""}}]}`, "messages[1].tool_calls[0].id", "missing_required_parameter"},
		{`{"role":"tool","content":"x"}`, "messages[1].tool_call_id", "missing_required_parameter"},
		{`{"role":"tool","tool_call_id":"c"}`, "messages[1].content", "missing_required_parameter"},
	} {
		refused(t, `{"model":"m","messages":[{"role":"user","content":"a"},`+c.message+`]}`, c.param, c.code)
	}
}

func TestNullIsNotSaidInChat(t *testing.T) {
	members := translatetest.Nulls(chatonresponses.Fields(), "model", "messages")
	r, err := translateBody(`{"model":"m","messages":[{"role":"user","content":"hi"}]`+members+`}`, chatonresponses.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"model":"echo","input":[{"type":"message","role":"user","content":"hi"}],"store":false}`; string(r.responses) != want {
		t.Errorf("got %s", r.responses)
	}
}

func TestTooManyMessagesAreRefused(t *testing.T) {
	messages := strings.Repeat(`{"role":"user","content":"a"},`, 1<<14)
	refused(t, `{"model":"m","messages":[`+messages+`{"role":"user","content":"a"}]}`, "messages", "invalid_value")
	parts := strings.Repeat(`{"type":"text","text":"a"},`, 1<<12)
	refused(t, `{"model":"m","messages":[{"role":"user","content":[`+parts+`{"type":"text","text":"a"}]}]}`, "messages[0].content", "invalid_value")
	tool := `{"type":"function","function":{"name":"f"}}`
	refused(t, withField(`"tools":[`+strings.Repeat(tool+",", 1<<10)+tool+`]`), "tools", "invalid_value")
}
