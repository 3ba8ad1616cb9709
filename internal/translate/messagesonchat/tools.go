package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// appendTools maps tools and tool_choice. The choice has no meaning without tools.
func appendTools(dst []byte, body translate.Reader, opt *Options) []byte {
	choice, needed := readChoice(body)
	some := false
	body.Each("tools", translate.MaxTools, func(i int, tool translate.Reader) {
		if i == 0 {
			some = true
			dst = append(dst, `,"tools":[`...)
		}
		dst = appendTool(dst, tool, opt)
	})
	switch {
	case some:
		dst = append(append(dst, ']'), choice...)
	case needed:
		body.Fail(translate.NoTools())
	}
	return dst
}

// toolFields are the fields of a tool that the client runs. Of these, defer_loading says that the
// model need not see the tool yet, eager_input_streaming how its input is streamed, and
// allowed_callers whether code that runs at Anthropic may call it: without them the model has the
// tool as any other.
var toolFields = []string{"type", "name", "description", "input_schema", "strict", "cache_control", "input_examples",
	"defer_loading", "eager_input_streaming", "allowed_callers"}

// appendTool appends a tool as a function. strict is sent only if the caller gave it.
func appendTool(dst []byte, tool translate.Reader, opt *Options) []byte {
	if typ := tool.DecodedText("type"); typ != "" && typ != "custom" {
		translate.RefuseType(tool, typ)
	}
	tool.Only(toolFields...)
	name := tool.RequiredText("name")
	tool.RequiredObject("input_schema")
	description := toolDescription(tool)
	tool.Bool("strict")
	cache := opt.cacheControl(tool)
	dst = append(translate.AppendComma(dst), `{"type":"function","function":{`...)
	dst = translate.AppendMember(dst, "name", name)
	if description != nil {
		dst = translate.AppendMember(dst, "description", description)
	}
	dst = translate.AppendMember(dst, "parameters", tool.Get("input_schema"))
	dst = append(translate.AppendPresent(dst, tool, "strict"), '}')
	if cache != nil {
		dst = translate.AppendMember(dst, "cache_control", cache)
	}
	return append(dst, '}')
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
	return joined([][]byte{description, jsonscan.AppendString(nil, text)})
}

// readChoice returns the members of a chat request that tool_choice becomes, and whether it requires
// a tool.
func readChoice(body translate.Reader) (members []byte, needed bool) {
	o, ok := body.Object("tool_choice")
	if !ok {
		return nil, false
	}
	known := []string{"type", "disable_parallel_tool_use"}
	switch typ := translate.TypeOf(o); typ {
	case "auto":
	case "none":
		members = append(members, `,"tool_choice":"none"`...)
	case "any":
		members, needed = append(members, `,"tool_choice":"required"`...), true
	case "tool":
		members, needed = append(members, `,"tool_choice":{"type":"function","function":{`...), true
		members = append(translate.AppendMember(members, "name", o.RequiredText("name")), "}}"...)
		known = append(known, "name")
	default:
		translate.RefuseType(o, typ)
	}
	o.Only(known...)
	if o.Bool("disable_parallel_tool_use") {
		members = append(members, `,"parallel_tool_calls":false`...)
	}
	return members, needed
}
