package anthropicrules

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// toolFields are the members of a tool without a dated type.
var toolFields = []string{
	"type", "name", "description", "input_schema", "strict", "cache_control", "input_examples", "defer_loading",
	"allowed_callers", "eager_input_streaming",
}

// tools checks the tools and their choice.
func (c *checker) tools() error {
	var names []string
	for i, t := range c.body.Tools {
		path := fmt.Sprintf("tools.%d", i)
		kind, err := t.text("type", path)
		if err != nil {
			return err
		}
		if t.present("cache_control") {
			c.breakpoints++
		}
		if kind != "" && kind != "custom" {
			if !typedTool.MatchString(kind) {
				return field(path, "Input tag '%s' found using 'type' does not match any of the expected tags", kind)
			}
			continue
		}
		name, err := customTool(t, path+".custom")
		if err != nil {
			return err
		}
		if slices.Contains(names, name) {
			return field("tools", "Tool names must be unique.")
		}
		names = append(names, name)
	}
	return c.toolChoice(names)
}

func customTool(t fields, path string) (name string, err error) {
	if err := t.only(path, toolFields); err != nil {
		return "", err
	}
	if name, err = t.text("name", path); err != nil {
		return "", err
	}
	if !toolName.MatchString(name) {
		return "", field(path+".name", "String should match pattern '%s'", toolName)
	}
	if _, err := t.text("description", path); err != nil {
		return "", err
	}
	if !t.present("input_schema") {
		return "", field(path+".input_schema", "Field required")
	}
	var schema struct {
		Type any `json:"type"`
	}
	if err := decodeFields(t["input_schema"], &schema, path+".input_schema"); err != nil {
		return "", err
	}
	if schema.Type != "object" {
		return "", field(path+".input_schema.type", "Input should be 'object'")
	}
	return name, nil
}

func (c *checker) toolChoice(names []string) error {
	choice := c.body.ToolChoice
	if choice == nil {
		return nil
	}
	var members fields
	if err := decodeFields(c.members["tool_choice"], &members, "tool_choice"); err != nil {
		return err
	}
	allowed := []string{"type", "disable_parallel_tool_use"}
	switch choice.Type {
	case "auto", "any":
	case "none":
		allowed = allowed[:1]
	case "tool":
		allowed = append(allowed, "name")
	default:
		return field("tool_choice", "Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", choice.Type)
	}
	switch {
	case len(c.body.Tools) == 0:
		return errors.New("tool_choice may only be specified while providing tools.")
	case choice.Type == "tool" && !slices.Contains(names, choice.Name):
		return fmt.Errorf("Tool '%s' not found in provided tools", choice.Name)
	}
	return members.only("tool_choice."+choice.Type, allowed)
}

// thinking checks the mode of thinking with what does not go with it. Which
// modes there are differs by model; here are all.
func (c *checker) thinking() error {
	b, t := &c.body, &c.body.Thinking
	switch t.Type {
	case "":
		if c.members.present("thinking") {
			return field("thinking.type", "Field required")
		}
		return nil
	case "disabled", "between_tools": // the latter on Sonnet 5.5 only
		return nil
	case "adaptive":
	case "enabled":
		if t.Budget < minThinking {
			return field("thinking.enabled.budget_tokens", "Input should be greater than or equal to %d", minThinking)
		}
		if b.MaxTokens != nil && t.Budget >= *b.MaxTokens {
			return errors.New("`max_tokens` must be greater than `thinking.budget_tokens`.")
		}
		if c := b.ToolChoice; c != nil && (c.Type == "any" || c.Type == "tool") {
			return errors.New("Thinking may not be enabled when tool_choice forces tool use.")
		}
		if c.lastUses && c.lastStart != "thinking" && c.lastStart != "redacted_thinking" {
			return fmt.Errorf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
				c.usedAt, c.lastStart)
		}
	default:
		return field("thinking", "Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'", t.Type)
	}
	switch {
	case t.Display != "" && t.Display != "summarized" && t.Display != "omitted":
		return field("thinking."+t.Type+".display", "Input should be 'summarized' or 'omitted'")
	case b.Temperature != nil && *b.Temperature != 1:
		return errors.New("`temperature` may only be set to 1 when thinking is enabled.")
	case b.TopK != nil:
		return errors.New("`top_k` must be unset when thinking is enabled.")
	case b.TopP != nil && *b.TopP < 0.95:
		return errors.New("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.")
	case c.prefill:
		return errors.New("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// fields are the members of a JSON object.
type fields map[string]json.RawMessage

// present reports whether a member was sent that is not null.
func (f fields) present(name string) bool {
	raw := f[name]
	return len(raw) > 0 && string(raw) != "null"
}

// only refuses members that are not allowed.
func (f fields) only(path string, allowed []string) error {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(allowed, name) {
			return field(path+"."+name, "Extra inputs are not permitted")
		}
	}
	return nil
}

// text is the string in a member, "" without it. It may not be null.
func (f fields) text(name, path string) (string, error) {
	raw, sent := f[name]
	if !sent {
		return "", nil
	}
	var text *string
	if json.Unmarshal(raw, &text) != nil || text == nil {
		return "", field(path+"."+name, "Input should be a valid string")
	}
	return *text, nil
}
