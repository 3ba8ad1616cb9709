package translate

// textFormat maps text.format and text.verbosity.
func (t *translation) textFormat() error {
	value := t.body.get("text")
	if value == nil {
		return nil
	}
	text, err := open(value, "text")
	if err != nil {
		return err
	}
	if err := text.only("format", "verbosity"); err != nil {
		return err
	}
	verbosity, err := text.text("verbosity")
	if err != nil {
		return err
	}
	if verbosity != nil {
		t.put("verbosity", verbosity)
	}
	if value = text.get("format"); value == nil {
		return nil
	}
	format, err := open(value, "text.format")
	if err != nil {
		return err
	}
	typ, err := format.word("type")
	if err != nil {
		return err
	}
	switch typ {
	case "text": // the default, which some providers do not know by name
		return format.only("type")
	case "json_object":
		t.put("response_format", []byte(`{"type":"json_object"}`))
		return format.only("type")
	case "json_schema":
		return t.schema(format)
	}
	return badType(format, typ)
}

// schema nests what Responses has flat.
func (t *translation) schema(format object) error {
	if err := format.only("type", "name", "description", "schema", "strict"); err != nil {
		return err
	}
	name, err := format.need("name")
	if err != nil {
		return err
	}
	if format.get("schema") == nil {
		return missing("text.format.schema")
	}
	t.out = append(t.out, `,"response_format":{"type":"json_schema","json_schema":{"name":`...)
	t.out = append(t.out, name...)
	t.out = appendPresent(t.out, format, "description", "schema", "strict")
	t.out = append(t.out, "}}"...)
	return nil
}
