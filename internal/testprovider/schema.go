package testprovider

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

const (
	// maxSchemaSteps bounds the work on an example, counted in values, merged keywords
	// and pieces of copied text: references to references double with every level,
	// so a short schema can ask for any amount of it.
	maxSchemaSteps = 16384
	// literalStep is how many bytes of copied text, or keywords of one schema, are
	// one step.
	literalStep = 16
	// jsonTypes is how many types JSON Schema knows; longer lists repeat themselves.
	jsonTypes = 7
)

var (
	errSchemaTooLarge  = fmt.Errorf("more than %d steps to an example", maxSchemaSteps)
	errSchemaRecursive = errors.New("a required value contains itself")
	errSchemaForm      = errors.New("a schema is an object or a boolean")
)

// exampleJSON returns the smallest natural document that satisfies a JSON schema:
// required properties only, in their order; const, or the first enum value, or
// the first possible alternative of anyOf, oneOf and type; empty arrays unless minItems
// asks for more. A schema that allows anything is an object at the root and a string
// below. Bounds, lengths and the common formats of string are kept; pattern,
// not, if, uniqueItems and dependencies are not looked at.
func exampleJSON(schema json.RawMessage) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(schema))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return "", err
	}
	e := example{root: root, open: map[string]bool{}}
	if err := e.value(root); err != nil {
		return "", err
	}
	return e.buf.String(), nil
}

type example struct {
	buf   bytes.Buffer
	root  any
	steps int
	open  map[string]bool // references being followed now
}

// spend counts steps.
func (e *example) spend(n int) error {
	if e.steps += n; e.steps > maxSchemaSteps {
		return errSchemaTooLarge
	}
	return nil
}

func (e *example) value(schema any) error {
	root := e.steps == 0
	if err := e.spend(1); err != nil {
		return err
	}
	switch s := schema.(type) {
	case bool:
		if !s {
			return errors.New("a required value is forbidden")
		}
		return e.object(map[string]any{}, root)
	case map[string]any:
		if err := e.spend(len(s) / literalStep); err != nil {
			return err
		}
		return e.object(s, root)
	default:
		return errSchemaForm
	}
}

func (e *example) object(s map[string]any, root bool) error {
	if v, ok := s["const"]; ok {
		return e.literal(v)
	}
	if list, _ := s["enum"].([]any); len(list) > 0 {
		return e.literal(list[0])
	}
	if ref, ok := s["$ref"].(string); ok {
		return e.reference(ref)
	}
	if list, _ := s["allOf"].([]any); len(list) > 0 {
		whole, err := e.merge(without(s, "allOf"), list)
		if err != nil {
			return err
		}
		return e.value(whole)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, _ := s[key].([]any); len(list) > 0 {
			rest := without(s, key)
			return e.first(list, func(alternative any) error {
				if a, ok := alternative.(map[string]any); ok && a["$ref"] == nil {
					whole, err := e.union(rest, a)
					if err != nil {
						return err
					}
					return e.value(whole)
				}
				return e.value(alternative)
			})
		}
	}
	return e.first(types(s, root), func(kind any) error { return e.typed(kind, s) })
}

// first writes the first alternative that has an example.
func (e *example) first(list []any, write func(any) error) error {
	mark := e.buf.Len()
	var err error
	for _, alternative := range list {
		if err := e.spend(1); err != nil {
			return err
		}
		if err = write(alternative); err == nil || errors.Is(err, errSchemaTooLarge) {
			return err
		}
		e.buf.Truncate(mark)
	}
	return err
}

// types lists the allowed types, null last; without "type" they follow from the
// other keywords.
func types(s map[string]any, root bool) []any {
	switch t := s["type"].(type) {
	case string:
		return []any{t}
	case []any:
		if t = t[:min(len(t), jsonTypes)]; len(t) > 0 {
			isNull := func(v any) bool { return v == "null" }
			list := slices.DeleteFunc(slices.Clone(t), isNull)
			if len(list) < len(t) {
				list = append(list, "null")
			}
			return list
		}
	}
	for _, hint := range []struct{ keyword, kind string }{
		{"properties", "object"}, {"required", "object"}, {"items", "array"}, {"prefixItems", "array"},
		{"minimum", "number"}, {"maximum", "number"}, {"multipleOf", "number"},
	} {
		if _, ok := s[hint.keyword]; ok {
			return []any{hint.kind}
		}
	}
	if root {
		return []any{"object"}
	}
	return []any{"string"}
}

func (e *example) typed(kind any, s map[string]any) error {
	switch kind {
	case "object":
		return e.properties(s)
	case "array":
		return e.items(s)
	case "string":
		text, err := exampleString(s)
		if err != nil {
			return err
		}
		e.buf.WriteString(quote(text))
	case "integer", "number":
		number, err := exampleNumber(s, kind == "integer")
		if err != nil {
			return err
		}
		e.buf.WriteString(number)
	case "boolean":
		e.buf.WriteString("true")
	case "null":
		e.buf.WriteString("null")
	default:
		return fmt.Errorf("unknown type %q", fmt.Sprint(kind))
	}
	return nil
}

func (e *example) properties(s map[string]any) error {
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	written := map[string]bool{}
	e.buf.WriteByte('{')
	for _, r := range required {
		name, ok := r.(string)
		if err := e.spend(1 + len(name)/literalStep); err != nil {
			return err
		}
		if !ok || written[name] {
			continue
		}
		if len(written) > 0 {
			e.buf.WriteString(", ")
		}
		written[name] = true
		e.buf.WriteString(quote(name) + ": ")
		var property any = true
		if p, ok := properties[name]; ok {
			property = p
		}
		if err := e.value(property); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

func (e *example) items(s map[string]any) error {
	least, _ := number(s["minItems"])
	prefix, _ := s["prefixItems"].([]any)
	e.buf.WriteByte('[')
	for i := 0; float64(i) < least; i++ {
		if i > 0 {
			e.buf.WriteString(", ")
		}
		var item any = true
		if i < len(prefix) {
			item = prefix[i]
		} else if rest, ok := s["items"]; ok {
			item = rest
		}
		if err := e.value(item); err != nil {
			return err
		}
	}
	e.buf.WriteByte(']')
	return nil
}

func (e *example) literal(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	e.buf.Write(text)
	return e.spend(len(text) / literalStep)
}

// quote writes s as a JSON string without escapes for HTML.
func quote(s string) string {
	var b bytes.Buffer
	if err := encode(&b, s); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
