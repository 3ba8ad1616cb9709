// Package jsonschema makes JSON schemas (2020-12) of Go types, as encoding/json reads and writes
// them.
package jsonschema

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
)

// Schema is a JSON schema.
type Schema map[string]any

// Shaped is a type that encodes itself, by a value of another type, or nil for null. Its shape is
// asked of the zero value.
type Shaped interface{ JSONShape() any }

// Maker makes schemas. The zero value is ready for use.
type Maker struct {
	// Defs has the schemas of structs by the names of their types; other schemas refer to them. An
	// unexported struct is written where it is used.
	Defs map[string]Schema
	// Path is where Defs is in the document: "#/$defs/".
	Path string
	// Types has the schemas of types that encode themselves.
	Types map[reflect.Type]Schema
	// Field returns the schema of a field that says more than its type, or nil. It may be nil.
	Field func(of reflect.Type, f reflect.StructField) Schema
	// Describe returns what is said of a field or, with the name "", of a type. It may be nil.
	Describe func(of reflect.Type, name string) string
	// Beside returns the structs whose members a struct has beside its own. It may be nil.
	Beside func(reflect.Type) []reflect.Type
	// Written makes schemas of what encoding/json writes, where a nil pointer is null.
	Written bool

	owners map[string]reflect.Type
}

var (
	marshaler     = reflect.TypeFor[json.Marshaler]()
	unmarshaler   = reflect.TypeFor[json.Unmarshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	shaped        = reflect.TypeFor[Shaped]()
)

// Of returns the schema of a type. It panics for one that encodes itself and does not say how.
func (m *Maker) Of(t reflect.Type) Schema {
	if s, ok := m.Types[t]; ok {
		return s
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		return Schema{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return Schema{}
	case t.Kind() == reflect.Pointer:
		return m.pointer(t.Elem())
	case t.Implements(shaped):
		shape := reflect.Zero(t).Interface().(Shaped).JSONShape()
		if shape == nil {
			return Schema{"type": "null"}
		}
		return m.defined(t, reflect.TypeOf(shape))
	case t.Implements(marshaler), reflect.PointerTo(t).Implements(unmarshaler):
		panic(fmt.Sprintf("jsonschema: %v encodes itself, and has no schema", t))
	case t.Implements(textMarshaler):
		return Schema{"type": "string"}
	case t.Kind() == reflect.Struct:
		return m.defined(t, t)
	}
	return m.plain(t)
}

func (m *Maker) plain(t reflect.Type) Schema {
	switch t.Kind() {
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.String:
		return Schema{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return Schema{"type": "string", "contentEncoding": "base64"}
		}
		return Schema{"type": "array", "items": m.Of(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": m.Of(t.Elem())}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return Schema{"type": "integer", "minimum": 0}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return Schema{"type": "integer"}
	}
	panic(fmt.Sprintf("jsonschema: %v has no JSON", t))
}

func (m *Maker) pointer(t reflect.Type) Schema {
	if !m.Written {
		return m.Of(t)
	}
	return Nullable(m.Of(t))
}

// Nullable returns a schema that allows null, too.
func Nullable(s Schema) Schema {
	kind, ok := s["type"].(string)
	if !ok || s["enum"] != nil {
		return Schema{"anyOf": []Schema{s, {"type": "null"}}}
	}
	null := Schema{}
	for name, value := range s {
		null[name] = value
	}
	null["type"] = []string{kind, "null"}
	return null
}

// defined puts the schema of a shape among the definitions, as the type t, and returns a reference
// to it.
func (m *Maker) defined(t, shape reflect.Type) Schema {
	name := t.Name()
	if name == "" || strings.ContainsAny(name, "[]") || strings.ToUpper(name[:1]) != name[:1] {
		return m.Struct(shape)
	}
	if m.owners == nil {
		m.owners = map[string]reflect.Type{}
	}
	if owner := m.owners[name]; owner != nil && owner != t { // of another package
		name = strings.ReplaceAll(t.String(), ".", "_")
	}
	if m.owners[name] == nil {
		m.owners[name] = t
		if m.Defs == nil {
			m.Defs = map[string]Schema{}
		}
		s := m.Struct(shape)
		m.describe(s, t, "")
		m.Defs[name] = s
	}
	return Schema{"$ref": m.Path + name}
}

// Struct returns the schema of a struct itself.
func (m *Maker) Struct(t reflect.Type) Schema {
	properties, required := map[string]Schema{}, []string{}
	m.members(t, func(name string, s Schema, always bool) {
		properties[name] = s
		if always {
			required = append(required, name)
		}
	})
	s := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		s["required"] = required
	}
	return s
}

// members calls add for each member. Always reports whether every object has it, which those of an
// embedded pointer have not.
func (m *Maker) members(t reflect.Type, add func(name string, s Schema, always bool)) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			if f.Type.Kind() == reflect.Pointer {
				m.members(f.Type.Elem(), func(name string, s Schema, _ bool) { add(name, s, false) })
			} else {
				m.members(f.Type, add)
			}
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		var s Schema
		if m.Field != nil {
			s = m.Field(t, f)
		}
		if s == nil {
			s = m.Of(f.Type)
		}
		leftOut := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		if leftOut && f.Type.Kind() == reflect.Pointer {
			s = m.Of(f.Type.Elem())
		}
		add(name, m.describe(s, t, f.Name), !leftOut)
	}
	if m.Beside != nil {
		for _, other := range m.Beside(t) {
			m.members(other, add)
		}
	}
}

// describe adds what is said of a field, or of a type, to a schema of its own.
func (m *Maker) describe(s Schema, t reflect.Type, field string) Schema {
	if m.Describe == nil {
		return s
	}
	text := m.Describe(t, field)
	if text == "" {
		return s
	}
	if field != "" { // the schema of a type may be used elsewhere, too
		of := s
		s = Schema{}
		for name, value := range of {
			s[name] = value
		}
	}
	s["description"] = text
	return s
}
