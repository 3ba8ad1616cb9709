package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// readTools reads tools and tool_choice, which has no meaning without tools.
func readTools(to conversation.Builder, body translate.Reader) {
	choice := readChoice(body)
	some := false
	body.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) {
		some = true
		to.Tool(readTool(tool, to.Rules()))
	})
	switch {
	case some:
		to.Choose(choice)
	case choice.Required():
		body.Fail(translate.NoTools())
	}
}

// toolFields are the fields of a tool that the client runs. Of these, defer_loading says that the
// model need not see the tool yet, eager_input_streaming how its input is streamed, and
// allowed_callers whether code that runs at Anthropic may call it: without them the model has the
// tool as any other.
var toolFields = []string{"type", "name", "description", "input_schema", "strict", "cache_control", "input_examples",
	"defer_loading", "eager_input_streaming", "allowed_callers"}

// readTool reads a tool as a function. strict is sent only if the caller gave it, and if OpenAI
// takes the schema so: it accepts fewer than Anthropic does.
func readTool(o translate.Reader, rules *conversation.Rules) conversation.Tool {
	if typ := o.DecodedText("type"); typ != "" && typ != "custom" {
		translate.RefuseType(o, typ)
	}
	o.Only(toolFields...)
	schema := translate.Written(o.RequiredObject("input_schema"))
	strict := o.Get("strict")
	if o.Bool("strict") && !rules.Optional && !isStrict(schema) {
		strict = nil
	}
	return conversation.Tool{
		Name: o.RequiredText("name"), Description: toolDescription(o), Strict: strict, Cache: rules.CacheOf(o),
		Schema: "input_schema", Parameters: schema, Own: o,
	}
}

// toolDescription returns the description of a tool with the examples of its input, which functions
// have no field for.
func toolDescription(tool translate.Reader) []byte {
	description, examples := tool.Text("description"), tool.Get("input_examples")
	if examples == nil {
		return description
	}
	spans, err := translate.Elements(examples, tool.Param("input_examples"), translate.MaxParts)
	if tool.Fail(err); len(spans) == 0 {
		return description
	}
	text := "Examples of the input:"
	for _, span := range spans {
		text += "\n" + compact(span.Value(examples))
	}
	return translate.Joined(description, jsonscan.AppendString(nil, text))
}

// readChoice reads tool_choice.
func readChoice(body translate.Reader) (c conversation.Choice) {
	o, ok := body.Object("tool_choice")
	if !ok {
		return c
	}
	known := []string{"type", "disable_parallel_tool_use"}
	switch typ := translate.TypeOf(o); typ {
	case "auto":
	case "none":
		c.Mode = typ
	case "any":
		c.Mode = "required"
	case "tool":
		c.Mode, c.One = "required", &conversation.Chosen{Name: o.RequiredText("name")}
		known = append(known, "name")
	default:
		translate.RefuseType(o, typ)
	}
	o.Only(known...)
	return c
}

// singleCall reports whether the caller wants one call at a time.
func singleCall(body translate.Reader) bool {
	o, _ := body.Object("tool_choice")
	return o.Bool("disable_parallel_tool_use")
}
