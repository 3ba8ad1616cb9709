package house

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// unit is what the compiler takes as one package: the files of a folder, the same with its tests,
// or its tests from outside.
type unit struct {
	name  string   // the folder; with "_test" for tests from outside
	files []goFile // whose types and methods are counted
	checked
}

type checked struct {
	set   *token.FileSet
	types *types.Package
	uses  map[*ast.Ident]types.Object
}

// checker checks the types of the packages of one source. What comes from other modules, the
// standard library included, is unknown to it: a program is understood without that.
type checker struct {
	source  source
	folders map[string]*folder
	known   map[string]checked
}

type folder struct{ plain, inside, outside []goFile } // inside and outside are tests

// units are all packages of a source, sorted by name.
func (s source) units() (all []unit) {
	c := &checker{s, map[string]*folder{}, map[string]checked{}}
	for _, file := range s.files {
		f := c.folders[file.folder()]
		if f == nil {
			f = &folder{}
			c.folders[file.folder()] = f
		}
		switch {
		case !strings.HasSuffix(file.path, "_test.go"):
			f.plain = append(f.plain, file)
		case strings.HasSuffix(file.ast.Name.Name, "_test"):
			f.outside = append(f.outside, file)
		default:
			f.inside = append(f.inside, file)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.folders)) {
		f := c.folders[name]
		all = append(all, unit{name, f.plain, c.plain(name)})
		if len(f.inside) > 0 {
			all = append(all, unit{name, f.inside, c.check(name, slices.Concat(f.plain, f.inside))})
		}
		if len(f.outside) > 0 {
			all = append(all, unit{name + "_test", f.outside, c.check(name+"_test", f.outside)})
		}
	}
	return all
}

// Import implements [types.Importer].
func (c *checker) Import(name string) (*types.Package, error) {
	if name, ours := strings.CutPrefix(name, module); ours && c.folders[name] != nil {
		return c.plain(name).types, nil
	}
	pkg := types.NewPackage(name, path.Base(name))
	pkg.MarkComplete()
	return pkg, nil
}

// plain is the package that others import.
func (c *checker) plain(name string) checked {
	if _, ok := c.known[name]; !ok {
		c.known[name] = c.check(name, c.folders[name].plain)
	}
	return c.known[name]
}

func (c *checker) check(name string, files []goFile) checked {
	config := types.Config{Importer: c, FakeImportC: true, Error: func(error) {}} // names that are unknown
	var parsed []*ast.File
	for _, file := range files {
		parsed = append(parsed, file.ast)
	}
	uses := map[*ast.Ident]types.Object{}
	pkg, _ := config.Check(module+name, c.source.set, parsed, &types.Info{Uses: uses})
	return checked{c.source.set, pkg, uses}
}

// typeSpecs are the types that the files of the unit declare, outside functions.
func (u unit) typeSpecs() (specs []*ast.TypeSpec) {
	for _, file := range u.files {
		for _, decl := range file.ast.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok && !spec.Assign.IsValid() {
						specs = append(specs, spec)
					}
				}
			}
		}
	}
	return specs
}

// named is the type of a name of the package, and nil if it has none of that name.
func (u unit) named(name string) *types.Named {
	object := u.types.Scope().Lookup(name)
	if object == nil {
		return nil
	}
	named, _ := object.Type().(*types.Named)
	return named
}

// method is a method and the name of its type.
type method struct {
	of   string
	file goFile
	decl *ast.FuncDecl
}

// methods are the methods that the files of the unit declare.
func (u unit) methods() (all []method) {
	for _, file := range u.files {
		for _, decl := range file.ast.Decls {
			if decl, ok := decl.(*ast.FuncDecl); ok && decl.Recv != nil {
				all = append(all, method{receiver(decl.Recv.List[0].Type), file, decl})
			}
		}
	}
	return all
}

func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}
