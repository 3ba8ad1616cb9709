package house

import (
	"go/types"
	"reflect"
	"strings"
)

// object is what a reader of one type has to know. What it embeds is a part of it, with all it has.
// Only what a test embeds of the product is not: that is what it tests, and is counted there.
type object struct {
	fields   map[string]bool // but for those with a JSON name
	methods  map[string]bool
	exported int             // methods
	files    map[string]bool // with methods of its own
	open     bool            // all its fields are exported
	parts    []string        // itself, and then the types that it embeds
}

// embedded says what a figure has in it besides the type's own.
func (o *object) embedded() string {
	if len(o.parts) == 1 {
		return ""
	}
	return "it embeds " + strings.Join(o.parts[1:], ", ")
}

// behaves reports whether the type does something: a type with a single
// method, as a configuration's Provision or a record's String, is data.
func (o *object) behaves() bool { return len(o.methods) > 1 }

// objects are the types that the unit declares.
func (u unit) objects() map[string]*object {
	found := map[string]*object{}
	for _, spec := range u.typeSpecs() {
		named := u.named(spec.Name.Name)
		if named == nil {
			continue
		}
		o := &object{fields: map[string]bool{}, methods: map[string]bool{}, files: map[string]bool{}, open: true}
		o.add(named, u.counts, map[*types.TypeName]bool{})
		found[spec.Name.Name] = o
	}
	for _, method := range u.methods() {
		if o := found[method.of]; o != nil {
			o.files[method.file.path] = true
		}
	}
	return found
}

// counts reports whether what a type has is a part of the unit's types that embed it.
func (u unit) counts(embedded *types.TypeName) bool {
	return !u.files[0].isTest() || isTest(u.set.Position(embedded.Pos()).Filename)
}

// add adds what a type has, and then what it embeds. A name that hides another one counts once.
func (o *object) add(t types.Type, counts func(*types.TypeName) bool, seen map[*types.TypeName]bool) {
	if pointer, ok := types.Unalias(t).(*types.Pointer); ok {
		t = pointer.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || seen[named.Origin().Obj()] || !counts(named.Obj()) {
		return
	}
	seen[named.Origin().Obj()] = true
	o.parts = append(o.parts, named.Obj().Name())
	for method := range named.Methods() {
		o.addMethod(method)
	}
	switch body := named.Underlying().(type) {
	case *types.Interface:
		for method := range body.Methods() {
			o.addMethod(method)
		}
	case *types.Struct:
		for i := range body.NumFields() {
			field := body.Field(i)
			// The fields of a configuration or a wire body are independent of one another.
			if reflect.StructTag(body.Tag(i)).Get("json") != "" {
				continue
			}
			o.fields[field.Id()] = true
			if field.Embedded() {
				o.add(field.Type(), counts, seen)
			} else if !field.Exported() {
				o.open = false
			}
		}
	}
}

func (o *object) addMethod(method *types.Func) {
	if !o.methods[method.Id()] && method.Exported() {
		o.exported++
	}
	o.methods[method.Id()] = true
}
