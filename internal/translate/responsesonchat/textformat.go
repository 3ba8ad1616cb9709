package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// appendFormat translates text.format to response_format.
func appendFormat(dst []byte, text translate.Reader) []byte {
	format, ok := text.Object("format")
	if !ok {
		return dst
	}
	switch typ := format.Type(); typ {
	case "text": // the default, which some providers do not know by name
		format.Only("type")
	case "json_object":
		format.Only("type")
		dst = append(dst, `,"response_format":{"type":"json_object"}`...)
	case "json_schema":
		dst = appendSchema(dst, format)
	default:
		format.Fail(translate.UnsupportedType(*format.Raw, typ))
	}
	return dst
}

// appendSchema nests the members of a schema.
func appendSchema(dst []byte, format translate.Reader) []byte {
	format.Only("type", "name", "description", "schema", "strict")
	format.RequiredText("name")
	if format.Get("schema") == nil {
		format.Fail(translate.Missing(format.Raw.Param("schema")))
	}
	dst = append(dst, `,"response_format":{"type":"json_schema","json_schema":{`...)
	dst = translate.AppendPresent(dst, *format.Raw, "name", "description", "schema", "strict")
	return append(dst, "}}"...)
}
