package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// toolFields are the fields of a tool's own object, by the tool's type, which is also the name of
// the member that has this object.
var toolFields = map[string][]string{
	"function": {"name", "description", "parameters", "strict"},
	"custom":   {"name", "description", "format"},
}

// appendTools appends tools, tool_choice and parallel_tool_calls.
func appendTools(dst []byte, body translate.Object) ([]byte, error) {
	choice, required, err := toolChoice(body)
	if err != nil {
		return dst, err
	}
	if _, err := body.Bool("parallel_tool_calls"); err != nil {
		return dst, err
	}
	some := false
	err = body.Each("tools", translate.MaxTools, func(i int, tool translate.Object) (err error) {
		if i == 0 {
			some = true
			dst = append(dst, `,"tools":[`...)
		}
		dst, err = appendTool(translate.AppendComma(dst), tool)
		return err
	})
	switch {
	case err != nil:
		return dst, err
	case !some && required:
		return dst, translate.NoTools()
	case !some:
		return dst, nil // what is left are the defaults of a request without tools
	}
	dst = append(dst, ']')
	if choice != nil {
		dst = translate.AppendMember(dst, "tool_choice", choice)
	}
	return translate.AppendPresent(dst, body, "parallel_tool_calls"), nil
}

// openTyped returns the type of a tool or of a choice of one, and its own object.
func openTyped(outer translate.Object) (typ string, inner translate.Object, err error) {
	if typ, err = outer.Type(); err != nil {
		return "", inner, err
	}
	if _, known := toolFields[typ]; !known {
		return "", inner, translate.UnsupportedType(outer, typ)
	}
	// cache_control is a hint for caches and not sent.
	if err := outer.Only("type", typ, "cache_control"); err != nil {
		return "", inner, err
	}
	inner, err = outer.RequiredObject(typ)
	return typ, inner, err
}

// appendTool appends a tool as Responses has it: flat. A function always gets parameters, which
// Responses requires, and strict, whose default is true in Responses and false in chat.
func appendTool(dst []byte, outer translate.Object) ([]byte, error) {
	typ, tool, err := openTyped(outer)
	if err != nil {
		return dst, err
	}
	if err := tool.Only(toolFields[typ]...); err != nil {
		return dst, err
	}
	if _, err := tool.RequiredText("name"); err != nil {
		return dst, err
	}
	dst = translate.AppendTextMember(append(dst, '{'), "type", []byte(typ))
	dst = translate.AppendPresent(dst, tool, "name", "description", "parameters", "strict")
	if typ == "custom" {
		if dst, err = appendGrammar(dst, tool); err != nil {
			return dst, err
		}
		return append(dst, '}'), nil
	}
	if tool.Get("parameters") == nil {
		dst = append(dst, `,"parameters":{"type":"object","properties":{}}`...)
	}
	if tool.Get("strict") == nil {
		dst = append(dst, `,"strict":false`...)
	}
	return append(dst, '}'), nil
}

// appendGrammar appends the format of a custom tool's input, if it has one: any text, or a grammar,
// which chat nests.
func appendGrammar(dst []byte, tool translate.Object) ([]byte, error) {
	format, ok, err := tool.Object("format")
	if !ok || err != nil {
		return dst, err
	}
	typ, err := format.Type()
	if err != nil {
		return dst, err
	}
	switch typ {
	case "text":
		return append(dst, `,"format":{"type":"text"}`...), format.Only("type")
	case "grammar":
	default:
		return dst, translate.UnsupportedType(format, typ)
	}
	if err := format.Only("type", "grammar"); err != nil {
		return dst, err
	}
	grammar, err := format.RequiredObject("grammar")
	if err != nil {
		return dst, err
	}
	if err := grammar.Only("definition", "syntax"); err != nil {
		return dst, err
	}
	for _, key := range []string{"definition", "syntax"} {
		if _, err := grammar.RequiredText(key); err != nil {
			return dst, err
		}
	}
	dst = append(dst, `,"format":{"type":"grammar"`...)
	return append(translate.AppendPresent(dst, grammar, "definition", "syntax"), '}'), nil
}
