package anthropicrules

import (
	"encoding/json"
	"fmt"
	"slices"
)

// The keywords that structured outputs take, by the SDK's own transformation (anthropic 2.12.0,
// lib/_parse/_transform.py): it moves all others into the description.
var (
	anyKeywords    = []string{"$defs", "$ref", "enum", "const", "anyOf", "allOf", "type", "title", "description"}
	typeKeywords   = map[string][]string{"object": {"properties", "additionalProperties", "required"}, "string": {"format"}, "array": {"items", "minItems"}}
	stringFormats  = []string{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
	withReferences = []string{"$defs", "$ref"}
)

// Schemas checks the schema of the format of the answer, and those of strict tools.
func Schemas(body []byte) error {
	var r struct {
		OutputConfig struct {
			Format struct{ Schema json.RawMessage }
		} `json:"output_config"`
		Tools []struct {
			Name        string
			Strict      bool
			InputSchema json.RawMessage `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return err
	}
	if schema := r.OutputConfig.Format.Schema; schema != nil {
		if err := structured(schema, "output_config.format.schema"); err != nil {
			return err
		}
	}
	for i, t := range r.Tools {
		if !t.Strict {
			continue
		}
		if err := structured(t.InputSchema, fmt.Sprintf("tools.%d.custom.input_schema", i)); err != nil {
			return err
		}
	}
	return nil
}

func structured(raw json.RawMessage, path string) error {
	var schema fields
	if err := decodeFields(raw, &schema, path); err != nil {
		return err
	}
	kind, _ := schema.text("type", path)
	allowed := slices.Concat(anyKeywords, typeKeywords[kind])
	if schema.present("$ref") {
		allowed = withReferences
	}
	for keyword := range schema {
		if !slices.Contains(allowed, keyword) {
			return field(path, "For '%s' type, property '%s' is not supported", kind, keyword)
		}
	}
	if format, _ := schema.text("format", path); format != "" && !slices.Contains(stringFormats, format) {
		return field(path, "String format '%s' is not supported", format)
	}
	if least := string(schema["minItems"]); least != "" && least != "0" && least != "1" {
		return field(path, "For 'array' type, 'minItems' values other than 0 or 1 are not supported")
	}
	if kind == "object" && string(schema["additionalProperties"]) != "false" {
		return field(path, "For 'object' type, 'additionalProperties' must be explicitly set to false")
	}
	return schema.children(path)
}

// children checks the schemas within one.
func (schema fields) children(path string) error {
	for _, keyword := range []string{"properties", "$defs"} {
		if !schema.present(keyword) {
			continue
		}
		var named fields
		if err := decodeFields(schema[keyword], &named, path+"."+keyword); err != nil {
			return err
		}
		for name, child := range named {
			if err := structured(child, path+"."+keyword+"."+name); err != nil {
				return err
			}
		}
	}
	for _, keyword := range []string{"anyOf", "allOf"} {
		if !schema.present(keyword) {
			continue
		}
		var list []json.RawMessage
		if err := decodeFields(schema[keyword], &list, path+"."+keyword); err != nil {
			return err
		}
		for i, child := range list {
			if err := structured(child, fmt.Sprintf("%s.%s.%d", path, keyword, i)); err != nil {
				return err
			}
		}
	}
	if schema.present("items") {
		return structured(schema["items"], path+".items")
	}
	return nil
}
