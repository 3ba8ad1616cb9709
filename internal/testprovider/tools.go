package testprovider

import (
	"encoding/json"
	"fmt"
	"slices"
)

// tool is a tool on offer. Hosted and custom ones are left out: a model is free not to use them.
type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// toolChoice is tool_choice. The zero value is "auto".
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
	var object struct {
		tool
		Allowed struct {
			Mode  string `json:"mode"`
			Tools []tool `json:"tools"`
		} `json:"allowed_tools"`
	}
	if err := json.Unmarshal(data, &object); err != nil {
		return errValue("tool_choice", "tool_choice is a string or an object")
	}
	switch object.Type {
	case "function":
		c.mode, c.names = "required", []string{object.Function.Name}
	case "allowed_tools":
		c.mode = object.Allowed.Mode
		for _, t := range object.Allowed.Tools {
			c.names = append(c.names, t.Function.Name)
		}
	}
	return nil
}

// called returns the function to call, or nil for none.
func (r *request) called() (*function, error) {
	c := r.ToolChoice
	if !slices.Contains([]string{"", "auto", "none", "required"}, c.mode) {
		return nil, errValue("tool_choice", "unknown tool_choice: %q", c.mode)
	}
	var called *function
	for i, t := range r.Tools {
		switch {
		case t.Type != "function":
		case t.Function.Name == "":
			return nil, errMissing(fmt.Sprintf("tools[%d].name", i))
		case called == nil && (len(c.names) == 0 || slices.Contains(c.names, t.Function.Name)):
			called = &r.Tools[i].Function
		}
	}
	switch {
	case c.mode == "none":
		return nil, nil
	case called == nil && len(c.names) > 0:
		return nil, errValue("tool_choice", "tool_choice names %q, which tools does not offer", c.names[0])
	case called == nil && c.mode == "required":
		return nil, errValue("tool_choice", "tool_choice is \"required\", but tools offers no function")
	}
	return called, nil
}
