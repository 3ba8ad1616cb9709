package translate

import (
	"bytes"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ObjectSchema returns the schema of a tool's input as an object: nil is one without properties,
// and "type" is added where it is missing. With properties, "properties" is added, too: OpenAI
// refuses an object without.
func ObjectSchema(schema []byte, properties bool) []byte {
	typed, named := false, false
	for m := range jsonscan.AllMembers(schema) {
		switch string(m.DecodedKey(schema)) {
		case "type":
			typed = m.Kind != 'n'
		case "properties":
			named = m.Kind != 'n'
		}
	}
	if schema != nil && typed && (named || !properties) {
		return schema
	}
	w := WriteTo(make([]byte, 0, len(schema)+len(`{"type":"object","properties":{},}`)))
	w.Object()
	if !typed {
		w.StringMember("type", "object")
	}
	for m := range jsonscan.AllMembers(schema) {
		switch key := string(m.Key(schema)); {
		case key == "type" && !typed, key == "properties" && !named:
		default:
			w.Member(key, m.Value(schema))
		}
	}
	if properties && !named {
		w.Object("properties")
		w.End()
	}
	w.End()
	return w.Bytes()
}

// closedKeys are the keywords that a schema may have which Anthropic enforces, beside the
// subschemas that closedSchema knows. All others become a part of the description, as Anthropic's
// SDKs have it (anthropic-sdk-python, lib/_parse/_transform.py).
var closedKeys = []string{"type", "enum", "const", "title", "required", "format", "minItems"}

// closedFormats are the formats of strings that Anthropic enforces.
var closedFormats = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}

// maxSchemaDepth bounds how deep schemas are read in each other.
const maxSchemaDepth = 64

// ClosedSchema returns a schema as Anthropic enforces it, for the format of an answer or a strict
// tool: each object has the properties that it names and no others, and what cannot be enforced
// stands in the description, where the model reads it.
func ClosedSchema(schema []byte) []byte {
	w := WriteTo(make([]byte, 0, len(schema)+len(schema)/4+64))
	closeSchema(&w, schema, 0)
	return w.Bytes()
}

func closeSchema(w *Writer, schema []byte, depth int, member ...string) {
	if len(schema) == 0 || schema[0] != '{' || depth > maxSchemaDepth {
		if len(member) > 0 {
			w.Member(member[0], schema)
		} else {
			w.Raw(schema)
		}
		return
	}
	w.Object(member...)
	defer w.End()
	var description, rest []byte
	object, variants, ref := false, false, false
	members := jsonscan.Members(schema, nil)
	for _, m := range members {
		switch key := string(m.DecodedKey(schema)); {
		case key == "$ref":
			ref = true
		case key == "anyOf" && m.Kind == '[':
			variants = true
		case key == "properties" || key == "type" && bytes.Contains(m.Value(schema), []byte(`"object"`)):
			object = true
		}
	}
	for _, m := range members {
		key, value := string(m.DecodedKey(schema)), m.Value(schema)
		switch {
		case key == "$ref" && m.Kind == '"':
			w.Member(key, value)
		case (key == "$defs" || key == "definitions") && m.Kind == '{':
			closeEach(w, key, value, depth)
		case ref: // nothing else may stand beside it
		case key == "properties" && m.Kind == '{':
			closeEach(w, key, value, depth)
		case key == "items" && m.Kind == '{':
			closeSchema(w, value, depth+1, key)
		case key == "anyOf" && m.Kind == '[', key == "allOf" && m.Kind == '[' && !variants:
			closeAll(w, key, value, depth)
		case key == "oneOf" && m.Kind == '[' && !variants:
			closeAll(w, "anyOf", value, depth)
			variants = true
		case key == "additionalProperties" && string(value) == "false":
			w.Member(key, value)
			object = false
		case key == "additionalProperties", key == "$schema":
		case key == "description" && m.Kind == '"':
			description = value
		case slices.Contains(closedKeys, key) && enforced(key, value):
			w.Member(key, value)
		default:
			if rest != nil {
				rest = append(rest, ", "...)
			}
			rest = append(append(append(rest, key...), ": "...), value...)
		}
	}
	if object && !ref {
		w.BoolMember("additionalProperties", false)
	}
	putDescription(w, description, rest)
}

// enforced reports whether Anthropic enforces a keyword with this value.
func enforced(key string, value []byte) bool {
	switch key {
	case "format":
		format, _ := jsonscan.String(value)
		return slices.Contains(closedFormats, format)
	case "minItems":
		return string(value) == "0" || string(value) == "1"
	}
	return true
}

// putDescription writes a description, quoted or nil, with what is not enforced behind it.
func putDescription(w *Writer, description, rest []byte) {
	if rest == nil {
		w.Member("description", description)
		return
	}
	text, _ := jsonscan.String(description)
	if text != "" {
		text += "\n\n"
	}
	w.StringMember("description", text+"{"+string(rest)+"}")
}

// closeEach writes a member that has schemas by their names.
func closeEach(w *Writer, key string, schemas []byte, depth int) {
	w.Object(key)
	for m := range jsonscan.AllMembers(schemas) {
		closeSchema(w, m.Value(schemas), depth+1, string(m.Key(schemas)))
	}
	w.End()
}

// closeAll writes a member that has a list of schemas.
func closeAll(w *Writer, key string, schemas []byte, depth int) {
	w.Array(key)
	for span := range jsonscan.AllElements(schemas) {
		closeSchema(w, span.Value(schemas), depth+1)
	}
	w.End()
}
