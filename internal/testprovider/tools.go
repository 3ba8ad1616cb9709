package testprovider

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Tool is a tool on offer. Chat nests the function, Responses does not.
type Tool struct {
	Type     string    `json:"type"`
	Function           // flat
	Nested   *Function `json:"function"`
	Tools    []Tool    `json:"tools"` // of a namespace
}

// Function is a tool that can be called.
type Function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// Callable returns the function of the tool, wherever it stands.
func (t Tool) Callable() Function {
	if t.Nested != nil {
		return *t.Nested
	}
	return t.Function
}

// functions returns the functions among the tools. Hosted and custom tools are left
// out: a model is free not to use them.
func functions(tools []Tool) ([]Function, error) {
	var list []Function
	for i, t := range tools {
		if t.Type != "function" {
			continue
		}
		f := t.Callable()
		if f.Name == "" {
			return nil, errMissing(fmt.Sprintf("tools[%d].name", i))
		}
		list = append(list, f)
	}
	return list, nil
}

// toolChoice is tool_choice of all APIs. The zero value is "auto".
type toolChoice struct {
	mode  string   // "auto", "none", "required"; "" is "auto"
	names []string // if any: only these may be called
}

// UnmarshalJSON implements [json.Unmarshaler]. Choices of tools that are not
// functions count as "auto".
func (c *toolChoice) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &c.mode) == nil {
		return nil
	}
	type allowed struct {
		Mode  string `json:"mode"`
		Tools []Tool `json:"tools"`
	}
	var object struct {
		Type string `json:"type"`
		Function
		allowed
		NestedFunction *Function `json:"function"`
		NestedAllowed  *allowed  `json:"allowed_tools"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return errValue("tool_choice", "tool_choice is a string or an object")
	}
	switch object.Type {
	case "function":
		if object.NestedFunction != nil {
			object.Function = *object.NestedFunction
		}
		c.mode, c.names = "required", []string{object.Name}
	case "allowed_tools":
		if object.NestedAllowed != nil {
			object.allowed = *object.NestedAllowed
		}
		c.mode = object.Mode
		for _, t := range object.Tools {
			c.names = append(c.names, t.Callable().Name)
		}
	}
	return nil
}

// pick returns the function to call, or nil for none.
func (c *toolChoice) pick(offered []Function) (*Function, error) {
	if !slices.Contains([]string{"", "auto", "none", "required"}, c.mode) {
		return nil, errValue("tool_choice", "unknown tool_choice: %q", c.mode)
	}
	if c.mode == "none" {
		return nil, nil
	}
	for i, f := range offered {
		if len(c.names) == 0 || slices.Contains(c.names, f.Name) {
			return &offered[i], nil
		}
	}
	switch {
	case len(c.names) > 0:
		return nil, errValue("tool_choice", "tool_choice names %q, which tools does not offer", c.names[0])
	case c.mode == "required":
		return nil, errValue("tool_choice", "tool_choice is \"required\", but tools offers no function")
	default:
		return nil, nil
	}
}
