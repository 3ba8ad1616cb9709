package messagesonchat

import (
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// putFormat writes output_config.format, and output_format, its older name, as response_format.
func putFormat(w *translate.Writer, body translate.Reader) {
	config, _ := body.Object("output_config", "effort", "format")
	format, some := config.Object("format")
	older, ok := body.Object("output_format")
	switch {
	case ok && some:
		body.Fail(apierror.New(apierror.InvalidValue, `"output_format" is the older name of "output_config.format": give only one of them`).
			WithParam("output_format"))
	case ok:
		putSchema(w, older)
	case some:
		putSchema(w, format)
	}
}

// putSchema writes the schema of the answer, with a name, which chat requires. Anthropic enforces
// every schema. OpenAI does so only if it is strict, and accepts fewer schemas then.
func putSchema(w *translate.Writer, format translate.Reader) {
	typ := translate.TypeOf(format)
	if typ != "json_schema" {
		translate.RefuseType(format, typ)
	}
	format.Only("type", "schema")
	schema := translate.Written(format.RequiredObject("schema"))
	w.Object("response_format")
	w.StringMember("type", typ)
	w.Object(typ)
	w.StringMember("name", "output")
	w.Member("schema", schema)
	if isStrict(schema) {
		w.BoolMember("strict", true)
	}
	w.End()
	w.End()
}

// isStrict reports whether OpenAI accepts a schema as strict: each of its objects requires all of
// its properties and excludes any other.
func isStrict(schema []byte) bool {
	var decoded any
	return json.Unmarshal(schema, &decoded) == nil && strictNode(decoded)
}

func strictNode(node any) bool {
	switch node := node.(type) {
	case []any:
		for _, element := range node {
			if !strictNode(element) {
				return false
			}
		}
	case map[string]any:
		properties, isObject := node["properties"].(map[string]any)
		if isObject || node["type"] == "object" {
			required, _ := node["required"].([]any)
			if len(required) != len(properties) || node["additionalProperties"] != false {
				return false
			}
		}
		for _, value := range node {
			if !strictNode(value) {
				return false
			}
		}
	}
	return true
}
