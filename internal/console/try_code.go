package console

import (
	"encoding/json"
	"fmt"
	"strings"
)

// snippet is a program that asks the same question.
type snippet struct{ Name, Text string }

// argument is a member of a request, and an argument of an SDK's method.
type argument struct {
	name  string
	value any
}

// snippetTexts are those of the snippets, in their order.
func snippetTexts(address string, q *question) (list []string) {
	for _, s := range snippets(address, q) {
		list = append(list, s.Text)
	}
	return list
}

// sdk is how programs call an API: the path of its route, and for each language how a client is
// made, its method, and what is printed of the answer. %s is the base URL.
type sdk struct {
	api, path, base      string
	python, pythonMethod string
	pythonText           string
	typescript, tsMethod string
	tsText               string
}

const (
	pythonOpenAI = "from openai import OpenAI\n\nclient = OpenAI(base_url=%s, api_key=os.environ[\"GATEWAY_API_KEY\"])\n"
	tsOpenAI     = "import OpenAI from \"openai\";\n\nconst client = new OpenAI({ baseURL: %s, apiKey: process.env.GATEWAY_API_KEY });\n"
)

var (
	chatSDK = sdk{"chat completions", "/v1/chat/completions", "/v1",
		pythonOpenAI, "client.chat.completions.create", "answer.choices[0].message.content",
		tsOpenAI, "client.chat.completions.create", "answer.choices[0].message.content"}
	responsesSDK = sdk{"Responses", "/v1/responses", "/v1",
		pythonOpenAI, "client.responses.create", "answer.output_text",
		tsOpenAI, "client.responses.create", "answer.output_text"}
	messagesSDK = sdk{"Messages", "/v1/messages", "",
		"from anthropic import Anthropic\n\nclient = Anthropic(base_url=%s, api_key=os.environ[\"GATEWAY_API_KEY\"])\n",
		"client.messages.create", "answer.content[0].text",
		"import Anthropic from \"@anthropic-ai/sdk\";\n\nconst client = new Anthropic({ baseURL: %s, apiKey: process.env.GATEWAY_API_KEY });\n",
		"client.messages.create", "answer.content[0]"}
)

// snippets ask the first model of a question by curl and in two languages, over each API. A file is
// left out.
func snippets(address string, q *question) (list []snippet) {
	bare := *q
	bare.file = ""
	list = append(list, chatSDK.snippets(address, bare.chatArguments())...)
	list = append(list, responsesSDK.snippets(address, bare.responsesArguments())...)
	return append(list, messagesSDK.snippets(address, bare.messagesArguments())...)
}

func (s *sdk) snippets(address string, arguments []argument) []snippet {
	var body, python, typescript []string
	imports := "import os\n"
	for _, a := range arguments {
		value := literal(a.value)
		body = append(body, literal(a.name)+": "+value)
		typescript = append(typescript, a.name+": "+value)
		if a.name == "tools" { // true, false and null have other names in Python
			imports, value = "import json\nimport os\n", "json.loads("+literal(value)+")"
		}
		python = append(python, a.name+"="+value)
	}
	base := literal(address + s.base)
	return []snippet{
		{"curl, " + s.api, curl(address+s.path, "{"+strings.Join(body, ", ")+"}")},
		{"Python, " + s.api, imports + fmt.Sprintf(s.python, base) + "answer = " + s.pythonMethod + "(" + strings.Join(python, ", ") + ")\nprint(" + s.pythonText + ")"},
		{"TypeScript, " + s.api, fmt.Sprintf(s.typescript, base) + "const answer = await " + s.tsMethod + "({ " + strings.Join(typescript, ", ") + " });\nconsole.log(" + s.tsText + ");"},
	}
}

func (q *question) chatArguments() []argument {
	list := append([]argument{{"model", q.Model()}, {"messages", q.messages()}}, q.options("max_tokens")...)
	if q.tools != nil {
		list = append(list, argument{"tools", q.tools})
	}
	return list
}

func (q *question) responsesArguments() []argument {
	list := []argument{{"model", q.Model()}, {"input", any(q.Text)}}
	if turns := q.turns(q.Text); len(turns) > 1 {
		list[1].value = turns
	}
	if q.System != "" {
		list = append(list, argument{"instructions", q.System})
	}
	list = append(list, q.options("max_output_tokens")...)
	return q.withFunctions(list, func(f function) any {
		return map[string]any{"type": "function", "name": f.Name, "description": f.Description, "parameters": f.Parameters}
	})
}

func (q *question) messagesArguments() []argument {
	list := []argument{{"model", q.Model()}}
	if q.MostTokens == "" { // Messages needs it
		list = append(list, argument{"max_tokens", 1024})
	}
	list = append(list, q.options("max_tokens")...)
	if q.System != "" {
		list = append(list, argument{"system", q.System})
	}
	list = append(list, argument{"messages", q.turns(q.Text)})
	return q.withFunctions(list, func(f function) any {
		return map[string]any{"name": f.Name, "description": f.Description, "input_schema": f.Parameters}
	})
}

// function is a tool as chat completions have it.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// withFunctions adds the tools in the form of an API. Tools of another kind are left out.
func (q *question) withFunctions(list []argument, form func(function) any) []argument {
	var tools []struct{ Function function }
	if q.tools == nil || json.Unmarshal(q.tools, &tools) != nil {
		return list
	}
	var all []any
	for _, t := range tools {
		if t.Function.Name == "" {
			continue
		}
		if t.Function.Parameters == nil {
			t.Function.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		all = append(all, form(t.Function))
	}
	return append(list, argument{"tools", all})
}

// literal is a value as JSON, which is also how Python and TypeScript write texts, numbers and lists
// of them.
func literal(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // texts and numbers can be encoded
	return strings.TrimSuffix(out.String(), "\n")
}

// curl is a command with a JSON body.
func curl(url, body string) string {
	return "curl " + shellQuoted(url) + " \\\n  -H \"Authorization: Bearer $GATEWAY_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d " + shellQuoted(body)
}
