package testprovider

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// toolFields are the members of a tool without a dated type.
var toolFields = []string{
	"type", "name", "description", "input_schema", "strict", "cache_control", "input_examples", "defer_loading",
	"allowed_callers", "eager_input_streaming",
}

// tools checks the tools and their choice, and brings both into the form of chat.
func (p *messagesParser) tools() error {
	var names []string
	for i, t := range p.body.Tools {
		path := fmt.Sprintf("tools.%d", i)
		kind, err := t.text("type", path)
		if err != nil {
			return err
		}
		if t.present("cache_control") {
			p.breakpoints++
		}
		if kind != "" && kind != "custom" {
			if !typedTool.MatchString(kind) {
				return errField(path, "Input tag '%s' found using 'type' does not match any of the expected tags", kind)
			}
			p.out.Tools = append(p.out.Tools, Tool{Type: kind})
			continue
		}
		f, err := customTool(t, path+".custom")
		if err != nil {
			return err
		}
		if slices.Contains(names, f.Name) {
			return errField("tools", "Tool names must be unique.")
		}
		names = append(names, f.Name)
		p.out.Tools = append(p.out.Tools, Tool{Type: "function", Function: f})
	}
	return p.toolChoice(names)
}

func customTool(t fields, path string) (f Function, err error) {
	if err := t.only(path, toolFields); err != nil {
		return f, err
	}
	if f.Name, err = t.text("name", path); err != nil {
		return f, err
	}
	if !toolName.MatchString(f.Name) {
		return f, errField(path+".name", "String should match pattern '%s'", toolName)
	}
	if _, err := t.text("description", path); err != nil {
		return f, err
	}
	if !t.present("input_schema") {
		return f, errField(path+".input_schema", "Field required")
	}
	var schema struct {
		Type any `json:"type"`
	}
	if err := decodeFields(t["input_schema"], &schema, path+".input_schema"); err != nil {
		return f, err
	}
	if schema.Type != "object" {
		return f, errField(path+".input_schema.type", "Input should be 'object'")
	}
	f.Parameters = t["input_schema"]
	return f, nil
}

func (p *messagesParser) toolChoice(names []string) error {
	choice := p.body.ToolChoice
	if choice == nil {
		return nil
	}
	var members fields
	if err := decodeFields(p.out.Members["tool_choice"], &members, "tool_choice"); err != nil {
		return err
	}
	allowed := []string{"type", "disable_parallel_tool_use"}
	switch choice.Type {
	case "auto":
	case "any":
		p.out.ToolChoice.mode = "required"
	case "none":
		p.out.ToolChoice.mode = "none"
		allowed = allowed[:1]
	case "tool":
		p.out.ToolChoice = toolChoice{mode: "required", names: []string{choice.Name}}
		allowed = append(allowed, "name")
	default:
		return errField("tool_choice", "Input tag '%s' found using 'type' does not match any of the expected tags: 'auto', 'any', 'tool', 'none'", choice.Type)
	}
	switch {
	case len(p.body.Tools) == 0:
		return errPlain("tool_choice may only be specified while providing tools.")
	case choice.Type == "tool" && !slices.Contains(names, choice.Name):
		return errPlain("Tool '%s' not found in provided tools", choice.Name)
	}
	return members.only("tool_choice."+choice.Type, allowed)
}

// ThinkingText is what every model thinks when thinking is asked for.
const ThinkingText = "The user wants an answer. I will give one."

// thinking checks the mode of thinking with what does not go with it. Which
// modes there are differs by model; here are all.
func (p *messagesParser) thinking() error {
	b, t := &p.body, &p.body.Thinking
	switch t.Type {
	case "":
		if p.out.Has("thinking") {
			return errField("thinking.type", "Field required")
		}
		return nil
	case "disabled", "between_tools": // the latter on Sonnet 5.5 only
		return nil
	case "adaptive":
	case "enabled":
		if t.Budget < minThinking {
			return errField("thinking.enabled.budget_tokens", "Input should be greater than or equal to %d", minThinking)
		}
		if b.MaxTokens != nil && t.Budget >= *b.MaxTokens {
			return errPlain("`max_tokens` must be greater than `thinking.budget_tokens`.")
		}
		if c := b.ToolChoice; c != nil && (c.Type == "any" || c.Type == "tool") {
			return errPlain("Thinking may not be enabled when tool_choice forces tool use.")
		}
		if p.lastUses && p.lastStart != "thinking" && p.lastStart != "redacted_thinking" {
			return errPlain("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
				p.usedAt, p.lastStart)
		}
	default:
		return errField("thinking", "Input tag '%s' found using 'type' does not match any of the expected tags: 'adaptive', 'between_tools', 'disabled', 'enabled'", t.Type)
	}
	switch {
	case t.Display != "" && t.Display != "summarized" && t.Display != "omitted":
		return errField("thinking."+t.Type+".display", "Input should be 'summarized' or 'omitted'")
	case b.Temperature != nil && *b.Temperature != 1:
		return errPlain("`temperature` may only be set to 1 when thinking is enabled.")
	case b.TopK != nil:
		return errPlain("`top_k` must be unset when thinking is enabled.")
	case b.TopP != nil && *b.TopP < 0.95:
		return errPlain("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.")
	case p.out.Messages[len(p.out.Messages)-1].Role == "assistant":
		return errPlain("This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	p.out.Thinks, p.out.ThinkingOmitted = true, t.Display == "omitted"
	return nil
}

// fields are the members of a JSON object.
type fields map[string]json.RawMessage

func (f fields) present(name string) bool { return present(f[name]) }

// only refuses members that are not allowed.
func (f fields) only(path string, allowed []string) error {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !slices.Contains(allowed, name) {
			return errField(path+"."+name, "Extra inputs are not permitted")
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
		return "", errField(path+"."+name, "Input should be a valid string")
	}
	return *text, nil
}
