package faults_test

import (
	"encoding/json"
	"fmt"
	"testing"
)

// agentTools offers a function, a custom tool, and in a namespace one of each.
const agentTools = `[{"type":"function","name":"read","parameters":{}},{"type":"custom","name":"patch"},
	{"type":"namespace","name":"more","tools":[{"type":"function","name":"count"},{"type":"custom","name":"run"}]}]`

// agentBody is a Responses request with the tools, and a last item if there is one.
func agentBody(model, prompt, fields, last string) string {
	return fmt.Sprintf(`{"model":%q,"input":[{"role":"user","content":%s}%s],"tools":%s%s}`, model, quoted(prompt), last, agentTools, fields)
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestAnAgentCallsTheToolThatThePromptNames(t *testing.T) {
	_, addr := start(t)
	for prompt, want := range map[string]map[string]any{
		`use read {"path":"a b"}`:    {"type": "function_call", "name": "read", "arguments": `{"path":"a b"}`, "namespace": nil},
		"use patch first\nsecond \n": {"type": "custom_tool_call", "name": "patch", "input": "first\nsecond", "namespace": nil},
		`use count {}`:               {"type": "function_call", "name": "count", "arguments": "{}", "namespace": "more"},
		`use run 1 + 1`:              {"type": "custom_tool_call", "name": "run", "input": "1 + 1", "namespace": "more"},
	} {
		o := decode(t, post(t, addr, respV1, agentBody("gpt-5.5-agent", prompt, "", "")).body)
		call := at(o, "output", 0)
		for key, value := range want {
			if at(call, key) != value {
				t.Errorf("%q: %s is %v, want %v", prompt, key, at(call, key), value)
			}
		}
	}
}

func TestAnAgentFindsToolsInTheInput(t *testing.T) {
	_, addr := start(t)
	o := decode(t, post(t, addr, respV1, `{"model":"agent","input":[{"type":"additional_tools","role":"developer","tools":`+agentTools+
		`},{"role":"user","content":"use run x"}]}`).body)
	if at(o, "output", 0, "name") != "run" || at(o, "output", 0, "namespace") != "more" {
		t.Errorf("%v", o)
	}
}

func TestAnAgentRepeatsWhatTheToolSaid(t *testing.T) {
	_, addr := start(t)
	for last, want := range map[string]string{
		"": "No such tool is offered, only: read, patch, count, run",
		`,{"type":"function_call_output","call_id":"x","output":"41 of them"}`:                                  "The tool said: 41 of them",
		`,{"type":"custom_tool_call_output","call_id":"x","output":[{"type":"input_text","text":"two parts"}]}`: "The tool said: two parts",
	} {
		o := decode(t, post(t, addr, respV1, agentBody("agent", "use nothing", "", last)).body)
		if got := at(o, "output", 0, "content", 0, "text"); got != want {
			t.Errorf("%s: %q, want %q", last, got, want)
		}
	}
	o := decode(t, post(t, addr, chatV1, `{"model":"agent","messages":[{"role":"user","content":"use read {}"},
		{"role":"assistant","content":null,"tool_calls":[]},{"role":"tool","tool_call_id":"x","content":"forty"}]}`).body)
	if at(o, "choices", 0, "message", "content") != "The tool said: forty" || finish(o) != "stop" {
		t.Errorf("%v", o)
	}
	o = decode(t, post(t, addr, chatV1, chatBody("agent", "")).body)
	if at(o, "choices", 0, "message", "content") != helloText {
		t.Errorf("without a tool to use: %v", o)
	}
}

func TestTheInputOfACustomToolIsStreamed(t *testing.T) {
	_, addr := start(t)
	_, types := kinds(t, post(t, addr, respV1, agentBody("agent", "use patch one two", `,"stream":true`, "")))
	want := []string{"created", "in_progress", "output_item.added", "custom_tool_call_input.delta", "custom_tool_call_input.delta",
		"custom_tool_call_input.done", "output_item.done", "completed"}
	if fmt.Sprint(types) != fmt.Sprint(want) {
		t.Errorf("%v", types)
	}
}

// Each answer has the next call, and the computer tool's calls have actions.
func TestAnAgentCallsOneToolAfterTheOther(t *testing.T) {
	_, addr := start(t)
	const prompt = "use computer [{\"type\":\"wait\"}]\nthen use read {\"path\":\"b\"}"
	ask := func(done ...string) any {
		items := ""
		for _, kind := range done {
			items += `,{"type":"` + kind + `","call_id":"x","output":"ok"}`
		}
		return decode(t, post(t, addr, respV1, `{"model":"agent","input":[{"role":"user","content":`+quoted(prompt)+`}`+items+
			`],"tools":[{"type":"computer"},{"type":"function","name":"read","parameters":{}}]}`).body)
	}
	if o := ask(); at(o, "output", 0, "type") != "computer_call" || at(o, "output", 0, "actions", 0, "type") != "wait" {
		t.Errorf("%v", o)
	}
	if o := ask("computer_call_output"); at(o, "output", 0, "name") != "read" || at(o, "output", 0, "arguments") != `{"path":"b"}` {
		t.Errorf("%v", o)
	}
	if o := ask("computer_call_output", "function_call_output"); at(o, "output", 0, "content", 0, "text") != "The tool said: ok" {
		t.Errorf("%v", o)
	}
}
