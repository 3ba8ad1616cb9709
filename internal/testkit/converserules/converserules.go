// Package converserules refuses requests of Amazon Bedrock's Converse that Bedrock refuses, as its model
// in botocore 1.44.5 (patterns and lengths) and its documentation say, and as users report its errors.
// It reads JSON by another way than the translation that it judges. Members and their types are judged
// by botocore itself: see tests/sdk/python/pairs_suite.py.
package converserules

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	toolName     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)   // ToolName
	toolUseID    = regexp.MustCompile(`^[a-zA-Z0-9_.:-]{1,64}$`) // ToolUseId
	imageFormats = []any{"png", "jpeg", "gif", "webp"}           // ImageFormat
	documentName = regexp.MustCompile(`^[\p{L}\p{N}()\[\]-]+( [\p{L}\p{N}()\[\]-]+)*$`)
)

type object = map[string]any

type request struct {
	Messages []struct {
		Role    string
		Content []object
	}
	System     []object
	ToolConfig *struct {
		Tools  []map[string]object
		Choice map[string]object `json:"toolChoice"`
	} `json:"toolConfig"`
}

// Check returns why Bedrock refuses a request, nil if it takes it.
func Check(body []byte) error {
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	for i, block := range r.System {
		if text, ok := block["text"].(string); ok && strings.TrimSpace(text) == "" {
			return blank(fmt.Sprintf("system.%d", i))
		}
	}
	if err := r.tools(); err != nil {
		return err
	}
	return r.conversation()
}

func blank(path string) error {
	return fmt.Errorf("The text field in the ContentBlock object at %s is blank. Add text to the text field, and try again.", path)
}

// tools checks the tools and their choice.
func (r *request) tools() error {
	c := r.ToolConfig
	if c == nil {
		return nil
	}
	if len(c.Tools) == 0 {
		return fmt.Errorf("Value at 'toolConfig.tools' failed to satisfy constraint: Member must have length greater than or equal to 1")
	}
	var names []any
	for i, tool := range c.Tools {
		spec, ok := tool["toolSpec"]
		if !ok {
			continue
		}
		path := fmt.Sprintf("toolConfig.tools.%d.toolSpec", i)
		name, _ := spec["name"].(string)
		if !toolName.MatchString(name) {
			return fmt.Errorf("Value '%s' at '%s.name' failed to satisfy constraint: Member must satisfy regular expression pattern: %s", name, path, toolName)
		}
		if slices.Contains(names, any(name)) {
			return fmt.Errorf("The toolConfig.tools contains duplicate names: %s", name)
		}
		names = append(names, name)
		if spec["description"] == "" {
			return fmt.Errorf("Value at '%s.description' failed to satisfy constraint: Member must have length greater than or equal to 1", path)
		}
		wrapped, _ := spec["inputSchema"].(object)
		if schema, _ := wrapped["json"].(object); schema["type"] != "object" {
			return fmt.Errorf("The value at %s.inputSchema.json.type must be one of the following: object.", path)
		}
	}
	if tool, ok := c.Choice["tool"]; ok && !slices.Contains(names, tool["name"]) {
		return fmt.Errorf("The tool %v of toolChoice is not in toolConfig.tools", tool["name"])
	}
	return nil
}

// conversation checks that roles take turns and begin with the user, and what they say.
func (r *request) conversation() error {
	if len(r.Messages) == 0 {
		return fmt.Errorf("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
	}
	before := "assistant"
	var called []string // ids of the calls of the message before
	for i, m := range r.Messages {
		path := fmt.Sprintf("messages.%d.content", i)
		switch {
		case m.Role != "user" && m.Role != "assistant":
			return fmt.Errorf("messages.%d.role: %q", i, m.Role)
		case m.Role == before && i == 0:
			return fmt.Errorf("A conversation must start with a user message. Try again with a conversation that starts with a user message.")
		case m.Role == before:
			return fmt.Errorf("A conversation must alternate between user and assistant roles. (messages.%d)", i)
		case len(m.Content) == 0:
			return fmt.Errorf("The content field in the Message object at messages.%d is empty.", i)
		}
		before = m.Role
		calls, results, err := r.blocks(m.Content, path)
		if err != nil {
			return err
		}
		if err := answered(called, results, path); err != nil {
			return err
		}
		if called = calls; len(calls)+len(results) > 0 && r.ToolConfig == nil {
			return fmt.Errorf("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
		}
	}
	return answered(called, nil, "the end")
}

// blocks checks the blocks of a message, and returns the ids of its calls and results.
func (r *request) blocks(content []object, path string) (calls, results []string, err error) {
	document, said := false, false
	for i, block := range content {
		path := fmt.Sprintf("%s.%d", path, i)
		if len(block) != 1 {
			return nil, nil, fmt.Errorf("%s: one member must be set, and not %d", path, len(block))
		}
		if text, ok := block["text"].(string); ok {
			if said = true; strings.TrimSpace(text) == "" {
				return nil, nil, blank(path)
			}
		}
		if image, ok := block["image"].(object); ok && !slices.Contains(imageFormats, image["format"]) {
			return nil, nil, fmt.Errorf("Value '%v' at '%s.image.format' failed to satisfy constraint: Member must satisfy enum value set: %v", image["format"], path, imageFormats)
		}
		if d, ok := block["document"].(object); ok {
			document = true
			if name, _ := d["name"].(string); !documentName.MatchString(name) {
				return nil, nil, fmt.Errorf("The document name %q at %s is not allowed", name, path)
			}
		}
		if use, ok := block["toolUse"].(object); ok {
			call, err := toolUse(use, path+".toolUse")
			if err != nil {
				return nil, nil, err
			}
			calls = append(calls, call)
		}
		if result, ok := block["toolResult"].(object); ok {
			of, _ := result["toolUseId"].(string)
			if !toolUseID.MatchString(of) {
				return nil, nil, fmt.Errorf("Value '%s' at '%s.toolResult.toolUseId' failed to satisfy constraint: %s", of, path, toolUseID)
			}
			results = append(results, of)
		}
	}
	if document && !said {
		return nil, nil, fmt.Errorf("%s: a text block must be included with a document block", path)
	}
	for _, ids := range [][]string{calls, results} {
		if sorted := slices.Sorted(slices.Values(ids)); len(slices.Compact(sorted)) < len(ids) {
			return nil, nil, fmt.Errorf("The toolUse or toolResult blocks at %s contain duplicate Ids: %v", path, ids)
		}
	}
	return calls, results, nil
}

func toolUse(use object, path string) (id string, err error) {
	id, _ = use["toolUseId"].(string)
	name, _ := use["name"].(string)
	_, isObject := use["input"].(object)
	switch {
	case !toolUseID.MatchString(id):
		return "", fmt.Errorf("Value '%s' at '%s.toolUseId' failed to satisfy constraint: %s", id, path, toolUseID)
	case !toolName.MatchString(name):
		return "", fmt.Errorf("Value '%s' at '%s.name' failed to satisfy constraint: %s", name, path, toolName)
	case !isObject:
		return "", fmt.Errorf("The format of the value at %s.input is invalid. Provide a json object for the field and try again.", path)
	}
	return id, nil
}

// answered checks that the results of a message are those of the calls of the message before.
func answered(called, results []string, path string) error {
	var missing []string
	for _, id := range called {
		if !slices.Contains(results, id) {
			missing = append(missing, id)
		}
	}
	switch {
	case len(missing) > 0:
		return fmt.Errorf("Expected toolResult blocks at %s for the following Ids: %s", path, strings.Join(missing, ", "))
	case len(results) > len(called):
		return fmt.Errorf("The number of toolResult blocks at %s exceeds the number of toolUse blocks of previous turn.", path)
	}
	return nil
}
