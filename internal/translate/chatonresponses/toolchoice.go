package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// toolChoice returns tool_choice as Responses has it, nil if the request has none. required reports
// whether it needs a tool.
func toolChoice(body translate.Object) (choice []byte, required bool, err error) {
	value := body.Get("tool_choice")
	if value == nil {
		return nil, false, nil
	}
	if value[0] == '"' {
		return translate.ToolMode(body, "tool_choice")
	}
	o, _, err := body.Object("tool_choice")
	if err != nil {
		return nil, false, err
	}
	typ, err := o.DecodedText("type")
	if err != nil {
		return nil, false, err
	}
	if typ == "allowed_tools" {
		choice, err = allowedTools(o)
	} else {
		choice, err = appendChoice(nil, o)
	}
	return choice, true, err
}

// appendChoice appends the choice of one tool, flat as Responses has it.
func appendChoice(dst []byte, outer translate.Object) ([]byte, error) {
	typ, o, err := openTyped(outer)
	if err != nil {
		return dst, err
	}
	if err := o.Only("name"); err != nil {
		return dst, err
	}
	name, err := o.RequiredText("name")
	if err != nil {
		return dst, err
	}
	dst = translate.AppendTextMember(append(dst, '{'), "type", []byte(typ))
	return append(translate.AppendMember(dst, "name", name), '}'), nil
}

// allowedTools flattens the choice of several tools.
func allowedTools(outer translate.Object) ([]byte, error) {
	o, mode, _, err := translate.AllowedTools(outer)
	if err != nil {
		return nil, err
	}
	choice := translate.AppendMember([]byte(`{"type":"allowed_tools"`), "mode", mode)
	choice = append(choice, `,"tools":[`...)
	err = o.Each("tools", translate.MaxTools, func(_ int, tool translate.Object) (err error) {
		choice, err = appendChoice(translate.AppendComma(choice), tool)
		return err
	})
	return append(choice, "]}"...), err
}
