package toresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// text maps response_format and verbosity, which Responses has in one object.
func (t *translation) text() error {
	verbosity, err := t.body.Text("verbosity")
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
func (t *translation) format() ([]byte, error) {
	value := t.body.Get("response_format")
	if value == nil {
		return nil, nil
	}
	o, err := translate.Open(value, "response_format")
	if err != nil {
		return nil, err
	}
	typ, err := o.DecodedText("type")
	if err != nil {
		return nil, err
	}
	switch typ {
	case "text":
		return nil, o.Only("type")
	case "json_object":
		return []byte(`{"type":"json_object"}`), o.Only("type")
	case "json_schema":
		return schemaFormat(o)
	}
	return nil, translate.UnsupportedType(o, typ)
}

// schemaFormat makes flat what chat has nested.
func schemaFormat(o translate.Object) ([]byte, error) {
	if err := o.Only("type", "json_schema"); err != nil {
		return nil, err
	}
	value, path := o.Get("json_schema"), o.Param("json_schema")
	if value == nil {
		return nil, translate.Missing(path)
	}
	schema, err := translate.Open(value, path)
	if err != nil {
		return nil, err
	}
	if err := schema.Only("name", "description", "schema", "strict"); err != nil {
		return nil, err
	}
	name, err := schema.RequiredText("name")
	if err != nil {
		return nil, err
	}
	if schema.Get("schema") == nil {
		return nil, translate.Missing(schema.Param("schema"))
	}
	format := append([]byte(nil), `{"type":"json_schema","name":`...)
	format = append(format, name...)
	format = translate.AppendPresent(format, schema, "description", "schema", "strict")
	return append(format, '}'), nil
}
