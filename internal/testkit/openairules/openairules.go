// Package openairules refuses chat completions and Responses that OpenAI refuses, as far as its SDK for
// Python 3.6.0 documents it, and as users report its errors. It reads JSON by another way than the
// translations that it judges. Members and their types are judged by the SDK itself: see
// tests/sdk/python/pairs_suite.py.
package openairules

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	// name is of a function or of a format: "Must be a-z, A-Z, 0-9, or contain underscores and dashes,
	// with a maximum length of 64" (types/shared_params/function_definition.py, response_format_json_schema.py).
	name = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

	roles = []string{"system", "developer", "user", "assistant", "tool"}
)

const (
	maxID    = 64 // "Invalid 'messages[4].tool_calls[0].id': string too long. Expected a string with maximum length 64"
	maxStops = 4  // "Up to 4 sequences" (types/chat/completion_create_params.py)
)

type object = map[string]any

// request has what both APIs call by the same name.
type request struct {
	Messages []object `json:"messages"`
	Input    any      `json:"input"`
	Tools    []object `json:"tools"`
	Choice   any      `json:"tool_choice"`
	Parallel any      `json:"parallel_tool_calls"`
	Stop     any      `json:"stop"`
	Format   object   `json:"response_format"`
	Text     struct {
		Format object `json:"format"`
	} `json:"text"`

	members object
}

func parse(body []byte) (r *request, err error) {
	r = new(request)
	if err = json.Unmarshal(body, r); err == nil {
		err = json.Unmarshal(body, &r.members)
	}
	return r, err
}

// Chat returns why OpenAI refuses a chat completion, nil if it takes it.
func Chat(body []byte) error {
	r, err := parse(body)
	if err != nil {
		return err
	}
	functions := make([]object, len(r.Tools))
	for i, tool := range r.Tools {
		functions[i], _ = tool["function"].(object)
		if tool["type"] == "custom" {
			functions[i], _ = tool["custom"].(object)
		}
	}
	if err := r.tools(functions, "function"); err != nil {
		return err
	}
	if stops, ok := r.Stop.([]any); ok && len(stops) > maxStops {
		return fmt.Errorf("Invalid 'stop': array too long. Expected an array with maximum length %d", maxStops)
	}
	if r.Format["type"] == "json_schema" {
		inner, _ := r.Format["json_schema"].(object)
		if err := format(inner, "response_format"); err != nil {
			return err
		}
	}
	return conversation(r.Messages)
}

// tools checks functions and their choice. The error of an empty list: "[] is too short - 'tools'".
func (r *request) tools(functions []object, nested string) error {
	_, given := r.members["tools"]
	if given && len(r.Tools) == 0 {
		return fmt.Errorf("Invalid 'tools': empty array. Expected an array with minimum length 1")
	}
	var names []string
	for i, f := range functions {
		path := fmt.Sprintf("tools[%d]", i)
		text, _ := f["name"].(string)
		switch kind := r.Tools[i]["type"]; {
		case kind != "function" && kind != "custom": // of the provider's own
			continue
		case !name.MatchString(text):
			return fmt.Errorf("Invalid '%s.name': %q does not match '%s'", path, text, name)
		}
		names = append(names, text)
		schema, given := f["parameters"]
		if !given || schema == nil {
			continue
		}
		if err := parameters(schema, text); err != nil {
			return err
		}
		if f["strict"] == true {
			if err := strict(schema, "function '"+text+"'", "()"); err != nil {
				return err
			}
		}
	}
	if len(r.Tools) > 0 {
		return r.choice(names, nested)
	}
	for _, field := range []string{"tool_choice", "parallel_tool_calls"} {
		if r.members[field] != nil && r.members[field] != "none" && r.members[field] != "auto" {
			return fmt.Errorf("Invalid value for '%s': '%s' is only allowed when 'tools' are specified.", field, field)
		}
	}
	return nil
}

// choice checks that the function that must be called is one of the tools.
func (r *request) choice(names []string, nested string) error {
	choice, _ := r.Choice.(object)
	if choice["type"] != "function" {
		return nil
	}
	if inner, ok := choice[nested].(object); ok && nested != "" {
		choice = inner
	}
	if called, _ := choice["name"].(string); !slices.Contains(names, called) {
		return fmt.Errorf("Invalid value for 'tool_choice': tool choice %q not found in 'tools' parameter", called)
	}
	return nil
}

// parameters checks the schema of a function: "schema must be a JSON Schema of 'type: "object"', got
// 'type: "None"'" and "In context=(), object schema missing properties".
func parameters(value any, function string) error {
	schema, _ := value.(object)
	if schema["type"] != "object" {
		return fmt.Errorf("Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: %v'", function, schema["type"])
	}
	if _, ok := schema["properties"].(object); !ok {
		return fmt.Errorf("Invalid schema for function '%s': In context=(), object schema missing properties.", function)
	}
	return nil
}

// format checks the format of an answer.
func format(f object, path string) error {
	text, _ := f["name"].(string)
	if !name.MatchString(text) {
		return fmt.Errorf("Invalid '%s.name': %q does not match '%s'", path, text, name)
	}
	if f["strict"] == true {
		return strict(f["schema"], path+" '"+text+"'", "()")
	}
	return nil
}

// strict checks a schema of structured outputs: "'additionalProperties' is required to be supplied and to
// be false", "'required' is required to be supplied and to be an array including every key in
// properties", "'oneOf' is not permitted".
func strict(value any, of, context string) error {
	schema, _ := value.(object)
	refuse := func(why string) error {
		return fmt.Errorf("Invalid schema for %s: In context=%s, %s", of, context, why)
	}
	for _, keyword := range []string{"oneOf", "allOf", "not", "if", "patternProperties", "dependentRequired"} {
		if _, ok := schema[keyword]; ok {
			return refuse("'" + keyword + "' is not permitted.")
		}
	}
	properties, _ := schema["properties"].(object)
	if schema["type"] == "object" {
		if schema["additionalProperties"] != false {
			return refuse("'additionalProperties' is required to be supplied and to be false.")
		}
		required, _ := schema["required"].([]any)
		for key := range properties {
			if !slices.Contains(required, any(key)) {
				return refuse("'required' is required to be supplied and to be an array including every key in properties. Missing '" + key + "'.")
			}
		}
	}
	within := func(children object) error {
		for key, child := range children {
			if err := strict(child, of, "('"+key+"')"); err != nil {
				return err
			}
		}
		return nil
	}
	definitions, _ := schema["$defs"].(object)
	options := object{}
	if list, ok := schema["anyOf"].([]any); ok {
		for i, option := range list {
			options[fmt.Sprint("anyOf ", i)] = option
		}
	}
	if items, ok := schema["items"]; ok {
		options["items"] = items
	}
	for _, children := range []object{properties, definitions, options} {
		if err := within(children); err != nil {
			return err
		}
	}
	return nil
}

// id checks the id of a call.
func id(value any, path string) error {
	switch text, ok := value.(string); {
	case !ok || text == "":
		return fmt.Errorf("Invalid '%s': empty string. Expected a string with minimum length 1", path)
	case len(text) > maxID:
		return fmt.Errorf("Invalid '%s': string too long. Expected a string with maximum length %d", path, maxID)
	}
	return nil
}

// conversation checks that results stand right behind their calls.
func conversation(messages []object) error {
	if len(messages) == 0 {
		return fmt.Errorf("Invalid 'messages': empty array. Expected an array with minimum length 1")
	}
	var open []string // ids of calls that have no result
	called := false   // results may stand here
	for i, m := range messages {
		path := fmt.Sprintf("messages[%d]", i)
		role, _ := m["role"].(string)
		if !slices.Contains(roles, role) {
			return fmt.Errorf("Invalid value: '%s.role' is %q", path, role)
		}
		if role == "tool" {
			answered, _ := m["tool_call_id"].(string)
			at := slices.Index(open, answered)
			if !called || at < 0 {
				return fmt.Errorf("Invalid parameter: messages with role 'tool' must be a response to a message before with 'tool_calls'. (%s, %q)", path, answered)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if called = false; len(open) > 0 {
			return unanswered(open)
		}
		calls, given := m["tool_calls"].([]any)
		if m["content"] == nil && role != "assistant" || m["content"] == nil && !given && m["refusal"] == nil && m["audio"] == nil {
			return fmt.Errorf("Invalid value for '%s.content': expected a string, got null.", path)
		}
		if given && len(calls) == 0 {
			return fmt.Errorf("Invalid '%s.tool_calls': empty array. Expected an array with minimum length 1", path)
		}
		for n, c := range calls {
			call, _ := c.(object)
			if err := id(call["id"], fmt.Sprintf("%s.tool_calls[%d].id", path, n)); err != nil {
				return err
			}
			function, _ := call["function"].(object)
			if text, _ := function["name"].(string); call["type"] == "function" && !name.MatchString(text) {
				return fmt.Errorf("Invalid '%s.tool_calls[%d].function.name': %q does not match '%s'", path, n, text, name)
			}
			open, called = append(open, call["id"].(string)), true
		}
	}
	if len(open) > 0 {
		return unanswered(open)
	}
	return nil
}

func unanswered(ids []string) error {
	return fmt.Errorf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
		"The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}
