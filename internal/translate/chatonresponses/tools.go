package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// toolFields are the fields of a tool's own object, by the tool's type, which is also the name of
// the member that has this object.
var toolFields = map[string][]string{
	"function": {"name", "description", "parameters", "strict"},
	"custom":   {"name", "description", "format"},
}

// appendTools appends tools, tool_choice and parallel_tool_calls.
func appendTools(dst []byte, body translate.Reader) []byte {
	choice, required := toolChoice(body)
	body.Bool("parallel_tool_calls")
	some := false
	body.Each("tools", translate.MaxTools, func(i int, tool translate.Reader) {
		if i == 0 {
			some = true
			dst = append(dst, `,"tools":[`...)
		}
		dst = appendTool(translate.AppendComma(dst), tool)
	})
	if !some { // what is left are the defaults of a request without tools
		if required {
			body.Fail(translate.NoTools())
		}
		return dst
	}
	dst = append(dst, ']')
	if choice != nil {
		dst = translate.AppendMember(dst, "tool_choice", choice)
	}
	return translate.AppendPresent(dst, body, "parallel_tool_calls")
}

// openTyped returns the type of a tool or of a choice of one, and its own object.
func openTyped(outer translate.Reader) (typ string, inner translate.Reader) {
	typ = translate.TypeOf(outer)
	if _, known := toolFields[typ]; !known {
		translate.RefuseType(outer, typ)
	}
	outer.Only("type", typ, "cache_control") // which is a hint for caches and not sent
	return typ, outer.RequiredObject(typ)
}

// appendTool appends a tool as Responses has it: flat. A function always gets parameters, which
// Responses requires, and strict, whose default is true in Responses and false in chat.
func appendTool(dst []byte, outer translate.Reader) []byte {
	typ, tool := openTyped(outer)
	tool.Only(toolFields[typ]...)
	tool.RequiredText("name")
	dst = translate.AppendTextMember(append(dst, '{'), "type", []byte(typ))
	dst = translate.AppendPresent(dst, tool, "name", "description", "parameters", "strict")
	if typ == "custom" {
		return append(appendGrammar(dst, tool), '}')
	}
	if tool.Get("parameters") == nil {
		dst = append(dst, `,"parameters":{"type":"object","properties":{}}`...)
	}
	if tool.Get("strict") == nil {
		dst = append(dst, `,"strict":false`...)
	}
	return append(dst, '}')
}

// appendGrammar appends the format of a custom tool's input, if it has one: any text, or a grammar,
// which chat nests.
func appendGrammar(dst []byte, tool translate.Reader) []byte {
	format, ok := tool.Object("format")
	if !ok {
		return dst
	}
	switch typ := translate.TypeOf(format); typ {
	case "text":
		format.Only("type")
		return append(dst, `,"format":{"type":"text"}`...)
	case "grammar":
	default:
		translate.RefuseType(format, typ)
	}
	format.Only("type", "grammar")
	grammar := format.RequiredObject("grammar", "definition", "syntax")
	grammar.RequiredText("definition")
	grammar.RequiredText("syntax")
	dst = append(dst, `,"format":{"type":"grammar"`...)
	return append(translate.AppendPresent(dst, grammar, "definition", "syntax"), '}')
}
