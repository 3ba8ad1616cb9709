package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// appendText appends the member text, which has both response_format and verbosity.
func appendText(dst []byte, body translate.Object) ([]byte, error) {
	verbosity, err := body.Text("verbosity")
	if err != nil {
		return dst, err
	}
	format, err := textFormat(body)
	if err != nil {
		return dst, err
	}
	return appendObject(dst, "text", "format", format, "verbosity", verbosity), nil
}

// textFormat returns text.format, nil for the default.
func textFormat(body translate.Object) ([]byte, error) {
	o, ok, err := body.Object("response_format")
	if !ok || err != nil {
		return nil, err
	}
	typ, err := o.Type()
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

// schemaFormat flattens the object json_schema.
func schemaFormat(o translate.Object) ([]byte, error) {
	schema, err := translate.JSONSchema(o)
	if err != nil {
		return nil, err
	}
	if _, err := schema.RequiredText("name"); err != nil {
		return nil, err
	}
	if schema.Get("schema") == nil {
		return nil, translate.Missing(schema.Param("schema"))
	}
	format := []byte(`{"type":"json_schema"`)
	return append(translate.AppendPresent(format, schema, "name", "description", "schema", "strict"), '}'), nil
}
