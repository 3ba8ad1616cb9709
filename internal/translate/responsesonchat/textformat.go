package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// appendFormat translates text.format to response_format.
func appendFormat(dst []byte, text translate.Object) ([]byte, error) {
	format, ok, err := text.Object("format")
	if !ok || err != nil {
		return dst, err
	}
	typ, err := format.Type()
	if err != nil {
		return dst, err
	}
	switch typ {
	case "text": // the default, which some providers do not know by name
		return dst, format.Only("type")
	case "json_object":
		return append(dst, `,"response_format":{"type":"json_object"}`...), format.Only("type")
	case "json_schema":
		return appendSchema(dst, format)
	}
	return dst, translate.UnsupportedType(format, typ)
}

// appendSchema nests the members of a schema.
func appendSchema(dst []byte, format translate.Object) ([]byte, error) {
	if err := format.Only("type", "name", "description", "schema", "strict"); err != nil {
		return dst, err
	}
	if _, err := format.RequiredText("name"); err != nil {
		return dst, err
	}
	if format.Get("schema") == nil {
		return dst, translate.Missing(format.Param("schema"))
	}
	dst = append(dst, `,"response_format":{"type":"json_schema","json_schema":{`...)
	dst = translate.AppendPresent(dst, format, "name", "description", "schema", "strict")
	return append(dst, "}}"...), nil
}
