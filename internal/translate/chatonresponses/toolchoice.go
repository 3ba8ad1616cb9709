package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// toolChoice returns tool_choice as Responses has it, nil if the request has none. required reports
// whether it needs a tool.
func toolChoice(body translate.Reader) (choice []byte, required bool) {
	value := body.Get("tool_choice")
	switch {
	case value == nil:
		return nil, false
	case value[0] == '"':
		return translate.ToolMode(body, "tool_choice")
	}
	o, _ := body.Object("tool_choice")
	if o.DecodedText("type") == "allowed_tools" {
		return allowedTools(o), true
	}
	return appendChoice(nil, o), true
}

// appendChoice appends the choice of one tool, flat as Responses has it.
func appendChoice(dst []byte, outer translate.Reader) []byte {
	typ, o := openTyped(outer)
	o.Only("name")
	dst = translate.AppendTextMember(append(dst, '{'), "type", []byte(typ))
	return append(translate.AppendMember(dst, "name", o.RequiredText("name")), '}')
}

// allowedTools flattens the choice of several tools.
func allowedTools(outer translate.Reader) []byte {
	o, mode, _ := translate.AllowedTools(outer)
	choice := translate.AppendMember([]byte(`{"type":"allowed_tools"`), "mode", mode)
	choice = append(choice, `,"tools":[`...)
	o.Each("tools", translate.MaxTools, func(_ int, tool translate.Reader) {
		choice = appendChoice(translate.AppendComma(choice), tool)
	})
	return append(choice, "]}"...)
}
