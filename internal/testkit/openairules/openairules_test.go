package openairules

import (
	"strings"
	"testing"
)

const (
	hello    = `"messages":[{"role":"user","content":"hello"}]`
	asked    = `"messages":[{"role":"user","content":"hello"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"a","arguments":"{}"}}]}`
	said     = `"input":"hello"`
	function = `"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{}}}`
	strictly = `"response_format":{"type":"json_schema","json_schema":{"name":"a","strict":true,"schema":`
)

func TestChatRefusesWhatOpenAIRefuses(t *testing.T) {
	for members, want := range map[string]string{
		`"messages":[]`: "'messages': empty array",
		`"messages":[{"role":"model","content":"x"}]`:                    "'messages[0].role'",
		`"messages":[{"role":"user","content":null}]`:                    "expected a string, got null",
		`"messages":[{"role":"assistant","content":null}]`:               "expected a string, got null",
		`"messages":[{"role":"assistant","tool_calls":[]}]`:              "'messages[0].tool_calls': empty array",
		`"messages":[{"role":"tool","tool_call_id":"c1","content":"x"}]`: "role 'tool' must be a response",
		asked + `]`: "did not have response messages: c1",
		asked + `,{"role":"user","content":"x"},{"role":"tool","tool_call_id":"c1","content":"x"}]`: "did not have response messages: c1",
		asked + `,{"role":"tool","tool_call_id":"c2","content":"x"}]`:                               "role 'tool' must be a response",
		strings.Replace(asked, `"c1"`, `""`, 1) + `]`:                                               "tool_calls[0].id': empty string",
		strings.Replace(asked, "c1", strings.Repeat("x", 65), 1) + `]`:                              "tool_calls[0].id': string too long",
		strings.Replace(asked, `"a"`, `"a.b"`, 1) + `]`:                                             "tool_calls[0].function.name",
		hello + `,"tools":[]`: "'tools': empty array",
		hello + `,"tools":[{` + strings.Replace(function, `"a"`, `"a/b"`, 1) + `}]`:                       "'tools[0].name'",
		hello + `,"tools":[{` + strings.Replace(function, `,"properties":{}`, ``, 1) + `}]`:               "object schema missing properties",
		hello + `,"tools":[{` + strings.Replace(function, `"type":"object",`, ``, 1) + `}]`:               "schema must be a JSON Schema of 'type: \"object\"'",
		hello + `,"tools":[{` + strings.Replace(function, `{"name"`, `{"strict":true,"name"`, 1) + `}]`:   "'additionalProperties' is required",
		hello + `,"tools":[{` + function + `}],"tool_choice":{"type":"function","function":{"name":"b"}}`: "not found in 'tools'",
		hello + `,"tool_choice":"required"`:                                                               "only allowed when 'tools' are specified",
		hello + `,"parallel_tool_calls":false`:                                                            "only allowed when 'tools' are specified",
		hello + `,"stop":["a","b","c","d","e"]`:                                                           "'stop': array too long",
		hello + `,` + strictly + `{"type":"object","properties":{"a":{}},"additionalProperties":false}}}`: "Missing 'a'",
		hello + `,` + strictly + `{"oneOf":[]}}}`:                                                         "'oneOf' is not permitted",
		hello + `,` + strictly + `{"anyOf":[{"type":"object"}]}}}`:                                        "In context=('anyOf 0')",
		hello + `,` + strictly + `{"type":"array","items":{"type":"object"}}}}`:                           "In context=('items')",
		hello + `,` + strictly + `{"$defs":{"A":{"type":"object"}}}}}`:                                    "In context=('A')",
	} {
		wantRefusal(t, Chat([]byte("{"+members+"}")), members, want)
	}
}

func TestChatTakesWhatOpenAITakes(t *testing.T) {
	for _, members := range []string{
		hello, hello + `,"tools":[{` + function + `}],"tool_choice":{"type":"function","function":{"name":"a"}}`, hello + `,"tool_choice":"none"`,
		hello + `,"tools":[{"type":"function","function":{"name":"a"}}]`,
		asked + `,{"role":"tool","tool_call_id":"c1","content":"x"},{"role":"user","content":"y"}]`,
		hello + `,` + strictly + `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}`,
	} {
		if err := Chat([]byte("{" + members + "}")); err != nil {
			t.Errorf("%s: %v", members, err)
		}
	}
}

func TestResponsesRefusesWhatOpenAIRefuses(t *testing.T) {
	const call = `{"type":"function_call","call_id":"c1","name":"a","arguments":"{}"}`
	const output = `{"type":"function_call_output","call_id":"c1","output":"x"}`
	for members, want := range map[string]string{
		`"input":[` + call + `,` + output + `,` + output + `]`:                 "Duplicate function_call_output for call_id c1",
		`"input":[` + call + `]`:                                               "No tool output found for function call c1",
		`"input":[` + output + `]`:                                             "No tool call found for function call output with call_id c1",
		`"input":[` + strings.Replace(call, `"c1"`, `""`, 1) + `]`:             "call_id': empty string",
		`"input":[` + strings.Replace(call, `"a"`, `"a b"`, 1) + `]`:           "'input[0].name'",
		said + `,"tools":[{"type":"function","name":"a","parameters":{}}]`:     "schema must be a JSON Schema of 'type: \"object\"'",
		said + `,"tools":[{"type":"function","name":"a.b","parameters":null}]`: "'tools[0].name'",
		said + `,"text":{"format":{"type":"json_schema","name":""}}`:           "'text.format.name'",
	} {
		wantRefusal(t, Responses([]byte("{"+members+"}")), members, want)
	}
	for _, members := range []string{said, `"input":[` + call + `,{"role":"user","content":"x"},` + output + `]`, said + `,"tools":[{"type":"web_search"}]`} {
		if err := Responses([]byte("{" + members + "}")); err != nil {
			t.Errorf("%s: %v", members, err)
		}
	}
}

func wantRefusal(t *testing.T, err error, members, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", members, err, want)
	}
}
