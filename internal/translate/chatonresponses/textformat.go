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
	f := translate.ReadFormat(t.body)
	switch {
	case !f.JSON:
		return
	case f.Schema == nil:
		t.out.Object("format")
		t.out.StringMember("type", "json_object")
	default:
		if f.Name == nil {
			t.body.Fail(translate.Missing("response_format.json_schema.name"))
		}
		t.out.Object("format")
		t.out.StringMember("type", "json_schema")
		t.out.Member("name", f.Name)
		t.out.Member("description", f.Description)
		t.out.Member("schema", f.Schema)
		t.out.Member("strict", f.Strict)
	}
	t.out.End()
}
