package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// appendTools maps tools and tool_choice. The choice has no meaning without tools.
func appendTools(dst []byte, body translate.Object, opt *Options) ([]byte, error) {
	choice, needed, err := readChoice(body)
	if err != nil {
		return dst, err
	}
	some := false
	err = body.Each("tools", translate.MaxTools, func(i int, tool translate.Object) (err error) {
		if i == 0 {
			some = true
			dst = append(dst, `,"tools":[`...)
		}
		dst, err = appendTool(dst, tool, opt)
		return err
	})
	switch {
	case err != nil:
		return dst, err
	case some:
		dst = append(append(dst, ']'), choice...)
	case needed:
		return dst, translate.NoTools()
	}
	return dst, nil
}

// toolFields are the fields of a tool that the client runs. Of these, defer_loading says that the
// model need not see the tool yet, eager_input_streaming how its input is streamed, and
// allowed_callers whether code that runs at Anthropic may call it: without them the model has the
// tool as any other.
var toolFields = []string{"type", "name", "description", "input_schema", "strict", "cache_control", "input_examples",
	"defer_loading", "eager_input_streaming", "allowed_callers"}

// appendTool appends a tool as a function. strict is sent only if the caller gave it.
func appendTool(dst []byte, tool translate.Object, opt *Options) ([]byte, error) {
	typ, err := tool.DecodedText("type")
	if err != nil {
		return dst, err
	}
	if typ != "" && typ != "custom" {
		return dst, translate.UnsupportedType(tool, typ)
	}
	if err := tool.Only(toolFields...); err != nil {
		return dst, err
	}
	name, err := tool.RequiredText("name")
	if err != nil {
		return dst, err
	}
	if _, err := tool.RequiredObject("input_schema"); err != nil {
		return dst, err
	}
	description, err := toolDescription(tool)
	if err != nil {
		return dst, err
	}
	if _, err := tool.Bool("strict"); err != nil {
		return dst, err
	}
	cache, err := opt.cacheControl(tool)
	if err != nil {
		return dst, err
	}
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
	return append(dst, '}'), nil
}

// toolDescription returns the description of a tool with the examples of its input, which functions
// have no field for.
func toolDescription(tool translate.Object) ([]byte, error) {
	description, err := tool.Text("description")
	if err != nil {
		return nil, err
	}
	examples := tool.Get("input_examples")
	if examples == nil {
		return description, nil
	}
	spans, err := translate.Elements(examples, tool.Param("input_examples"), translate.MaxParts)
	if err != nil || len(spans) == 0 {
		return description, err
	}
	text := "Examples of the input:"
	for _, span := range spans {
		text += "\n" + compact(span.Value(examples))
	}
	return joined([][]byte{description, jsonscan.AppendString(nil, text)}), nil
}

// readChoice returns the members of a chat request that tool_choice becomes, and whether it requires
// a tool.
func readChoice(body translate.Object) (members []byte, needed bool, err error) {
	o, ok, err := body.Object("tool_choice")
	if !ok || err != nil {
		return nil, false, err
	}
	typ, err := o.Type()
	if err != nil {
		return nil, false, err
	}
	known := []string{"type", "disable_parallel_tool_use"}
	switch typ {
	case "auto":
	case "none":
		members = append(members, `,"tool_choice":"none"`...)
	case "any":
		members, needed = append(members, `,"tool_choice":"required"`...), true
	case "tool":
		name, err := o.RequiredText("name")
		if err != nil {
			return nil, false, err
		}
		members, needed = append(members, `,"tool_choice":{"type":"function","function":{`...), true
		members = append(translate.AppendMember(members, "name", name), "}}"...)
		known = append(known, "name")
	default:
		return nil, false, translate.UnsupportedType(o, typ)
	}
	if err := o.Only(known...); err != nil {
		return nil, false, err
	}
	one, err := o.Bool("disable_parallel_tool_use")
	if one {
		members = append(members, `,"parallel_tool_calls":false`...)
	}
	return members, needed, err
}
