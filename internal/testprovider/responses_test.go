package testprovider_test

import (
	"net/http"
	"strings"
	"testing"
)

// response is a response object as it should be; more repeats keys that differ.
func response(status, output, usage, more string) string {
	return `{"id":"resp_2","object":"response","created_at":1800000000,"status":"` + status + `","background":false,
		"completed_at":null,"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,
		"max_tool_calls":null,"metadata":{},"model":"echo","output":` + output + `,"parallel_tool_calls":true,
		"previous_response_id":null,"prompt_cache_key":null,"reasoning":{"effort":null,"summary":null},
		"safety_identifier":null,"service_tier":"default","store":false,"temperature":1,
		"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[],"top_logprobs":0,
		"top_p":1,"truncation":"disabled","usage":` + usage + `,"user":null` + more + `}`
}

func message(status, text string) string {
	return `{"id":"msg_2","type":"message","status":"` + status + `","role":"assistant",
		"content":[{"type":"output_text","text":"` + text + `","annotations":[],"logprobs":[]}]}`
}

func responsesUsage(input, output, total string) string {
	return `{"input_tokens":` + input + `,"input_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},
		"output_tokens":` + output + `,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":` + total + `}`
}

const completedAt = `,"completed_at":1800000000`

func TestResponseHasEveryKey(t *testing.T) {
	resp := send(t, http.MethodPost, "/responses", `{"model":"echo","input":"hello"}`)
	sameJSON(t, readAll(t, resp), response("completed", "["+message("completed", "You said: hello")+"]", responsesUsage("1", "3", "4"), completedAt))
}

func TestResponseRepeatsTheRequest(t *testing.T) {
	const asked = `"instructions":"be kind","max_output_tokens":50,"max_tool_calls":2,"metadata":{"a":"b"},
		"parallel_tool_calls":false,"prompt_cache_key":"k","reasoning":{"effort":"low","summary":null},
		"safety_identifier":"s","temperature":0.7,"text":{"format":{"type":"text"},"verbosity":"low"},
		"tool_choice":"none","tools":[{"type":"function","name":"f","strict":true,"own":1}],"top_logprobs":3,"top_p":0.5,
		"truncation":"auto","user":"u"`
	resp := send(t, http.MethodPost, "/responses", `{"model":"echo","input":"hello","store":true,"service_tier":"auto",`+asked+`}`)
	sameJSON(t, readAll(t, resp), response("completed", "["+message("completed", "You said: hello")+"]", responsesUsage("3", "3", "6"), completedAt+","+asked))
}

func TestResponseCutByALimit(t *testing.T) {
	resp := send(t, http.MethodPost, "/responses", `{"model":"echo","input":"hello","max_output_tokens":2,"n":3}`)
	sameJSON(t, readAll(t, resp), response("incomplete", "["+message("incomplete", "You said:")+"]", responsesUsage("1", "2", "3"),
		`,"max_output_tokens":2,"incomplete_details":{"reason":"max_output_tokens"}`))
}

type responsesResult struct {
	Status string
	Output []struct {
		Type, Name, Arguments string
		CallID                string `json:"call_id"`
		Content               []struct{ Text string }
	}
}

// said is the text of the reply, or the call it makes.
func (r responsesResult) said() string {
	item := r.Output[0]
	if item.Type == "function_call" {
		return item.CallID + " " + item.Name + item.Arguments
	}
	return item.Content[0].Text
}

func TestResponsesReplies(t *testing.T) {
	const tools = `,"tools":[{"type":"web_search"},{"type":"function","name":"a","parameters":{"required":["x"]}},{"type":"function","name":"b"}]`
	const user, call, output = `{"role":"user","content":"hi"}`, `{"type":"function_call","call_id":"c","name":"a","arguments":"{}"}`, `{"type":"function_call_output","call_id":"c","output":"sunny"}`
	for _, tt := range []struct{ name, input, more, want string }{
		{"items", `[{"type":"message","role":"developer","content":"x"},` + user + `]`, "", "You said: hi"},
		{"parts", `[{"role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"data:"}]}]`, "", "You said: look (with 1 image)"},
		{"history of other kinds", `[` + user + `,{"type":"reasoning","content":[{"type":"reasoning_text","text":"hm"}]},{"type":"web_search_call","action":{}}]`, "", "You said: hi"},
		{"history of answers", `[{"role":"user","content":"a"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"},{"type":"refusal","refusal":"y"}]},` + user + `]`, "", "You said: hi"},
		{"empty string", `""`, "", "You said nothing."},
		{"tool", `"hi"`, tools, `call_2 a{"x":"example"}`},
		{"forced tool", `"hi"`, tools + `,"tool_choice":{"type":"function","name":"b"}`, "call_2 b{}"},
		{"allowed tool", `"hi"`, tools + `,"tool_choice":{"type":"allowed_tools","mode":"required","tools":[{"type":"function","name":"b"}]}`, "call_2 b{}"},
		{"no tool", `"hi"`, tools + `,"tool_choice":"none"`, "You said: hi"},
		{"tool result", `[` + user + `,` + call + `,` + output + `]`, tools, "The tool answered: sunny"},
		{"tool results in turn", `[` + call + `,` + output + `,` + call + `,{"type":"function_call_output","output":[{"type":"input_text","text":"warm"}]}]`, tools, "The tool answered: sunny; warm"},
		{"old tool result", `[` + call + `,` + output + `,` + user + `]`, "", "You said: hi"},
		{"call without result", `[` + user + `,` + output + `,` + call + `]`, tools, `call_2 a{"x":"example"}`},
		{"json_schema", `"hi"`, `,"text":{"format":{"type":"json_schema","name":"n","schema":{"properties":{"ok":{"type":"boolean"}},"required":["ok"]}}}`, `{"ok":true}`},
		{"json_object", `"hi"`, `,"text":{"format":{"type":"json_object"}}`, `{"reply":"You said: hi"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := post[responsesResult](t, "/responses", `{"model":"echo","input":`+tt.input+tt.more+`}`)
			if got := r.said(); got != tt.want || r.Status != "completed" || len(r.Output) != 1 {
				t.Errorf("%s: %q, want %q", r.Status, got, tt.want)
			}
		})
	}
}

func responsesStream(t *testing.T, body string) (names, data []string) {
	t.Helper()
	return events(t, readAll(t, send(t, http.MethodPost, "/responses", body)))
}

func TestResponsesStreamOfAText(t *testing.T) {
	names, data := responsesStream(t, `{"model":"echo","input":"hello","stream":true}`)
	const at = `"item_id":"msg_2","output_index":0,"content_index":0,`
	const empty = `{"type":"output_text","text":"","annotations":[],"logprobs":[]}`
	const full = `{"type":"output_text","text":"You said: hello","annotations":[],"logprobs":[]}`
	begun, done := response("in_progress", "[]", "null", ""), message("completed", "You said: hello")
	sameEvents(t, data, []string{
		`{"type":"response.created","sequence_number":0,"response":` + begun + `}`,
		`{"type":"response.in_progress","sequence_number":1,"response":` + begun + `}`,
		`{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_2","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`{"type":"response.content_part.added","sequence_number":3,` + at + `"part":` + empty + `}`,
		`{"type":"response.output_text.delta","sequence_number":4,` + at + `"delta":"You","logprobs":[]}`,
		`{"type":"response.output_text.delta","sequence_number":5,` + at + `"delta":" said:","logprobs":[]}`,
		`{"type":"response.output_text.delta","sequence_number":6,` + at + `"delta":" hello","logprobs":[]}`,
		`{"type":"response.output_text.done","sequence_number":7,` + at + `"text":"You said: hello","logprobs":[]}`,
		`{"type":"response.content_part.done","sequence_number":8,` + at + `"part":` + full + `}`,
		`{"type":"response.output_item.done","sequence_number":9,"output_index":0,"item":` + done + `}`,
		`{"type":"response.completed","sequence_number":10,"response":` + response("completed", "["+done+"]", responsesUsage("1", "3", "4"), completedAt) + `}`,
	})
	for i, name := range names {
		if !strings.HasPrefix(data[i], `{"type":"`+name+`",`) {
			t.Errorf("event %q carries %s", name, data[i])
		}
	}
}

func TestResponsesStreamOfAFunctionCall(t *testing.T) {
	const tools = `[{"type":"function","name":"f","parameters":{"required":["a"],"properties":{"a":{"const":"two words"}}}}]`
	_, data := responsesStream(t, `{"model":"echo","input":"hello","stream":true,"tools":`+tools+`}`)
	item := func(status, arguments string) string {
		return `{"id":"fc_2_0","type":"function_call","status":"` + status + `","call_id":"call_2","name":"f","arguments":"` + arguments + `"}`
	}
	const at, arguments, more = `"item_id":"fc_2_0","output_index":0,`, `{\"a\":\"two words\"}`, `,"tools":` + tools
	sameEvents(t, data, []string{
		`{"type":"response.created","sequence_number":0,"response":` + response("in_progress", "[]", "null", more) + `}`,
		`{"type":"response.in_progress","sequence_number":1,"response":` + response("in_progress", "[]", "null", more) + `}`,
		`{"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":` + item("in_progress", "") + `}`,
		`{"type":"response.function_call_arguments.delta","sequence_number":3,` + at + `"delta":"{\"a\":\"two"}`,
		`{"type":"response.function_call_arguments.delta","sequence_number":4,` + at + `"delta":" words\"}"}`,
		`{"type":"response.function_call_arguments.done","sequence_number":5,` + at + `"name":"f","arguments":"` + arguments + `"}`,
		`{"type":"response.output_item.done","sequence_number":6,"output_index":0,"item":` + item("completed", arguments) + `}`,
		`{"type":"response.completed","sequence_number":7,"response":` + response("completed", "["+item("completed", arguments)+"]", responsesUsage("1", "2", "3"), completedAt+more) + `}`,
	})
}

func TestResponsesStreamCutByALimit(t *testing.T) {
	names, data := responsesStream(t, `{"model":"echo","input":"hello","stream":true,"max_output_tokens":1}`)
	last := len(data) - 1
	if names[last] != "response.incomplete" {
		t.Errorf("last event %q", names[last])
	}
	sameJSON(t, data[last], `{"type":"response.incomplete","sequence_number":8,"response":`+
		response("incomplete", "["+message("incomplete", "You")+"]", responsesUsage("1", "1", "2"), `,"max_output_tokens":1,"incomplete_details":{"reason":"max_output_tokens"}`)+`}`)
	sameJSON(t, data[last-1], `{"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":`+message("incomplete", "You")+`}`)
}
