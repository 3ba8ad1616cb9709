package translate

// choice maps tool_choice, nil for none; forced tells that it needs a tool.
func (t *chatTranslation) choice() (choice []byte, forced bool, err error) {
	value := t.body.get("tool_choice")
	if value == nil {
		return nil, false, nil
	}
	if value[0] == '"' {
		return chosenMode(t.body, "tool_choice")
	}
	o, err := open(value, "tool_choice")
	if err != nil {
		return nil, false, err
	}
	typ, err := o.word("type")
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
func chosenMode(o object, key string) (mode []byte, forced bool, err error) {
	if mode, err = o.need(key); err != nil {
		return nil, false, err
	}
	switch string(mode) {
	case `"none"`, `"auto"`:
		return mode, false, nil
	case `"required"`:
		return mode, true, nil
	}
	return nil, false, wrong(o.param(key), "none, auto or required")
}

// chosenTool appends the name of a tool as Responses has it.
func chosenTool(dst, value []byte, path string) ([]byte, error) {
	typ, o, err := typed(value, path)
	if err != nil {
		return dst, err
	}
	if err := o.only("name"); err != nil {
		return dst, err
	}
	name, err := o.need("name")
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
func allowedTools(outer object) ([]byte, error) {
	if err := outer.only("type", "allowed_tools"); err != nil {
		return nil, err
	}
	value := outer.get("allowed_tools")
	if value == nil {
		return nil, missing(outer.param("allowed_tools"))
	}
	o, err := open(value, outer.param("allowed_tools"))
	if err != nil {
		return nil, err
	}
	if err := o.only("mode", "tools"); err != nil {
		return nil, err
	}
	mode, _, err := chosenMode(o, "mode")
	if err != nil {
		return nil, err
	}
	list, path := o.get("tools"), o.param("tools")
	if list == nil {
		return nil, missing(path)
	}
	spans, err := elements(list, path, maxTools)
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
		if choice, err = chosenTool(choice, span.Value(list), at(path, i)); err != nil {
			return nil, err
		}
	}
	return append(choice, "]}"...), nil
}
