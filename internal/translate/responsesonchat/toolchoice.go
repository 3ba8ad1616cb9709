package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// toolChoice is tool_choice: a mode, one tool, or a mode and the tools that are allowed.
type toolChoice struct {
	mode   string      // as chat has it, "" for the default
	tool   *calledTool // the one that must be called
	needed bool        // a tool must be called

	// allowed has the tools to which the choice limits the request, nil for no limit. A tool is
	// true when it was found.
	allowed map[allowedTool]bool
}

// allowedTool is a tool, or all tools of a namespace, as a choice names them.
type allowedTool struct{ typ, name string }

// read reads the choice. Types of tools that are left out cannot be allowed, and none can be
// chosen.
func (c *toolChoice) read(body translate.Reader, drop bool) {
	value := body.Get("tool_choice")
	switch {
	case value == nil:
		return
	case value[0] == '"':
		c.mode = translate.ToolMode(body, "tool_choice")
		c.needed = c.mode == "required"
		return
	}
	o, _ := body.Object("tool_choice")
	switch typ := translate.TypeOf(o); typ {
	case "function", "custom":
		c.readTool(o, typ)
	case "allowed_tools":
		o.Only("type", "mode", "tools")
		c.mode = translate.ToolMode(o, "mode")
		c.needed = c.mode == "required"
		c.readAllowed(o, drop)
	default:
		translate.RefuseType(o, typ)
	}
}

func (c *toolChoice) readTool(o translate.Reader, typ string) {
	c.needed, c.tool = true, &calledTool{kind: functionCall}
	if typ == "custom" {
		c.tool.kind = customCall
	}
	c.tool.name, c.tool.namespace = o.RequiredText("name"), o.Text("namespace")
	o.Only("type", "name", "namespace")
}

// readAllowed reads the names of the tools that a choice allows.
func (c *toolChoice) readAllowed(o translate.Reader, drop bool) {
	translate.Required(o, "tools")
	c.allowed = make(map[allowedTool]bool)
	o.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) {
		typ := tool.DecodedText("type")
		switch {
		case typ == "function" || typ == "custom" || typ == "namespace":
			c.allowed[allowedTool{typ, translate.Decoded(tool.RequiredText("name"))}] = false
		case !drop || typ == "":
			translate.RefuseType(tool, typ)
		}
	})
}

// allows reports whether the choice leaves a tool in the request.
func (c *toolChoice) allows(typ string, tool calledTool) bool {
	if c.allowed == nil {
		return true
	}
	found := false
	for _, key := range [...]allowedTool{{typ, translate.Decoded(tool.name)}, {"namespace", translate.Decoded(tool.namespace)}} {
		if _, ok := c.allowed[key]; ok {
			c.allowed[key], found = true, true
		}
	}
	return found
}

// check refuses a choice that cannot be made. some reports whether the request has tools.
func (c *toolChoice) check(some bool) error {
	for tool, found := range c.allowed {
		if !found {
			return translate.NoSuchTool(tool.name, "tool_choice.tools")
		}
	}
	if !some && c.needed {
		return translate.NoTools()
	}
	return nil
}

// chosen returns the choice by the names of chat.
func (c *toolChoice) chosen(names *toolNames) conversation.Choice {
	if c.tool != nil {
		return conversation.Choice{Mode: "required", One: &conversation.Chosen{Name: names.of(*c.tool)}}
	}
	return conversation.Choice{Mode: c.mode}
}
