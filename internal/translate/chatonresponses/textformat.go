package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// appendText appends the member text, which has both response_format and verbosity.
func appendText(dst []byte, body translate.Reader) []byte {
	verbosity := body.Text("verbosity")
	return appendObject(dst, "text", "format", textFormat(body), "verbosity", verbosity)
}

// textFormat returns text.format, nil for the default.
func textFormat(body translate.Reader) []byte {
	o, ok := body.Object("response_format")
	if !ok {
		return nil
	}
	switch typ := translate.TypeOf(o); typ {
	case "text":
		o.Only("type")
	case "json_object":
		o.Only("type")
		return []byte(`{"type":"json_object"}`)
	case "json_schema":
		return schemaFormat(o)
	default:
		translate.RefuseType(o, typ)
	}
	return nil
}

// schemaFormat flattens the object json_schema.
func schemaFormat(o translate.Reader) []byte {
	schema := translate.JSONSchema(o)
	schema.RequiredText("name")
	translate.Required(schema, "schema")
	format := []byte(`{"type":"json_schema"`)
	return append(translate.AppendPresent(format, schema, "name", "description", "schema", "strict"), '}')
}
