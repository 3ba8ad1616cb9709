package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/internal/caddykit"
)

// Feature is what the configuration has of a feature: a struct whose fields are members of a block,
// beside those of the core. Each configuration has one, also if it says nothing of the feature.
type Feature interface {
	Members
	// Build checks what the configuration says, and adds to the gateway what it is.
	Build(b *Build) error
}

// Members are what the configuration says of a feature.
type Members interface {
	// Options are its options in the Caddyfile.
	Options() caddykit.Options
}

// Block is a block of the configuration that features add members to.
type Block string

// The blocks.
const (
	InApp Block = "gatehouse"
	InVNC Block = "vnc"
)

// kind is a feature that there is.
type kind struct {
	name    string // of its folder in caddymodule
	in      Block
	members []string // of JSON
	options []string // of the Caddyfile
}

// kinds are the features that have members or work of their own, in the order in which they are
// built and start. A member of one that is not in the build is refused with the path that has it.
var kinds = []kind{
	// Before the keys that are made at run time: these may ask a database.
	{"identity", InApp, []string{"roles", "identities", "origin", "encryption_secrets", "authorization_server"},
		[]string{"role", "identity", "origin", "encryption_secret", "authorization_server"}},
	{"runtimekeys", InApp, []string{"runtime_keys"}, []string{"runtime_keys"}},
	{"cluster", InApp, []string{"cluster"}, []string{"cluster"}},
	{"recordings", InVNC, []string{"record"}, []string{"record"}},
	{"mcp", InApp, []string{"mcp"}, []string{"mcp"}},
	{"agents", InVNC, []string{"automation_memory", "automation_sessions"}, []string{"automation_memory", "automation_sessions"}},
	{"console", InApp, nil, nil},
	{"sockets", InApp, []string{"responses_websocket", "realtime"}, []string{"responses_websocket", "realtime"}},
}

// path is where features are.
var path = strings.TrimSuffix(reflect.TypeFor[App]().PkgPath(), "core")

// registered makes the features of the build, by name.
var registered = map[string]func() Feature{}

// Register adds a feature to the build, by the name of its folder. The comments in its Go files
// describe its members. It must be called before the program begins.
func Register(name string, make func() Feature, comments fs.FS) {
	if !slices.ContainsFunc(kinds, func(k kind) bool { return k.name == name }) {
		panic(fmt.Sprintf("core: the feature %q is not listed in kinds", name))
	}
	registered[name] = make
	caddykit.AddSource(reflect.Indirect(reflect.ValueOf(make())).Interface(), comments)
}

// Types returns the types whose fields are members of a block, beside those of the core.
func Types(in Block) (all []reflect.Type) {
	for _, f := range newFeatures(in) {
		all = append(all, reflect.Indirect(reflect.ValueOf(f.Members)).Type())
	}
	return all
}

// features are those of a block of one configuration, in the order of kinds.
type features []named

type named struct {
	kind
	Members
}

func newFeatures(in Block) (all features) {
	for _, k := range kinds {
		if make := registered[k.name]; make != nil && k.in == in {
			all = append(all, named{k, make()})
		}
	}
	return all
}

// missing returns the features of a block that are not in the build.
func missing(in Block) []kind {
	return slices.DeleteFunc(slices.Clone(kinds), func(k kind) bool { return registered[k.name] != nil || k.in != in })
}

// refusal is the error for a member or an option of a feature that is not in the build.
func (k kind) refusal(name string) error {
	return fmt.Errorf("%s: its feature is not in this build: build it with %s%s", name, path, k.name)
}

// read reads a block of the Caddyfile that has options of the core, and of features.
func (fs features) read(in Block, core caddykit.Options, d *caddyfile.Dispenser) error {
	for _, f := range fs {
		caddykit.With(core, f.Options())
	}
	for _, k := range missing(in) {
		for _, name := range k.options {
			core[name] = caddykit.Option{Read: func(d *caddyfile.Dispenser) error { return d.Errf("%v", k.refusal(name)) }}
		}
	}
	return core.Block(d)
}

// decode reads a block of JSON that has members of the core, and of features.
func (fs features) decode(in Block, text []byte, core any) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, f := range fs {
		own := map[string]json.RawMessage{}
		for name, raw := range all {
			if slices.ContainsFunc(f.members, func(m string) bool { return strings.EqualFold(m, name) }) { // as encoding/json does
				own[name] = raw
				delete(all, name)
			}
		}
		if err := decodeStrict(own, f.Members); err != nil {
			return err
		}
	}
	for _, k := range missing(in) {
		for _, name := range k.members {
			if _, ok := all[name]; ok {
				return k.refusal(name)
			}
		}
	}
	return decodeStrict(all, core)
}

// decodeStrict reads members, and refuses unknown ones, as Caddy does for modules.
func decodeStrict(members map[string]json.RawMessage, dst any) error {
	text, err := json.Marshal(members)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode(dst)
}

// encode is the reverse of decode.
func (fs features) encode(core any) ([]byte, error) {
	out, err := json.Marshal(core)
	if err != nil {
		return nil, err
	}
	for _, f := range fs {
		more, err := json.Marshal(f.Members)
		if err != nil {
			return nil, err
		}
		switch {
		case string(more) == "{}":
		case string(out) == "{}":
			out = more
		default:
			out = append(append(out[:len(out)-1], ','), more[1:]...)
		}
	}
	return out, nil
}

// checkPlaceholders is [caddykit.CheckPlaceholders] for what features have.
func (fs features) checkPlaceholders() error {
	for _, f := range fs {
		if err := caddykit.CheckPlaceholders(f.Members); err != nil {
			return err
		}
	}
	return nil
}
