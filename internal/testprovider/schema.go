package testprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxSchemaSteps bounds the work on an example, counted in values and pieces of
	// copied text: references to references double with every level, so a short
	// schema can ask for any amount of it.
	maxSchemaSteps = 16384
	// literalStep is how many bytes of copied text are one step.
	literalStep = 16
	// jsonTypes is how many types JSON Schema knows; longer lists repeat themselves.
	jsonTypes = 7
)

var errSchemaTooLarge = fmt.Errorf("more than %d steps to an example", maxSchemaSteps)

// stringFormats are examples of common formats of strings.
var stringFormats = map[string]string{
	"date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z", "time": "00:00:00Z", "email": "user@example.com",
	"uri": "https://example.com/", "uuid": "00000000-0000-4000-8000-000000000000",
}

// Example returns a small document for a JSON schema as SDKs make it of
// types: const, or the first enum value; of anyOf and oneOf the first schema
// with an example, which replaces the one around it; required properties only;
// empty arrays unless minItems asks for more; a number of at least minimum; the common formats of
// strings. References stay inside the schema. No other keyword is looked at. A
// schema without a type is an object at the root and a string below.
func Example(schema json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	e := example{open: map[string]bool{}}
	if err := dec.Decode(&e.root); err != nil {
		return "", err
	}
	v, err := e.value(e.root)
	if err != nil {
		return "", err
	}
	return string(encode(v)), nil
}

type example struct {
	root  any
	steps int
	open  map[string]bool // references being followed now
}

// spend counts a step and the copy of a text.
func (e *example) spend(text string) error {
	if e.steps += 1 + len(text)/literalStep; e.steps > maxSchemaSteps {
		return errSchemaTooLarge
	}
	return nil
}

func (e *example) value(schema any) (any, error) {
	root := e.steps == 0
	if err := e.spend(""); err != nil {
		return nil, err
	}
	s, ok := schema.(map[string]any)
	if !ok && schema != true {
		return nil, errors.New("a schema is an object or true")
	}
	if v, ok := s["const"]; ok {
		return v, e.spend(string(encode(v)))
	}
	if list, _ := s["enum"].([]any); len(list) > 0 {
		return list[0], e.spend(string(encode(list[0])))
	}
	if ref, ok := s["$ref"].(string); ok {
		return e.reference(ref)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, _ := s[key].([]any); len(list) > 0 {
			return e.first(list)
		}
	}
	return e.typed(kindOf(s, root), s)
}

// kindOf is the type of a value, which is null only if there is no other choice.
func kindOf(s map[string]any, root bool) any {
	switch t := s["type"].(type) {
	case nil:
		if root || s["properties"] != nil || s["required"] != nil {
			return "object"
		}
		return "string"
	case []any:
		for _, kind := range t[:min(len(t), jsonTypes)] {
			if kind != "null" {
				return kind
			}
		}
		return "null"
	default:
		return t
	}
}

// first is an example of the first alternative that has one.
func (e *example) first(list []any) (v any, err error) {
	for _, alternative := range list {
		if v, err = e.value(alternative); err == nil || errors.Is(err, errSchemaTooLarge) {
			break
		}
	}
	return v, err
}

func (e *example) typed(kind any, s map[string]any) (any, error) {
	switch kind {
	case "object":
		return e.properties(s)
	case "array":
		return e.items(s)
	case "integer", "number":
		least, _ := s["minimum"].(json.Number)
		n, err := least.Float64()
		if err != nil {
			n = 0
		}
		return json.Number(strconv.FormatFloat(max(1, math.Ceil(n)), 'f', -1, 64)), nil
	case "string":
		format, _ := s["format"].(string)
		if text, ok := stringFormats[format]; ok {
			return text, nil
		}
		return "example", nil
	case "boolean":
		return true, nil
	case "null":
		return nil, nil
	}
	return nil, fmt.Errorf("unknown type %q", fmt.Sprint(kind))
}

func (e *example) properties(s map[string]any) (any, error) {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	o, written := []byte{'{'}, map[string]bool{}
	for _, r := range required {
		name, _ := r.(string)
		if err := e.spend(name); err != nil {
			return nil, err
		}
		if written[name] {
			continue
		}
		written[name] = true
		property, ok := properties[name]
		if !ok {
			property = true
		}
		v, err := e.value(property)
		if err != nil {
			return nil, err
		}
		if len(written) > 1 {
			o = append(o, ',')
		}
		o = slices.Concat(o, encode(name), []byte(":"), encode(v))
	}
	return json.RawMessage(append(o, '}')), nil
}

func (e *example) items(s map[string]any) (any, error) {
	least, _ := s["minItems"].(json.Number)
	n, _ := least.Float64()
	item, ok := s["items"]
	if !ok {
		item = true
	}
	list := []any{}
	for float64(len(list)) < n {
		v, err := e.value(item)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// reference makes an example of what a JSON pointer (RFC 6901) inside the schema
// leads to. A reference inside itself has no end: it fails and leaves the choice
// to the next alternative.
func (e *example) reference(ref string) (any, error) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok || e.open[ref] {
		return nil, fmt.Errorf("reference %q leads out of the schema or back to itself", ref)
	}
	target := e.root
	for _, step := range strings.Split(path, "/")[1:] {
		object, _ := target.(map[string]any)
		if target, ok = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]; !ok {
			return nil, fmt.Errorf("reference %q leads nowhere", ref)
		}
	}
	e.open[ref] = true
	defer delete(e.open, ref)
	return e.value(target)
}
