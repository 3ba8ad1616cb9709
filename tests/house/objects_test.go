package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// What a reader has to know of one object or package at a time. Splitting a
// file does not make an object smaller, so objects have bounds of their own.
const (
	mostMethodFiles     = 4  // files with methods of one type
	mostFields          = 15 // fields of a type with methods, but for those with a JSON name
	mostExportedMethods = 12
	mostPackages        = 8 // packages of ours that one package imports
)

// composers put the others together: they may import what they need.
var composers = []string{"internal/gateway", "internal/modelcall", "caddymodule"}

// tooLarge lists what is above a bound today. A figure may only fall: the test
// fails when the code is better than its row.
var tooLarge = map[string]int{
	"caddymodule.App: files":      14,
	"internal/store.Store: files": 5,
}

// records are data with a few methods: their fields are many because a row has
// many columns.
var records = map[string]string{
	"internal/activity.Record":    "a row of the activity",
	"internal/activity.Filter":    "the parameters of a query",
	"internal/catalog.Model":      "a row of the catalog",
	"internal/workstation.Policy": "the options of the vnc block",
}

func TestObjectsAreSmall(t *testing.T) {
	sizes := map[string]int{}
	for name, o := range objects(t) {
		if o.behaves() {
			sizes[name+": files"] = len(o.files)
			if records[name] == "" {
				sizes[name+": fields"] = o.fields
			}
			sizes[name+": exported methods"] = o.exported
		}
	}
	for name, imported := range imports(t) {
		if !slices.Contains(composers, name) {
			sizes[name+": packages"] = len(imported)
		}
	}
	bounds := map[string]int{
		"files": mostMethodFiles, "fields": mostFields, "exported methods": mostExportedMethods, "packages": mostPackages,
	}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		_, what, _ := strings.Cut(name, ": ")
		size, bound, excepted := sizes[name], bounds[what], tooLarge[name]
		switch {
		case size > max(bound, excepted):
			t.Errorf("%s: %d, more than %d: split it", name, size, max(bound, excepted))
		case excepted > 0 && size <= bound:
			t.Errorf("%s: %d is within the bound of %d: remove its row", name, size, bound)
		case excepted > size:
			t.Errorf("%s: %d is better than its row: write %d there", name, size, size)
		}
	}
	for name := range tooLarge {
		if _, ok := sizes[name]; !ok {
			t.Errorf("%s: nothing has this name any more: remove its row", name)
		}
	}
	if len(sizes) < 300 {
		t.Errorf("only %d figures were looked at", len(sizes))
	}
}

// object is a struct type and its methods, outside tests.
type object struct {
	fields   int
	exported int
	methods  int
	files    map[string]bool
}

// behaves reports whether the type does something: a type with a single
// method, as a configuration's Provision or a record's String, is data.
func (o *object) behaves() bool { return o.methods > 1 }

func objects(t *testing.T) map[string]*object {
	found := map[string]*object{}
	get := func(dir, name string) *object {
		key := dir + "." + name
		if found[key] == nil {
			found[key] = &object{files: map[string]bool{}}
		}
		return found[key]
	}
	for _, file := range productFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(file.path))
		for _, decl := range file.ast.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil {
					continue
				}
				o := get(dir, receiver(decl.Recv.List[0].Type))
				o.methods++
				o.files[file.path] = true
				if decl.Name.IsExported() {
					o.exported++
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						if body, ok := spec.Type.(*ast.StructType); ok {
							get(dir, spec.Name.Name).fields = countFields(body)
						}
					}
				}
			}
		}
	}
	return found
}

// countFields leaves out the fields of a configuration or a wire body: each of those has a JSON
// name and is independent of the others.
func countFields(body *ast.StructType) (n int) {
	for _, field := range body.Fields.List {
		if field.Tag != nil {
			if tag, _ := strconv.Unquote(field.Tag.Value); reflect.StructTag(tag).Get("json") != "" {
				continue
			}
		}
		n += max(1, len(field.Names))
	}
	return n
}

func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return fmt.Sprintf("%T", expr)
}

// imports are the packages of ours that each package imports.
func imports(t *testing.T) map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, file := range productFiles(t) {
		dir := filepath.ToSlash(filepath.Dir(file.path))
		if found[dir] == nil {
			found[dir] = map[string]bool{}
		}
		for _, spec := range file.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := strings.CutPrefix(path, module); ours && to != dir {
				found[dir][to] = true
			}
		}
	}
	return found
}

// productFiles are the Go files that a build of the product takes.
func productFiles(t *testing.T) []goFile {
	files := slices.DeleteFunc(goFiles(t), func(f goFile) bool {
		return strings.HasSuffix(f.path, "_test.go") || strings.HasPrefix(f.path, "tests/")
	})
	slices.SortFunc(files, func(a, b goFile) int { return cmp.Compare(a.path, b.path) })
	return files
}
