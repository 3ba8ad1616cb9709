package toresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// choice maps tool_choice, nil for none; forced tells that it needs a tool.
func (t *translation) choice() (choice []byte, forced bool, err error) {
	value := t.body.Get("tool_choice")
	if value == nil {
		return nil, false, nil
	}
	if value[0] == '"' {
		return chosenMode(t.body, "tool_choice")
	}
	o, err := translate.Open(value, "tool_choice")
	if err != nil {
		return nil, false, err
	}
	typ, err := o.DecodedText("type")
	if err != nil {
		return nil, false, err
	}
	if typ == "allowed_tools" {
		choice, err = allowedTools(o)
		return choice, true, err
	}
	choice, err = chosenTool(nil, value, "tool_choice")
	return choice, true, err
}

// chosenMode takes none, auto or required from a member of o.
func chosenMode(o translate.Object, key string) (mode []byte, forced bool, err error) {
	if mode, err = o.RequiredText(key); err != nil {
		return nil, false, err
	}
	switch string(mode) {
	case `"none"`, `"auto"`:
		return mode, false, nil
	case `"required"`:
		return mode, true, nil
	}
	return nil, false, translate.Invalid(o.Param(key), "none, auto or required")
}

// chosenTool appends the name of a tool as Responses has it.
func chosenTool(dst, value []byte, path string) ([]byte, error) {
	typ, o, err := typed(value, path)
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
	dst = append(dst, `{"type":"`...)
	dst = append(dst, typ...)
	dst = append(dst, `","name":`...)
	dst = append(dst, name...)
	return append(dst, '}'), nil
}

// allowedTools makes flat what chat has nested.
func allowedTools(outer translate.Object) ([]byte, error) {
	if err := outer.Only("type", "allowed_tools"); err != nil {
		return nil, err
	}
	value := outer.Get("allowed_tools")
	if value == nil {
		return nil, translate.Missing(outer.Param("allowed_tools"))
	}
	o, err := translate.Open(value, outer.Param("allowed_tools"))
	if err != nil {
		return nil, err
	}
	if err := o.Only("mode", "tools"); err != nil {
		return nil, err
	}
	mode, _, err := chosenMode(o, "mode")
	if err != nil {
		return nil, err
	}
	list, path := o.Get("tools"), o.Param("tools")
	if list == nil {
		return nil, translate.Missing(path)
	}
	spans, err := translate.Elements(list, path, translate.MaxTools)
	if err != nil {
		return nil, err
	}
	choice := append([]byte(nil), `{"type":"allowed_tools","mode":`...)
	choice = append(choice, mode...)
	choice = append(choice, `,"tools":[`...)
	for i, span := range spans {
		if i > 0 {
			choice = append(choice, ',')
		}
		if choice, err = chosenTool(choice, span.Value(list), translate.At(path, i)); err != nil {
			return nil, err
		}
	}
	return append(choice, "]}"...), nil
}
