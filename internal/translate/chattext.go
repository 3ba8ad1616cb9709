package translate

// text maps response_format and verbosity, which Responses has in one object.
func (t *chatTranslation) text() error {
	verbosity, err := t.body.text("verbosity")
	if err != nil {
		return err
	}
	format, err := t.format()
	if err != nil || format == nil && verbosity == nil {
		return err
	}
	t.out = append(t.out, `,"text":`...)
	t.out = appendObject(t.out, "format", format, "verbosity", verbosity)
	return nil
}

// format returns text.format, nil for the default.
func (t *chatTranslation) format() ([]byte, error) {
	value := t.body.get("response_format")
	if value == nil {
		return nil, nil
	}
	o, err := open(value, "response_format")
	if err != nil {
		return nil, err
	}
	typ, err := o.word("type")
	if err != nil {
		return nil, err
	}
	switch typ {
	case "text":
		return nil, o.only("type")
	case "json_object":
		return []byte(`{"type":"json_object"}`), o.only("type")
	case "json_schema":
		return schemaFormat(o)
	}
	return nil, badType(o, typ)
}

// schemaFormat makes flat what chat has nested.
func schemaFormat(o object) ([]byte, error) {
	if err := o.only("type", "json_schema"); err != nil {
		return nil, err
	}
	value, path := o.get("json_schema"), o.param("json_schema")
	if value == nil {
		return nil, missing(path)
	}
	schema, err := open(value, path)
	if err != nil {
		return nil, err
	}
	if err := schema.only("name", "description", "schema", "strict"); err != nil {
		return nil, err
	}
	name, err := schema.need("name")
	if err != nil {
		return nil, err
	}
	if schema.get("schema") == nil {
		return nil, missing(schema.param("schema"))
	}
	format := append([]byte(nil), `{"type":"json_schema","name":`...)
	format = append(format, name...)
	format = appendPresent(format, schema, "description", "schema", "strict")
	return append(format, '}'), nil
}
