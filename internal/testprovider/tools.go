package testprovider

import (
	"encoding/json"
	"fmt"
	"slices"
)

// function is a tool that can be called.
type function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// tool is an offered tool of both routes: chat nests the function, Responses does not.
type tool struct {
	Type string `json:"type"`
	function
	Nested *function `json:"function"`
}

func (t tool) unwrap() function {
	if t.Nested != nil {
		return *t.Nested
	}
	return t.function
}

// functions returns the functions among the tools. Hosted and custom tools are left
// out: a model is free not to use them.
func functions(tools []tool) ([]function, error) {
	var list []function
	for i, t := range tools {
		if t.Type != "function" {
			continue
		}
		f := t.unwrap()
		if f.Name == "" {
			return nil, errMissing(fmt.Sprintf("tools[%d].name", i))
		}
		list = append(list, f)
	}
	return list, nil
}

// toolChoice is tool_choice of both routes. The zero value is "auto".
type toolChoice struct {
	mode  string   // "auto", "none", "required"; "" is "auto"
	names []string // if any: only these may be called
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *toolChoice) UnmarshalJSON(data []byte) error {
	var word *string
	if json.Unmarshal(data, &word) == nil {
		if word != nil {
			c.mode = *word
		}
		return c.check()
	}
	type allowed struct {
		Mode  string `json:"mode"`
		Tools []tool `json:"tools"`
	}
	var object struct {
		tool
		allowed
		Nested *allowed `json:"allowed_tools"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return errValue("tool_choice", "tool_choice is a string or an object")
	}
	switch object.Type {
	case "function":
		c.mode, c.names = "required", []string{object.unwrap().Name}
	case "allowed_tools":
		if object.Nested != nil {
			object.allowed = *object.Nested
		}
		c.mode = object.Mode
		for _, t := range object.Tools {
			c.names = append(c.names, t.unwrap().Name)
		}
	default:
		return errValue("tool_choice", "unsupported type of tool_choice: %q", object.Type)
	}
	return c.check()
}

func (c *toolChoice) check() error {
	if !slices.Contains([]string{"", "auto", "none", "required"}, c.mode) {
		return errValue("tool_choice", "unknown tool_choice: %q", c.mode)
	}
	return nil
}

// pick returns the function to call, or nil for none.
func (c *toolChoice) pick(offered []function) (*function, error) {
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
