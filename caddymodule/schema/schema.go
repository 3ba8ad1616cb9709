// Package schema makes the JSON schema of the configuration, for editors, from the structs of the
// modules that are in the build.
package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/core"
	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonschema"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

type schema = jsonschema.Schema

// other is the definition of what other modules of Caddy have: Gatehouse's may be anywhere in it.
const other = "other"

// inlineKeys are the members that name a module of a namespace.
var inlineKeys = map[string]string{"http.handlers": "handler", "layer4.handlers": "handler", "caddy.listeners": "wrapper"}

// Make returns the schema of Caddy's configuration: strict for what is Gatehouse's, open for the
// rest.
func Make() ([]byte, error) {
	words["Provider.Dialect"] = provider.Dialects() // all have registered themselves
	w := newWriter()
	var app schema
	inline, named := []schema{}, map[string]schema{}
	for _, m := range ours() {
		namespace := m.id.Namespace()
		switch key := inlineKeys[namespace]; {
		case string(m.id) == caddykit.AppName:
			app = w.maker.Of(m.of)
		case key != "" && w.names[m.of] == nil:
			w.names[m.of] = namesOf(m.of)
			inline = append(inline, w.inline(m.of, key))
		case key != "": // of a type that several modules have
		case namespace == "tls.handshake_match": // a member of a map
			named[m.id.Name()] = schema{"if": schema{"type": "object"}, "then": w.maker.Of(m.of)}
		}
	}
	for name, s := range w.maker.Defs["SessionRules"]["properties"].(map[string]schema) {
		s["description"] = desktop.RuleValue(name)
	}
	elsewhere := schema{"$ref": w.maker.Path + other}
	w.maker.Defs[other] = schema{"allOf": inline, "properties": named, "additionalProperties": elsewhere, "items": elsewhere}
	text, err := json.MarshalIndent(schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A configuration of Caddy with Gatehouse", "$defs": w.maker.Defs,
		"type": "object", "additionalProperties": elsewhere, "properties": schema{
			"apps": schema{"type": "object", "additionalProperties": elsewhere, "properties": schema{caddykit.AppName: app}},
		},
	}, "", "  ")
	return append(text, '\n'), err
}

type module struct {
	id caddy.ModuleID
	of reflect.Type
}

// ours are the modules of Gatehouse that are in the build.
func ours() (all []module) {
	root, _, _ := strings.Cut(reflect.TypeFor[module]().PkgPath(), "/caddymodule")
	for _, id := range caddy.Modules() {
		m, _ := caddy.GetModule(id) // it is there
		of := reflect.Indirect(reflect.ValueOf(m.New())).Type()
		if strings.HasPrefix(of.PkgPath(), root+"/") {
			all = append(all, module{m.ID, of})
		}
	}
	return all
}

// namesOf are the names of the modules of a type.
func namesOf(t reflect.Type) (names []string) {
	for _, m := range ours() {
		if m.of == t {
			names = append(names, m.id.Name())
		}
	}
	return names
}

// writer makes the schemas of structs, and reads their comments once.
type writer struct {
	maker    *jsonschema.Maker
	comments map[string]map[string]string // by package
	names    map[reflect.Type][]string    // of modules
}

func newWriter() *writer {
	w := &writer{comments: map[string]map[string]string{}, names: map[reflect.Type][]string{}}
	w.maker = &jsonschema.Maker{Path: "#/$defs/", Types: types, Field: field, Describe: w.describe, Beside: beside}
	return w
}

// inline is the schema of an object that may be a module of a type: one that key names.
func (w *writer) inline(t reflect.Type, key string) schema {
	ref := w.maker.Of(t)
	of := w.maker.Defs[strings.TrimPrefix(ref["$ref"].(string), w.maker.Path)]
	name := schema{"enum": w.names[t]}
	of["properties"].(map[string]schema)[key] = name
	required, _ := of["required"].([]string)
	of["required"] = append(required, key)
	return schema{"if": schema{"type": "object", "properties": schema{key: name}, "required": []string{key}}, "then": ref}
}

// beside returns what features add to the core's blocks.
func beside(t reflect.Type) []reflect.Type {
	switch t {
	case reflect.TypeFor[core.Settings]():
		return core.Types(core.InApp)
	case reflect.TypeFor[core.VNCSettings]():
		return core.Types(core.InVNC)
	}
	return nil
}

// describe returns the comment of a type or of a field of it. A member that is a module has that of
// the module. Packages without a source have none.
func (w *writer) describe(of reflect.Type, name string) string {
	if of.Name() == "" && of.Kind() == reflect.Struct {
		if member, ok := of.FieldByName(name); ok && member.Type.Kind() == reflect.Pointer {
			of, name = member.Type.Elem(), ""
		}
	}
	found, ok := w.comments[of.PkgPath()]
	if !ok {
		if files := caddykit.Source(of); files != nil {
			found, _ = jsonschema.Comments(files) // the compiler has read them
		}
		w.comments[of.PkgPath()] = found
	}
	if name == "" {
		return found[of.Name()]
	}
	return found[of.Name()+"."+name]
}

// field is the schema of a field that has fixed words, or a module of Caddy.
func field(of reflect.Type, f reflect.StructField) schema {
	if enum := words[of.Name()+"."+f.Name]; enum != nil {
		s := schema{"type": "string", "enum": enum}
		if f.Type.Kind() == reflect.Slice {
			s = schema{"type": "array", "items": s}
		}
		return s
	}
	namespace, key, _ := strings.Cut(f.Tag.Get("caddy"), " inline_key=")
	namespace, isModule := strings.CutPrefix(namespace, "namespace=")
	if !isModule {
		return nil
	}
	var names []string
	for _, m := range caddy.GetModules(namespace) {
		names = append(names, m.ID.Name())
	}
	slices.Sort(names)
	return schema{"type": "object", "properties": schema{key: schema{"enum": names}}, "required": []string{key}}
}
