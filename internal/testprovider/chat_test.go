package testprovider_test

import (
	"net/http"
	"strings"
	"testing"
)

// chatWith is a chat request to echo with more fields, which may repeat messages.
func chatWith(fields string) string {
	return `{"model":"echo","messages":[{"role":"user","content":"hello big world"}],` + fields + `}`
}

type chatResult struct {
	Choices []struct {
		Message struct {
			Content   *string
			ToolCalls []struct {
				ID, Type string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		FinishReason string `json:"finish_reason"`
	}
	Usage struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
		Total      int `json:"total_tokens"`
	}
}

func (r chatResult) text() string {
	if c := r.Choices[0].Message.Content; c != nil {
		return *c
	}
	return "(null)"
}

func TestChatResultHasEveryKey(t *testing.T) {
	resp := send(t, http.MethodPost, "/chat/completions", `{"model":"echo","messages":[{"role":"user","content":"hello <you>"}],"unknown":{"is":"fine"}}`)
	sameJSON(t, readAll(t, resp), `{"id": "chatcmpl-2", "object": "chat.completion", "created": 1800000000, "model": "echo",
		"choices": [{"index": 0, "message": {"role": "assistant", "content": "You said: hello <you>", "refusal": null},
			"logprobs": null, "finish_reason": "stop"}],
		"usage": {"prompt_tokens": 2, "completion_tokens": 4, "total_tokens": 6,
			"prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}},
		"service_tier": "default", "system_fingerprint": "fp_testprovider"}`)
}

func TestChatToolCallHasEveryKey(t *testing.T) {
	resp := send(t, http.MethodPost, "/chat/completions", chatWith(`"tools":[{"type":"function","function":{"name":"weather","parameters":
		{"type":"object","properties":{"city":{"type":"string"},"unit":{"enum":["c","f"]},"more":{"type":"string"}},"required":["city","unit"]}}}]`))
	sameJSON(t, readAll(t, resp), `{"id": "chatcmpl-2", "object": "chat.completion", "created": 1800000000, "model": "echo",
		"choices": [{"index": 0, "message": {"role": "assistant", "content": null, "refusal": null, "tool_calls":
			[{"id": "call_2", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"example\",\"unit\":\"c\"}"}}]},
			"logprobs": null, "finish_reason": "tool_calls"}],
		"usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4,
			"prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}},
		"service_tier": "default", "system_fingerprint": "fp_testprovider"}`)
}

func TestChatRepliesToTheLastUserMessage(t *testing.T) {
	for _, tt := range []struct{ name, messages, want string }{
		{"history", `{"role":"system","content":"be kind"},{"role":"user","content":"one"},{"role":"assistant","content":null,"refusal":null,"tool_calls":null},{"role":"user","content":"two"}`, "You said: two"},
		{"parts", `{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}`, "You said: one\ntwo"},
		{"image", `{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:"}}]}`, "You said: look (with 1 image)"},
		{"attachments only", `{"role":"user","content":[{"type":"image_url"},{"type":"image_url"},{"type":"input_audio"},{"type":"file"}]}`, "You sent 2 images, 1 sound, 1 file."},
		{"nothing", `{"role":"system","content":"alone"}`, "You said nothing."},
		{"tool result", `{"role":"user","content":"x"},{"role":"assistant","tool_calls":[{"function":{"arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"sunny"}`, "The tool answered: sunny"},
		{"tool results", `{"role":"assistant"},{"role":"tool","content":"a"},{"role":"tool","content":[{"type":"text","text":"b"}]}`, "The tool answered: a; b"},
		{"old tool result", `{"role":"tool","content":"a"},{"role":"user","content":"thanks"}`, "You said: thanks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := post[chatResult](t, "/chat/completions", `{"model":"echo","messages":[`+tt.messages+`]}`).text(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestChatToolChoice(t *testing.T) {
	const tools = `"tools":[{"type":"custom","custom":{"name":"z"}},{"type":"function","function":{"name":"a","parameters":null}},{"type":"function","function":{"name":"b"}}]`
	const result = `,"messages":[{"role":"user","content":"x"},{"role":"tool","content":"y"}]`
	for _, tt := range []struct{ name, more, call string }{
		{"default", ``, "a"},
		{"auto", `,"tool_choice":"auto"`, "a"},
		{"required", `,"tool_choice":"required"`, "a"},
		{"none", `,"tool_choice":"none"`, ""},
		{"forced", `,"tool_choice":{"type":"function","function":{"name":"b"}}`, "b"},
		{"allowed", `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"b"}}]}}`, "b"},
		{"after the result", result, ""},
		{"forced after the result", result + `,"tool_choice":"required"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := post[chatResult](t, "/chat/completions", chatWith(tools+tt.more))
			calls, finish := r.Choices[0].Message.ToolCalls, r.Choices[0].FinishReason
			switch {
			case tt.call == "" && (len(calls) != 0 || finish != "stop"):
				t.Errorf("called %v, finish %q", calls, finish)
			case tt.call != "" && (len(calls) != 1 || calls[0].Function.Name != tt.call || calls[0].Function.Arguments != "{}" || finish != "tool_calls"):
				t.Errorf("called %v, finish %q, want %q", calls, finish, tt.call)
			}
		})
	}
	if got := refused(t, "POST", "/chat/completions", chatWith(tools+`,"tool_choice":{"type":"function","function":{"name":"c"}}`)); got != "400 invalid_request_error invalid_value tool_choice" {
		t.Errorf("a function that is not offered: %s", got)
	}
}

func TestChatLimitsAndFormats(t *testing.T) {
	for _, tt := range []struct{ name, fields, text, finish string }{
		{"max_tokens", `"max_tokens":3`, "You said: hello", "length"},
		{"max_completion_tokens wins", `"max_tokens":3,"max_completion_tokens":1`, "You", "length"},
		{"exactly enough", `"max_tokens":5`, "You said: hello big world", "stop"},
		{"stop", `"stop":" big"`, "You said: hello", "stop"},
		{"first of several stops", `"stop":["world","","hello"]`, "You said: ", "stop"},
		{"nulls", `"stop":null,"n":null,"max_tokens":null,"tools":null,"tool_choice":null,"response_format":null,"stream":null,"stream_options":null`, "You said: hello big world", "stop"},
		{"text format", `"response_format":{"type":"text"}`, "You said: hello big world", "stop"},
		{"json_object", `"response_format":{"type":"json_object"}`, `{"reply":"You said: hello big world"}`, "stop"},
		{"json_schema", `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}`, `{"n":1}`, "stop"},
		{"json_schema without schema", `"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":null}}`, `{"reply":"You said: hello big world"}`, "stop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := post[chatResult](t, "/chat/completions", chatWith(tt.fields))
			if r.text() != tt.text || r.Choices[0].FinishReason != tt.finish {
				t.Errorf("got %q, %s, want %q, %s", r.text(), r.Choices[0].FinishReason, tt.text, tt.finish)
			}
		})
	}
}

func TestChatMakesNChoices(t *testing.T) {
	r := post[chatResult](t, "/chat/completions", chatWith(`"n":8`))
	if len(r.Choices) != 8 || r.Usage.Completion != 40 || r.Usage.Total != 43 {
		t.Fatalf("%d choices, usage %+v", len(r.Choices), r.Usage)
	}
	r = post[chatResult](t, "/chat/completions", chatWith(`"n":2,"tools":[{"type":"function","function":{"name":"a"}}]`))
	if a, b := r.Choices[0].Message.ToolCalls[0].ID, r.Choices[1].Message.ToolCalls[0].ID; a == b {
		t.Errorf("two calls named %q", a)
	}
}

func TestLongTextIsCutAndCounted(t *testing.T) {
	text := strings.Repeat("é", 100*32) + strings.Repeat(" a", 17000)
	r := post[chatResult](t, "/chat/completions", `{"model":"echo","messages":[{"role":"user","content":"`+text+`"}]}`)
	if r.Usage.Prompt != 17100 || r.Usage.Completion != 16384 || r.Choices[0].FinishReason != "length" {
		t.Errorf("usage %+v, finish %q", r.Usage, r.Choices[0].FinishReason)
	}
	if !strings.HasPrefix("You said: "+text, r.text()) {
		t.Errorf("cut to %.50q", r.text())
	}
}

func TestLoremSaysTheSameToEverybody(t *testing.T) {
	r := post[chatResult](t, "/chat/completions", `{"model":"lorem","messages":[{"role":"user","content":"hi"}]}`)
	if r.Usage.Completion != 512 || !strings.HasPrefix(r.text(), "lorem ipsum dolor") {
		t.Errorf("%d tokens of %.30q", r.Usage.Completion, r.text())
	}
}
