package tochat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// textFormat maps text.format and text.verbosity.
func (t *translation) textFormat() error {
	value := t.body.Get("text")
	if value == nil {
		return nil
	}
	text, err := translate.Open(value, "text")
	if err != nil {
		return err
	}
	if err := text.Only("format", "verbosity"); err != nil {
		return err
	}
	verbosity, err := text.Text("verbosity")
	if err != nil {
		return err
	}
	if verbosity != nil {
		t.put("verbosity", verbosity)
	}
	if value = text.Get("format"); value == nil {
		return nil
	}
	format, err := translate.Open(value, "text.format")
	if err != nil {
		return err
	}
	typ, err := format.DecodedText("type")
	if err != nil {
		return err
	}
	switch typ {
	case "text": // the default, which some providers do not know by name
		return format.Only("type")
	case "json_object":
		t.put("response_format", []byte(`{"type":"json_object"}`))
		return format.Only("type")
	case "json_schema":
		return t.schema(format)
	}
	return translate.UnsupportedType(format, typ)
}

// schema nests what Responses has flat.
func (t *translation) schema(format translate.Object) error {
	if err := format.Only("type", "name", "description", "schema", "strict"); err != nil {
		return err
	}
	name, err := format.RequiredText("name")
	if err != nil {
		return err
	}
	if format.Get("schema") == nil {
		return translate.Missing("text.format.schema")
	}
	t.out = append(t.out, `,"response_format":{"type":"json_schema","json_schema":{"name":`...)
	t.out = append(t.out, name...)
	t.out = translate.AppendPresent(t.out, format, "description", "schema", "strict")
	t.out = append(t.out, "}}"...)
	return nil
}
