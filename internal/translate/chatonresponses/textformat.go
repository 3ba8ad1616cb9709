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
	switch typ := o.Type(); typ {
	case "text":
		o.Only("type")
	case "json_object":
		o.Only("type")
		return []byte(`{"type":"json_object"}`)
	case "json_schema":
		return schemaFormat(o)
	default:
		o.Fail(translate.UnsupportedType(*o.Raw, typ))
	}
	return nil
}

// schemaFormat flattens the object json_schema.
func schemaFormat(o translate.Reader) []byte {
	schema := translate.JSONSchema(o)
	schema.RequiredText("name")
	if schema.Get("schema") == nil {
		o.Fail(translate.Missing(schema.Raw.Param("schema")))
	}
	format := []byte(`{"type":"json_schema"`)
	return append(translate.AppendPresent(format, *schema.Raw, "name", "description", "schema", "strict"), '}')
}
