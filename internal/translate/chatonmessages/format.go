package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// readFormat reads response_format. The API has no answers that are any JSON, so the system's text
// asks for one.
func (t *translation) readFormat() {
	o, ok := t.body.Object("response_format")
	if !ok {
		return
	}
	switch typ := translate.TypeOf(o); typ {
	case "text", "json_object":
		t.anyJSON = typ == "json_object"
		o.Only("type")
	case "json_schema":
		schema := translate.JSONSchema(o)
		schema.RequiredObject("schema")
		t.schema = schema.Get("schema")
	default:
		translate.RefuseType(o, typ)
	}
}
