package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// appendFormat translates text.format to response_format.
func appendFormat(dst []byte, text translate.Reader) []byte {
	format, ok := text.Object("format")
	if !ok {
		return dst
	}
	switch typ := translate.TypeOf(format); typ {
	case "text": // the default, which some providers do not know by name
		format.Only("type")
	case "json_object":
		format.Only("type")
		dst = append(dst, `,"response_format":{"type":"json_object"}`...)
	case "json_schema":
		dst = appendSchema(dst, format)
	default:
		translate.RefuseType(format, typ)
	}
	return dst
}

// appendSchema nests the members of a schema.
func appendSchema(dst []byte, format translate.Reader) []byte {
	format.Only("type", "name", "description", "schema", "strict")
	format.RequiredText("name")
	translate.Required(format, "schema")
	dst = append(dst, `,"response_format":{"type":"json_schema","json_schema":{`...)
	dst = translate.AppendPresent(dst, format, "name", "description", "schema", "strict")
	return append(dst, "}}"...)
}
