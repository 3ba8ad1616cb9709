package translate

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ToolChoice is the tool_choice of a chat request.
type ToolChoice struct {
	Mode string // auto, none or required; "" for the default
	One  []byte // the name of the function that must be called, quoted; the mode is required then

	names [][]byte        // of the functions to which the request is limited, quoted
	found map[string]bool // by their names: whether the request has them; nil for no limit
}

// ReadToolChoice reads a mode, one function, or a mode and the functions that are allowed.
func ReadToolChoice(body Reader) (c ToolChoice) {
	value := body.Get("tool_choice")
	switch {
	case value == nil:
		return c
	case value[0] == '"':
		mode, _ := ToolMode(body, "tool_choice")
		c.Mode = strings.Trim(string(mode), `"`)
		return c
	}
	o, _ := body.Object("tool_choice")
	switch typ := TypeOf(o); typ {
	case "function":
		c.Mode, c.One = "required", chosenName(o)
	case "allowed_tools":
		allowed, mode, _ := AllowedTools(o)
		c.Mode = strings.Trim(string(mode), `"`)
		c.limit()
		allowed.Each("tools", MaxTools, func(_ int, tool Reader) {
			if typ, _ := jsonscan.String(tool.Get("type")); typ != "function" {
				RefuseType(tool, typ)
			}
			c.limit(chosenName(tool))
		})
	default:
		RefuseType(o, typ)
	}
	return c
}

// chosenName returns the name of the function that a choice names, quoted.
func chosenName(outer Reader) []byte {
	outer.Only("type", "function")
	return outer.RequiredObject("function", "name").RequiredText("name")
}

func (c *ToolChoice) limit(names ...[]byte) {
	if c.found == nil {
		c.found = make(map[string]bool)
	}
	c.names = append(c.names, names...)
	for _, quoted := range names {
		name, _ := jsonscan.String(quoted)
		c.found[name] = false
	}
}

// LimitToOne has the request limited to the one function that must be called, if there is one.
func (c *ToolChoice) LimitToOne() {
	if c.One != nil {
		c.limit(c.One)
	}
}

// Names are those of the functions to which the request is limited, quoted.
func (c *ToolChoice) Names() [][]byte { return c.names }

// Required reports whether a tool must be called.
func (c *ToolChoice) Required() bool { return c.Mode == "required" }

// Allows reports whether the choice leaves a function in the request, and notes that the request has it.
func (c *ToolChoice) Allows(name string) bool {
	if c.found == nil {
		return true
	}
	_, allowed := c.found[name]
	if allowed {
		c.found[name] = true
	}
	return allowed
}

// Check refuses a choice of which the request has not all functions, or that requires a tool where it has
// none.
func (c *ToolChoice) Check(tools bool) error {
	param := "tool_choice.allowed_tools.tools"
	if c.One != nil {
		param = "tool_choice"
	}
	for _, quoted := range c.names {
		if name, _ := jsonscan.String(quoted); !c.found[name] {
			return NoSuchTool(name, param)
		}
	}
	if c.Required() && !tools {
		return NoTools()
	}
	return nil
}
