package messagesonchat

import (
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// appendFormat maps output_config.format, and output_format, its older name, to response_format.
func appendFormat(dst []byte, body translate.Object) ([]byte, error) {
	config, ok, err := body.Object("output_config")
	if err != nil {
		return dst, err
	}
	var format translate.Object
	some := false
	if ok {
		if err := config.Only("effort", "format"); err != nil {
			return dst, err
		}
		if format, some, err = config.Object("format"); err != nil {
			return dst, err
		}
	}
	older, ok, err := body.Object("output_format")
	switch {
	case err != nil:
		return dst, err
	case ok && some:
		return dst, apierror.New(apierror.InvalidValue, `"output_format" is the older name of "output_config.format": give only one of them`).
			WithParam("output_format")
	case ok:
		format = older
	case !some:
		return dst, nil
	}
	return appendSchema(dst, format)
}

// appendSchema appends the schema of the answer, with a name, which chat requires. Anthropic enforces
// every schema. OpenAI does so only if it is strict, and accepts fewer schemas then.
func appendSchema(dst []byte, format translate.Object) ([]byte, error) {
	typ, err := format.Type()
	if err != nil {
		return dst, err
	}
	if typ != "json_schema" {
		return dst, translate.UnsupportedType(format, typ)
	}
	if err := format.Only("type", "schema"); err != nil {
		return dst, err
	}
	if _, err := format.RequiredObject("schema"); err != nil {
		return dst, err
	}
	schema := format.Get("schema")
	dst = append(dst, `,"response_format":{"type":"json_schema","json_schema":{"name":"output"`...)
	dst = translate.AppendMember(dst, "schema", schema)
	if isStrict(schema) {
		dst = append(dst, `,"strict":true`...)
	}
	return append(dst, "}}"...), nil
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
