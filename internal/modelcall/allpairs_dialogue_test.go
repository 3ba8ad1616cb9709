package modelcall

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// dialogue is a conversation before it takes the form of an API.
type dialogue struct {
	system string
	turns  []any // of the types below
	tools  []offered
	choice string // auto, none, required, or the name of a tool; "" for none
	format string // the JSON schema of the answer; "" for a text
}

// What turns are. Calls that follow a text of the model, or one another, are of one message.
type (
	fromUser    string
	fromModel   string
	toolCall    struct{ id, name, arguments string }
	toolResult  struct{ id, text string }
	picture     string // its media type
	document    string // its name; a PDF
	shownResult string // the id of a call whose result is a text and a picture
)

// offered is a tool. It has no schema if that is "".
type offered struct {
	name, schema string
	strict       bool
}

type object = map[string]any

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

var pdf = base64.StdEncoding.EncodeToString([]byte("%PDF-1.4"))

var pixels = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n"))

// asChat is the conversation as members of a chat completion.
func (s *dialogue) asChat() object {
	messages := []object{}
	add := func(role string, content any) { messages = append(messages, object{"role": role, "content": content}) }
	if s.system != "" {
		add("system", s.system)
	}
	open := false // the last message is the model's, and calls may join it
	for _, t := range s.turns {
		c, isCall := t.(toolCall)
		if isCall && !open {
			add("assistant", nil)
		}
		_, isModel := t.(fromModel)
		open = isCall || isModel
		switch t := t.(type) {
		case fromUser:
			add("user", string(t))
		case fromModel:
			add("assistant", string(t))
		case picture:
			add("user", []object{{"type": "image_url", "image_url": object{"url": "data:" + string(t) + ";base64," + pixels}}})
		case document:
			add("user", []object{{"type": "file", "file": object{"filename": string(t), "file_data": "data:application/pdf;base64," + pdf}}})
		case shownResult: // chat completions have texts alone
			messages = append(messages, object{"role": "tool", "tool_call_id": string(t), "content": "here"})
		case toolResult:
			messages = append(messages, object{"role": "tool", "tool_call_id": t.id, "content": t.text})
		case toolCall:
			last := messages[len(messages)-1]
			calls, _ := last["tool_calls"].([]object)
			last["tool_calls"] = append(calls, object{"id": c.id, "type": "function", "function": object{"name": c.name, "arguments": c.arguments}})
		}
	}
	body := object{"messages": messages}
	var tools []object
	for _, t := range s.tools {
		function := object{"name": t.name}
		if t.schema != "" {
			function["parameters"] = raw(t.schema)
		}
		if t.strict {
			function["strict"] = true
		}
		tools = append(tools, object{"type": "function", "function": function})
	}
	setList(body, "tools", tools)
	if s.choice != "" {
		body["tool_choice"] = s.choice
		if !isMode(s.choice) {
			body["tool_choice"] = object{"type": "function", "function": object{"name": s.choice}}
		}
	}
	if s.format != "" {
		body["response_format"] = object{"type": "json_schema", "json_schema": object{"name": "answer", "schema": raw(s.format), "strict": true}}
	}
	return body
}

func isMode(choice string) bool {
	return choice == "auto" || choice == "none" || choice == "required"
}

func setList(body object, name string, list []object) {
	if len(list) > 0 {
		body[name] = list
	}
}

// asResponses is the conversation as members of a request of the Responses API.
func (s *dialogue) asResponses() object {
	items := []object{}
	message := func(role string, content any) {
		items = append(items, object{"role": role, "content": content})
	}
	for _, t := range s.turns {
		switch t := t.(type) {
		case fromUser:
			message("user", string(t))
		case fromModel:
			message("assistant", string(t))
		case picture:
			message("user", []object{{"type": "input_image", "detail": "auto", "image_url": "data:" + string(t) + ";base64," + pixels}})
		case document:
			message("user", []object{{"type": "input_file", "filename": string(t), "file_data": "data:application/pdf;base64," + pdf}})
		case shownResult:
			items = append(items, object{"type": "function_call_output", "call_id": string(t), "output": []object{
				{"type": "input_text", "text": "here"}, {"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64," + pixels},
			}})
		case toolCall:
			items = append(items, object{"type": "function_call", "call_id": t.id, "name": t.name, "arguments": t.arguments})
		case toolResult:
			items = append(items, object{"type": "function_call_output", "call_id": t.id, "output": t.text})
		}
	}
	body := object{"input": items}
	if s.system != "" {
		body["instructions"] = s.system
	}
	var tools []object
	for _, t := range s.tools {
		tools = append(tools, object{"type": "function", "name": t.name, "parameters": raw(t.schema), "strict": t.strict})
	}
	setList(body, "tools", tools)
	if s.choice != "" {
		body["tool_choice"] = s.choice
		if !isMode(s.choice) {
			body["tool_choice"] = object{"type": "function", "name": s.choice}
		}
	}
	if s.format != "" {
		body["text"] = object{"format": object{"type": "json_schema", "name": "answer", "schema": raw(s.format), "strict": true}}
	}
	return body
}

// asMessages is the conversation as members of a request of the Messages API. Results that follow one
// another are of one message.
func (s *dialogue) asMessages() object {
	messages := []object{}
	add := func(role string, content any) { messages = append(messages, object{"role": role, "content": content}) }
	join := func(role string, of bool, block object) {
		if !of {
			add(role, []object{})
		}
		last := messages[len(messages)-1]
		if text, ok := last["content"].(string); ok {
			last["content"] = []object{{"type": "text", "text": text}}
		}
		last["content"] = append(last["content"].([]object), block)
	}
	spoke, answered := false, false // the last message is the model's, or of results
	for _, t := range s.turns {
		switch t := t.(type) {
		case fromUser:
			add("user", string(t))
		case fromModel:
			add("assistant", string(t))
		case picture:
			add("user", []object{{"type": "image", "source": object{"type": "base64", "media_type": string(t), "data": pixels}}})
		case document:
			add("user", []object{{"type": "document", "title": string(t), "source": object{"type": "base64", "media_type": "application/pdf", "data": pdf}}})
		case shownResult:
			join("user", answered, object{"type": "tool_result", "tool_use_id": string(t), "content": []object{
				{"type": "text", "text": "here"}, {"type": "image", "source": object{"type": "base64", "media_type": "image/png", "data": pixels}},
			}})
		case toolCall:
			join("assistant", spoke, object{"type": "tool_use", "id": t.id, "name": t.name, "input": raw(strings.TrimSpace(t.arguments))})
		case toolResult:
			join("user", answered, object{"type": "tool_result", "tool_use_id": t.id, "content": t.text})
		}
		_, isModel := t.(fromModel)
		_, isCall := t.(toolCall)
		spoke = isModel || isCall
		_, answered = t.(toolResult)
	}
	body := object{"messages": messages, "max_tokens": 8000}
	if s.system != "" {
		body["system"] = s.system
	}
	var tools []object
	for _, t := range s.tools {
		tool := object{"name": t.name, "input_schema": raw(t.schema)}
		if t.strict {
			tool["strict"] = true
		}
		tools = append(tools, tool)
	}
	setList(body, "tools", tools)
	if s.choice != "" {
		choice := object{"type": s.choice}
		switch {
		case s.choice == "required":
			choice["type"] = "any"
		case !isMode(s.choice):
			choice = object{"type": "tool", "name": s.choice}
		}
		body["tool_choice"] = choice
	}
	if s.format != "" {
		body["output_config"] = object{"format": object{"type": "json_schema", "schema": raw(s.format)}}
	}
	return body
}

// texts returns what a target must not lose: each text but the
// space around it, and what files have.
func (s *dialogue) texts() (texts []string) {
	add := func(text string) {
		if text = strings.TrimSpace(text); text != "" {
			texts = append(texts, text)
		}
	}
	add(s.system)
	for _, t := range s.turns {
		switch t := t.(type) {
		case fromUser:
			add(string(t))
		case fromModel:
			add(string(t))
		case toolResult:
			add(t.text)
		case shownResult:
			add("here")
		case picture:
			add(pixels)
		case document:
			add(pdf)
		}
	}
	return texts
}

// encode writes a body, with further members.
func encode(body object, members string) []byte {
	if members != "" {
		var more object
		decoder := json.NewDecoder(strings.NewReader("{" + members + "}"))
		decoder.UseNumber()
		if err := decoder.Decode(&more); err != nil {
			panic(members + ": " + err.Error())
		}
		for key, value := range more {
			body[key] = value
		}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(body); err != nil {
		panic(err)
	}
	return b.Bytes()
}
