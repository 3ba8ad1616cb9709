package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// putText writes the member text, which has both response_format and verbosity.
func (t *translation) putText() {
	t.out.Object("text")
	t.putFormat()
	t.out.Member("verbosity", t.body.Text("verbosity"))
	t.out.EndOptional()
}

// putFormat writes text.format. The object json_schema is flat there.
func (t *translation) putFormat() {
	o, ok := t.body.Object("response_format")
	if !ok {
		return
	}
	switch typ := translate.TypeOf(o); typ {
	case "text": // the default
		o.Only("type")
	case "json_object":
		o.Only("type")
		t.out.Object("format")
		t.out.StringMember("type", typ)
		t.out.End()
	case "json_schema":
		schema := translate.JSONSchema(o)
		t.out.Object("format")
		t.out.StringMember("type", typ)
		t.out.Member("name", schema.RequiredText("name"))
		t.out.Member("description", schema.Get("description"))
		t.out.Member("schema", translate.Required(schema, "schema"))
		t.out.Member("strict", schema.Get("strict"))
		t.out.End()
	default:
		translate.RefuseType(o, typ)
	}
}
