package messagesonchat

import (
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// appendFormat maps output_config.format, and output_format, its older name, to response_format.
func appendFormat(dst []byte, body translate.Reader) []byte {
	config, _ := body.Object("output_config", "effort", "format")
	format, some := config.Object("format")
	older, ok := body.Object("output_format")
	switch {
	case ok && some:
		body.Fail(apierror.New(apierror.InvalidValue, `"output_format" is the older name of "output_config.format": give only one of them`).
			WithParam("output_format"))
	case ok:
		format = older
	case !some:
		return dst
	}
	return appendSchema(dst, format)
}

// appendSchema appends the schema of the answer, with a name, which chat requires. Anthropic enforces
// every schema. OpenAI does so only if it is strict, and accepts fewer schemas then.
func appendSchema(dst []byte, format translate.Reader) []byte {
	if typ := translate.TypeOf(format); typ != "json_schema" {
		translate.RefuseType(format, typ)
	}
	format.Only("type", "schema")
	format.RequiredObject("schema")
	schema := format.Get("schema")
	dst = append(dst, `,"response_format":{"type":"json_schema","json_schema":{"name":"output"`...)
	dst = translate.AppendMember(dst, "schema", schema)
	if isStrict(schema) {
		dst = append(dst, `,"strict":true`...)
	}
	return append(dst, "}}"...)
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
