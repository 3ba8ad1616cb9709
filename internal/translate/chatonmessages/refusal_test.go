package chatonmessages_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
)

func refused(t *testing.T, model, body, param, code string) {
	t.Helper()
	_, err := translateBody(body, forModel(model))
	translatetest.MustRefuse(t, body, err, param, code)
}

func TestChatFieldsWithoutACounterpartAreRefusedOrLeftOut(t *testing.T) {
	translatetest.CheckUnlike(t, chatonmessages.Fields(), 20, func(member string) ([]string, error) {
		r, err := translateBody(withField(member), forModel(plainModel))
		if err != nil {
			return nil, err
		}
		return r.original.LeftOut(), nil
	})
}

func TestChatFieldsAreChecked(t *testing.T) {
	fn := `{"type":"function","function":{"name":"f"}}`
	for _, c := range []struct{ field, param, code string }{
		{`"something_new":1`, "something_new", "unsupported_parameter"},
		{`"max_tokens":0`, "max_tokens", "invalid_value"},
		{`"max_tokens":1,"max_completion_tokens":2`, "max_tokens", "invalid_value"},
		{`"stream_options":{"x":1}`, "stream_options.x", "unsupported_parameter"},
		{`"stop":" "`, "stop", "invalid_value"}, {`"stop":["a",""]`, "stop[1]", "invalid_value"}, {`"stop":7`, "stop", "invalid_value"},
		{`"user":7`, "user", "invalid_value"}, {`"service_tier":"flex"`, "service_tier", "unsupported_parameter"},
		{`"temperature":2.5`, "temperature", "invalid_value"}, {`"temperature":"0"`, "temperature", "invalid_value"}, {`"top_p":-0.1`, "top_p", "invalid_value"},
		{`"top_k":1.5`, "top_k", "invalid_value"}, {`"top_k":-2`, "top_k", "invalid_value"},
		{`"cache_control":"x","reasoning_effort":"huge"`, "reasoning_effort", "invalid_value"}, {`"reasoning":{"effort":"huge"}`, "reasoning.effort", "invalid_value"},
		{`"reasoning":{"x":1}`, "reasoning.x", "unsupported_parameter"}, {`"reasoning":{"enabled":1}`, "reasoning.enabled", "invalid_value"},
		{`"reasoning":{"max_tokens":-1}`, "reasoning.max_tokens", "invalid_value"},
		{`"max_tokens":1024,"reasoning_effort":"low"`, "reasoning_effort", "invalid_value"},
		{`"max_tokens":3000,"reasoning":{"max_tokens":3000}`, "reasoning.max_tokens", "invalid_value"},
		{`"response_format":{"type":"grammar"}`, "response_format.type", "unsupported_parameter"},
		{`"functions":[` + fn + `]`, "functions[0].type", "unsupported_parameter"}, {`"functions":[{"name":"f","parameters":[]}]`, "functions[0].parameters", "invalid_value"},
		{`"function_call":{"name":"f"}`, "function_call", "invalid_value"}, {`"functions":[{"name":"f"}],"tools":[]`, "tools", "invalid_value"},
		{`"response_format":{"type":"json_schema"}`, "response_format.json_schema", "missing_required_parameter"},
		{`"response_format":{"type":"json_schema","json_schema":{"name":"n"}}`, "response_format.json_schema.schema", "missing_required_parameter"},
		{`"tool_choice":"required"`, "tool_choice", "invalid_value"}, {`"tool_choice":"any"`, "tool_choice", "invalid_value"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"custom"}`, "tool_choice.type", "unsupported_parameter"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"function","function":{}}`, "tool_choice.function.name", "missing_required_parameter"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"g"}}]}}`, "tool_choice.allowed_tools.tools", "invalid_value"},
		{`"tools":[` + fn + `],"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto"}}`, "tool_choice.allowed_tools.tools", "missing_required_parameter"},
		{`"tools":[{"type":"custom","custom":{"name":"f"}}]`, "tools[0].type", "unsupported_parameter"}, {`"tools":[{"type":"web_search"}]`, "tools[0].type", "unsupported_parameter"},
		{`"tools":[{"type":"web_search_20250305"}]`, "tools[0].name", "missing_required_parameter"},
		{`"tools":[{"type":"function","function":{"name":"f","x":1}}]`, "tools[0].function.x", "unsupported_parameter"},
		{`"tools":[{"type":"function","function":{"name":"f","parameters":[]}}]`, "tools[0].function.parameters", "invalid_value"},
		{`"tools":[{"type":"function","function":{"name":"f"},"cache_control":1}]`, "tools[0].cache_control", "invalid_value"},
		{`"parallel_tool_calls":"x"`, "parallel_tool_calls", "invalid_value"},
	} {
		refused(t, plainModel, withField(c.field), c.param, c.code)
	}
}

// What a model does not take is refused by the name of the field, and the text says what to do.
func TestWhatAModelDoesNotTakeIsRefused(t *testing.T) {
	const tools = `"tools":[{"type":"function","function":{"name":"f"}}],`
	for _, c := range []struct{ model, field, param string }{
		{"claude-opus-5-5", `"temperature":0`, "temperature"}, {"claude-opus-4-7", `"top_p":0.5`, "top_p"}, {"claude-sonnet-5", `"top_k":3`, "top_k"},
		{plainModel, `"temperature":0,"top_p":0.5`, "top_p"},
		{plainModel, `"temperature":0,"reasoning_effort":"low"`, "temperature"}, {"claude-sonnet-4-6", `"top_k":9,"reasoning_effort":"low"`, "top_k"},
		{"claude-sonnet-4-6", `"top_p":0.9,"reasoning_effort":"low"`, "top_p"},
		{"claude-opus-5-5", `"reasoning_effort":"none"`, "reasoning_effort"}, {"claude-fable-5", `"reasoning":{"enabled":false}`, "reasoning.enabled"},
		{"claude-opus-5-5", tools + `"tool_choice":"required"`, "tool_choice"}, {"claude-sonnet-5-5", tools + `"tool_choice":{"type":"function","function":{"name":"f"}}`, "tool_choice"},
	} {
		refused(t, c.model, withField(c.field), c.param, "unsupported_parameter")
	}
	prefill := `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`
	refused(t, "claude-opus-4-8", prefill, "messages", "unsupported_parameter")
	for _, nothing := range []string{``, `{"role":"system","content":""}`} {
		refused(t, plainModel, `{"model":"m","messages":[`+nothing+`]}`, "messages", "invalid_value")
	}
	for _, model := range []string{"claude-haiku-5-5", "claude-opus-4-8", "claude-fable-5", "glm-5"} {
		if _, err := translateBody(withField(tools+`"tool_choice":"required"`), forModel(model)); err != nil {
			t.Errorf("%s: %v", model, err)
		}
	}
}

func TestSamplingCanBeIgnored(t *testing.T) {
	opt := forModel("claude-opus-5-5")
	opt.Rules.Sampling = catalog.SamplingIgnored
	r, err := translateBody(withField(`"temperature":0,"top_p":0.1,"top_k":3`), opt)
	want := translated(t, withField(`"user":null`), opt)
	if err != nil || string(r.messages) != string(want.messages) || !slices.Equal(r.original.LeftOut(), []string{"temperature", "top_p", "top_k"}) {
		t.Errorf("%v, %s", err, r.messages)
	}
	_, err = translateBody(withField(`"temperature":3`), opt)
	translatetest.MustRefuse(t, "temperature", err, "temperature", "invalid_value")
}

func TestMessagesAreChecked(t *testing.T) {
	user := func(part string) string { return `{"role":"user","content":[` + part + `]}` }
	image := func(url string) string { return user(`{"type":"image_url","image_url":{"url":"` + url + `"}}`) }
	file := func(members string) string { return user(`{"type":"file","file":{` + members + `}}`) }
	call := func(members string) string {
		return `{"role":"assistant","tool_calls":[{"id":"c","type":"function",` + members + `}]}`
	}
	const unsupported, invalid, missing = "unsupported_parameter", "invalid_value", "missing_required_parameter"
	for _, c := range []struct{ message, param, code string }{
		{`7`, "messages[1]", invalid}, {`{}`, "messages[1].role", missing}, {`{"role":"function","name":"f","content":"x"}`, "messages[1].role", unsupported},
		{`{"role":"user","function_call":{"name":"f","arguments":""}}`, "messages[1].function_call", unsupported}, {`{"role":"user"}`, "messages[1].content", missing},
		{`{"role":"user","content":7}`, "messages[1].content", invalid}, {`{"role":"user","content":"a","cache_control":7}`, "messages[1].cache_control", invalid},
		{`{"role":"system","content":[{"type":"image_url","image_url":{"url":"u"}}]}`, "messages[1].content[0].type", unsupported},
		{user(`{"type":"refusal","refusal":"x"}`), "messages[1].content[0].type", unsupported},
		{user(`{"type":"input_audio","input_audio":{"data":"A","format":"wav"}}`), "messages[1].content[0].type", unsupported},
		{user(`{"type":"video_url","video_url":{"url":"u"}}`), "messages[1].content[0].type", unsupported},
		{user(`{"type":"text"}`), "messages[1].content[0].text", missing}, {user(`{"type":"text","text":"a","x":1}`), "messages[1].content[0].x", unsupported},
		{image("http://e.org/a.png"), "messages[1].content[0].image_url.url", unsupported}, {image("a.png"), "messages[1].content[0].image_url.url", unsupported},
		{image("data:image/tiff;base64,AA"), "messages[1].content[0].image_url.url", unsupported}, {image("data:image/png,AA"), "messages[1].content[0].image_url.url", unsupported},
		{image(`data:image/png;base64,A\u0022`), "messages[1].content[0].image_url.url", unsupported}, {image("data:image/png;base64,"), "messages[1].content[0].image_url.url", unsupported},
		{file(`"file_id":"f"`), "messages[1].content[0].file.file_id", unsupported}, {file(`"filename":"a.pdf"`), "messages[1].content[0].file.file_data", missing},
		{file(`"filename":"a.doc","file_data":"AA"`), "messages[1].content[0].file.file_data", unsupported},
		{file(`"file_data":"data:application/zip;base64,AA"`), "messages[1].content[0].file.file_data", unsupported},
		{file(`"file_data":"data:text/plain;base64,A"`), "messages[1].content[0].file.file_data", invalid},
		{`{"role":"assistant"}`, "messages[1].content", missing}, {`{"role":"assistant","content":[{"type":"image_url","image_url":{"url":"u"}}]}`, "messages[1].content[0].type", unsupported},
		{`{"role":"assistant","content":"a","audio":{"id":"x"}}`, "messages[1].audio", unsupported}, {`{"role":"assistant","content":"a","function_call":{"name":"f"}}`, "messages[1].function_call.arguments", missing},
		{`{"role":"assistant","content":"a","reasoning_details":7}`, "messages[1].reasoning_details", invalid}, {`{"role":"assistant","content":"a","reasoning_details":[7]}`, "messages[1].reasoning_details[0]", invalid},
		{call(`"function":{"name":"f"}`), "messages[1].tool_calls[0].function.arguments", missing}, {call(`"function":{"arguments":"{}"}`), "messages[1].tool_calls[0].function.name", missing},
		{call(`"function":{"name":"f","arguments":"[1]"}`), "messages[1].tool_calls[0].function.arguments", invalid}, {call(`"function":{"name":"f","arguments":"{"}`), "messages[1].tool_calls[0].function.arguments", invalid},
		{`{"role":"assistant","tool_calls":[{"id":"c","type":"custom","custom":{"name":"f","input":""}}]}`, "messages[1].tool_calls[0].type", unsupported},
		{`{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f","arguments":""}}]}`, "messages[1].tool_calls[0].id", missing},
		{`{"role":"tool","content":"x"}`, "messages[1].tool_call_id", missing}, {`{"role":"tool","tool_call_id":"c"}`, "messages[1].content", missing},
		{`{"role":"tool","tool_call_id":"c","content":"x","is_error":7}`, "messages[1].is_error", invalid},
	} {
		refused(t, plainModel, `{"model":"m","messages":[{"role":"user","content":"a"},`+c.message+`]}`, c.param, c.code)
	}
	refused(t, plainModel, `{"model":"m","messages":[{"role":"user","content":" \n\u00a0"}]}`, "messages", invalid)
	refused(t, plainModel, `{"model":"m","messages":[{"role":"user","content":[]}]}`, "messages", invalid)
	refused(t, plainModel, `{"model":"m","messages":[{"role":"function","name":"f","content":"x"}],"functions":[{"name":"f"}]}`, "messages[0].name", invalid)
	refused(t, plainModel, `{"model":"m","messages":[{"role":"assistant","function_call":{"name":"f","arguments":"["}}],"functions":[{"name":"f"}]}`,
		"messages[0].function_call.arguments", invalid)
}

func TestTooManyMessagesAreRefused(t *testing.T) {
	messages := strings.Repeat(`{"role":"user","content":"a"},`, translate.MaxMessages)
	refused(t, plainModel, `{"model":"m","messages":[`+messages+`{"role":"user","content":"a"}]}`, "messages", "invalid_value")
	parts := strings.Repeat(`{"type":"text","text":"a"},`, translate.MaxParts)
	refused(t, plainModel, `{"model":"m","messages":[{"role":"user","content":[`+parts+`{"type":"text","text":"a"}]}]}`, "messages[0].content", "invalid_value")
	tool := `{"type":"function","function":{"name":"f"}}`
	refused(t, plainModel, withField(`"tools":[`+strings.Repeat(tool+",", translate.MaxTools)+tool+`]`), "tools", "invalid_value")
}
