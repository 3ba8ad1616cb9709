package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
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
		t.conversation.anyJSON = typ == "json_object"
		o.Only("type")
	case "json_schema":
		schema := translate.JSONSchema(o)
		schema.RequiredObject("schema")
		t.schema = schema.Get("schema")
	default:
		translate.RefuseType(o, typ)
	}
}

// subschemas are the members of a schema that have a schema or a list of schemas. Those that are
// true have an object whose members do.
var subschemas = map[string]bool{
	"items": false, "prefixItems": false, "anyOf": false, "allOf": false, "oneOf": false, "not": false, "additionalProperties": false,
	"properties": true, "$defs": true, "definitions": true,
}

// appendClosed appends a schema in which each object excludes the properties that it does not name,
// unless it says itself which others it may have. The API refuses other objects; its SDKs do the
// same.
func appendClosed(dst, schema []byte) []byte {
	switch schema[0] {
	case '[':
		dst = append(dst, '[')
		for span := range jsonscan.AllElements(schema) {
			dst = appendClosed(translate.AppendComma(dst), span.Value(schema))
		}
		return append(dst, ']')
	case '{':
	default:
		return append(dst, schema...)
	}
	object, stated := false, false
	dst = append(dst, '{')
	for m := range jsonscan.AllMembers(schema) {
		key, value := string(m.DecodedKey(schema)), m.Value(schema)
		object = object || key == "properties" || key == "type" && bytes.Contains(value, []byte(`"object"`))
		stated = stated || key == "additionalProperties"
		dst = translate.AppendKey(dst, string(m.Key(schema)))
		switch named, inside := subschemas[key]; {
		case named && m.Kind == '{':
			dst = append(dst, '{')
			for m := range jsonscan.AllMembers(value) {
				dst = appendClosed(translate.AppendKey(dst, string(m.Key(value))), m.Value(value))
			}
			dst = append(dst, '}')
		case inside:
			dst = appendClosed(dst, value)
		default:
			dst = append(dst, value...)
		}
	}
	if object && !stated {
		dst = translate.AppendMember(dst, "additionalProperties", []byte("false"))
	}
	return append(dst, '}')
}
