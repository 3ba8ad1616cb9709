package house

import (
	"go/ast"
	"go/types"
	"maps"
	"slices"
)

// knots are the types of the unit that know one another in a circle: each reaches each. None of
// them can be read, tested or replaced without the others.
func (u unit) knots() (found [][]string) {
	known := u.known()
	reached := map[string]map[string]bool{}
	for name := range known {
		reached[name] = map[string]bool{}
		reach(known, name, reached[name])
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		var knot []string
		for other := range reached[name] {
			if reached[other][name] {
				knot = append(knot, other)
			}
		}
		slices.Sort(knot)
		if len(knot) > 1 && knot[0] == name {
			found = append(found, knot)
		}
	}
	return found
}

// reach adds what a type or a package knows, and what that knows.
func reach(known map[string]map[string]bool, name string, reached map[string]bool) {
	for next := range known[name] {
		if !reached[next] {
			reached[next] = true
			reach(known, next, reached)
		}
	}
}

// known are, by the name of each type of the unit, the other ones that a reader of its declaration
// and its methods meets: as a field, a parameter, or what a method makes, takes or calls with.
func (u unit) known() map[string]map[string]bool {
	known := map[string]map[string]bool{}
	meet := func(name string, node ast.Node) {
		ast.Inspect(node, func(n ast.Node) bool {
			if ident, ok := n.(*ast.Ident); ok && u.uses[ident] != nil {
				u.parts(u.uses[ident].Type(), func(met string) {
					if known[met] != nil && met != name {
						known[name][met] = true
					}
				})
			}
			return true
		})
	}
	specs := u.typeSpecs()
	for _, spec := range specs {
		known[spec.Name.Name] = map[string]bool{}
	}
	for _, spec := range specs {
		meet(spec.Name.Name, spec.Type)
	}
	for _, method := range u.methods() {
		if known[method.of] != nil {
			meet(method.of, method.decl)
		}
	}
	return known
}

// parts calls visit with the named types of the unit's package that a type is made of.
func (u unit) parts(t types.Type, visit func(name string)) {
	each := func(tuple *types.Tuple) {
		for v := range tuple.Variables() {
			u.parts(v.Type(), visit)
		}
	}
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		if t.Obj().Parent() == u.types.Scope() {
			visit(t.Obj().Name())
		}
		for argument := range t.TypeArgs().Types() {
			u.parts(argument, visit)
		}
	case interface{ Elem() types.Type }: // a pointer, slice, array, map or channel
		u.parts(t.Elem(), visit)
		if m, ok := t.(*types.Map); ok {
			u.parts(m.Key(), visit)
		}
	case *types.Signature:
		each(t.Params())
		each(t.Results())
	case *types.Struct:
		for field := range t.Fields() {
			u.parts(field.Type(), visit)
		}
	}
}
