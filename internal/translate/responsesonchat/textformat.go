package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// putFormat writes text.format as response_format.
func putFormat(w *translate.Writer, text translate.Reader) {
	format, ok := text.Object("format")
	if !ok {
		return
	}
	switch typ := translate.TypeOf(format); typ {
	case "text": // the default, which some providers do not know by name
		format.Only("type")
	case "json_object":
		format.Only("type")
		w.Object("response_format")
		w.StringMember("type", typ)
		w.End()
	case "json_schema":
		format.Only("type", "name", "description", "schema", "strict")
		w.Object("response_format")
		w.StringMember("type", typ)
		w.Object(typ)
		w.Member("name", format.RequiredText("name"))
		w.Member("description", format.Get("description"))
		w.Member("schema", translate.Required(format, "schema"))
		w.Member("strict", format.Get("strict"))
		w.End()
		w.End()
	default:
		translate.RefuseType(format, typ)
	}
}
