package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// toolChoice is tool_choice: a mode, one tool, or a mode and the tools that are allowed.
type toolChoice struct {
	mode   []byte      // as chat has it, nil for the default
	tool   *calledTool // the one that must be called
	needed bool        // a tool must be called

	// allowed has the tools to which the choice limits the request, nil for no limit. A tool is
	// true when it was found.
	allowed map[allowedTool]bool
}

// allowedTool is a tool, or all tools of a namespace, as a choice names them.
type allowedTool struct{ typ, name string }

// read reads the choice. Types of tools that are left out cannot be allowed, and none can be chosen.
func (c *toolChoice) read(body translate.Object, drop bool) error {
	value := body.Get("tool_choice")
	if value == nil {
		return nil
	}
	if value[0] == '"' {
		return c.readMode(body, "tool_choice")
	}
	o, _, err := body.Object("tool_choice")
	if err != nil {
		return err
	}
	typ, err := o.Type()
	if err != nil {
		return err
	}
	switch typ {
	case "function", "custom":
		return c.readTool(o, typ)
	case "allowed_tools":
		if err := o.Only("type", "mode", "tools"); err != nil {
			return err
		}
		if err := c.readMode(o, "mode"); err != nil {
			return err
		}
		return c.readAllowed(o, drop)
	}
	return translate.UnsupportedType(o, typ)
}

func (c *toolChoice) readMode(o translate.Object, key string) (err error) {
	c.mode, c.needed, err = translate.ToolMode(o, key)
	return err
}

func (c *toolChoice) readTool(o translate.Object, typ string) (err error) {
	c.needed, c.tool = true, &calledTool{kind: functionCall}
	if typ == "custom" {
		c.tool.kind = customCall
	}
	if c.tool.name, err = o.RequiredText("name"); err != nil {
		return err
	}
	if c.tool.namespace, err = o.Text("namespace"); err != nil {
		return err
	}
	return o.Only("type", "name", "namespace")
}

// readAllowed reads the names of the tools that a choice allows.
func (c *toolChoice) readAllowed(o translate.Object, drop bool) error {
	if o.Get("tools") == nil {
		return translate.Missing(o.Param("tools"))
	}
	c.allowed = make(map[allowedTool]bool)
	return o.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) error {
		typ, err := tool.DecodedText("type")
		if err != nil {
			return err
		}
		if typ != "function" && typ != "custom" && typ != "namespace" {
			if drop && typ != "" {
				return nil
			}
			return translate.UnsupportedType(tool, typ)
		}
		name, err := tool.RequiredText("name")
		c.allowed[allowedTool{typ, decoded(name)}] = false
		return err
	})
}

// allows reports whether the choice leaves a tool in the request.
func (c *toolChoice) allows(typ string, tool calledTool) bool {
	if c.allowed == nil {
		return true
	}
	found := false
	for _, key := range [...]allowedTool{{typ, decoded(tool.name)}, {"namespace", decoded(tool.namespace)}} {
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

func (c *toolChoice) append(dst []byte, names *toolNames) []byte {
	switch {
	case c.tool != nil:
		dst = translate.AppendKey(dst, "tool_choice")
		dst = translate.AppendMember(append(dst, `{"type":"function","function":{`...), "name", names.of(*c.tool))
		return append(dst, "}}"...)
	case c.mode != nil:
		return translate.AppendMember(dst, "tool_choice", c.mode)
	}
	return dst
}
