package conversation

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Tool is a tool that the answer may call.
type Tool struct {
	Name        []byte           // quoted, as the target takes it; nil for a tool that goes as it was written
	Description []byte           // quoted; nil for none
	Schema      string           // the caller's name of Parameters, a member of Own
	Parameters  []byte           // the schema of its input, an object; nil for none
	Strict      []byte           // true or false; nil: not said
	Cache       []byte           // cache_control, nil for none
	Custom      bool             // its input is a text
	Own         translate.Reader // what the caller wrote of the tool
}

// readTool reads a function or, if the rules have them, a custom tool.
func readTool(o translate.Reader, rules *Rules) Tool {
	typ := translate.TypeOf(o)
	t := Tool{Cache: rules.CacheOf(o)}
	switch {
	case typ == "custom" && rules.Custom:
		t.Custom = true
		t.Own = o.RequiredObject(typ, "name", "description", "format")
	case typ != "function":
		translate.RefuseType(o, typ)
		fallthrough
	default:
		t.Own = o.RequiredObject(typ, "name", "description", "parameters", "strict")
		if t.Own.Bool("strict"); t.Own.Get("strict") != nil {
			t.Strict = t.Own.Get("strict")
		}
		if parameters, ok := t.Own.Object("parameters"); ok {
			t.Schema, t.Parameters = "parameters", translate.Written(parameters)
		}
	}
	o.Only("type", typ, "cache_control")
	t.Name, t.Description = t.Own.RequiredText("name"), translate.NonEmptyText(t.Own, "description")
	return t
}

// leaveOne leaves out the tools beside one that must be called.
func (c *Conversation) leaveOne() {
	one := c.Choice.One
	if !c.rules.OnlyOne || one == nil {
		return
	}
	c.Tools = slices.DeleteFunc(c.Tools, func(t Tool) bool { return string(t.Name) != string(one.Name) })
	if len(c.Tools) == 0 {
		c.body.Fail(translate.NoSuchTool(decoded(one.Name), "tool_choice"))
	}
	c.Choice.Among = []Chosen{*one}
}

// addCalled adds the tools that were called and that the request no longer has, if the target wants
// them.
func (c *Conversation) addCalled() {
	if c.rules.History == NoHistory || c.rules.History == HistoryAlone && len(c.Tools) > 0 {
		return
	}
	c.Described = len(c.Tools) == 0 && len(c.calls) > 0
	known := make(map[string]bool, len(c.Tools))
	for _, t := range c.Tools {
		known[string(t.Name)] = true
	}
	for _, call := range c.calls {
		if name := string(call.Name); !known[name] {
			known[name] = true
			c.Tools = append(c.Tools, Tool{Name: call.Name})
		}
	}
}

// Choice is the tool_choice of a request.
type Choice struct {
	Mode  string   // auto, none or required; "" for the default
	One   *Chosen  // the tool that must be called; the mode is required then
	Among []Chosen // the tools to which the request is limited, nil for all

	limits bool            // the tools that are not among them are left out
	found  map[string]bool // names of those that the request has
}

// Chosen is a tool that a choice names.
type Chosen struct {
	Name   []byte // quoted
	Custom bool
}

// Required reports whether a tool must be called.
func (c *Choice) Required() bool { return c.Mode == "required" }

// readChoice reads a mode, one tool, or a mode and the tools that are allowed.
func readChoice(body translate.Reader, rules *Rules) (c Choice) {
	c.limits = !rules.Allowed
	value := body.Get("tool_choice")
	switch {
	case value == nil:
		return c
	case value[0] == '"':
		c.Mode = translate.ToolMode(body, "tool_choice")
		return c
	}
	o, _ := body.Object("tool_choice")
	if translate.TypeOf(o) != "allowed_tools" {
		one := chosen(o, rules)
		c.Mode, c.One = "required", &one
		return c
	}
	o.Only("type", "allowed_tools")
	allowed := o.RequiredObject("allowed_tools", "mode", "tools")
	c.Mode, c.Among, c.found = translate.ToolMode(allowed, "mode"), []Chosen{}, map[string]bool{}
	translate.Required(allowed, "tools")
	allowed.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) { c.Among = append(c.Among, chosen(tool, rules)) })
	return c
}

// chosen reads the name of a tool in a choice.
func chosen(o translate.Reader, rules *Rules) Chosen {
	typ := translate.TypeOf(o)
	if typ != "function" && !(rules.Custom && typ == "custom") {
		translate.RefuseType(o, typ)
	}
	o.Only("type", typ)
	return Chosen{o.RequiredObject(typ, "name").RequiredText("name"), typ == "custom"}
}

// allows reports whether the choice leaves a tool in the request, and notes that the request has
// it.
func (c *Choice) allows(tool *Tool) bool {
	if !c.limits || c.Among == nil {
		return true
	}
	name := decoded(tool.Name)
	allowed := slices.ContainsFunc(c.Among, func(t Chosen) bool { return t.Custom == tool.Custom && decoded(t.Name) == name })
	c.found[name] = c.found[name] || allowed
	return allowed
}

// check refuses a choice of which the request has not all tools, or that requires a tool where it
// has none.
func (c *Choice) check(some bool) error {
	for _, t := range c.Among {
		if name := decoded(t.Name); c.limits && !c.found[name] {
			return translate.NoSuchTool(name, "tool_choice.allowed_tools.tools")
		}
	}
	if (c.Required() || c.Among != nil) && !some {
		return translate.NoTools()
	}
	return nil
}

// RefuseForced refuses a choice that requires a tool, for a model of which none can be required.
func (c *Conversation) RefuseForced() {
	if c.Choice.Required() {
		c.body.Fail(apierror.New(apierror.UnsupportedParameter,
			`"tool_choice" cannot require a tool of this model; use "auto", and say in a message that the tool must be called`).WithParam("tool_choice"))
	}
}
