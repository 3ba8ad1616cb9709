package house

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// longest is how many lines a file may have; exceptions give their reason.
const longest = 300

var longFiles = map[string]string{
	"internal/testprovider/faults/oddities_test.go": "one function for each oddity, read one at a time",
}

func TestFilesAreShort(t *testing.T) {
	unused := maps.Clone(longFiles)
	for _, file := range goFiles(t) {
		if file.lines <= longest || isTable(file.ast) {
			continue
		}
		if _, ok := longFiles[file.path]; !ok {
			t.Errorf("%s has %d lines, more than %d: split it, or say here why not", file.path, file.lines, longest)
		}
		delete(unused, file.path)
	}
	for path := range unused {
		t.Errorf("%s is short and needs no exception", path)
	}
}

// isTable reports whether a file declares nothing but one variable with a list. Cut in two, a list
// would only be harder to read.
func isTable(file *ast.File) bool {
	decls := slices.DeleteFunc(slices.Clone(file.Decls), func(decl ast.Decl) bool {
		gen, ok := decl.(*ast.GenDecl)
		return ok && gen.Tok == token.IMPORT
	})
	if len(decls) != 1 {
		return false
	}
	gen, ok := decls[0].(*ast.GenDecl)
	if !ok || gen.Tok != token.VAR || len(gen.Specs) != 1 {
		return false
	}
	spec := gen.Specs[0].(*ast.ValueSpec)
	if len(spec.Values) != 1 {
		return false
	}
	_, list := spec.Values[0].(*ast.CompositeLit)
	return list
}

func TestATableIsOneVariableWithAList(t *testing.T) {
	for text, want := range map[string]bool{
		"import \"time\"\nvar rows = []int{1, 2}":    true,
		"var rows = map[string]int{}":                true,
		"var rows = []int{1}\nvar more = []int{2}":   false,
		"var (\nrows = []int{1}\nmore = []int{2}\n)": false,
		"var rows = []int{1}\nfunc f() {}":           false,
		"var rows = made()":                          false,
		"const rows = 1":                             false,
		"":                                           false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+text, 0)
		if err != nil {
			t.Fatal(err)
		}
		if isTable(file) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

func TestTestsDoNotSleep(t *testing.T) {
	for _, file := range goFiles(t) {
		if !strings.HasSuffix(file.path, "_test.go") || importsSynctest(file.ast) {
			continue // under synctest nobody waits
		}
		ast.Inspect(file.ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					t.Errorf("%s sleeps: wait for what it waits for", file.path)
				}
			}
			return true
		})
	}
}

func importsSynctest(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"testing/synctest"` })
}

// builtHere are texts that tie the repository to where it was made. They are put together here, so
// that this file passes its own test.
var builtHere = regexp.MustCompile(strings.Join([]string{
	"/" + "work/(main|shared)", "/" + "root/", "/" + "home/[a-z]", "/" + "tmp/(brief|bash)", "GO" + "PROXY=http",
	`https?://(10|192\.168|172\.(1[6-9]|2\d|3[01]))\.[\d.]+(:\d+)?/` + `(simple|repository|artifactory|npm|go)`,
}, "|"))

func TestNothingNamesWhereItWasBuilt(t *testing.T) {
	seen := 0
	walk(t, func(path string) {
		f, err := os.Open(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 4<<20)
		for n := 1; lines.Scan(); n++ {
			if found := builtHere.FindString(lines.Text()); found != "" {
				t.Errorf("%s:%d: %q", path, n, found)
			}
		}
		if err := lines.Err(); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		seen++
	})
	if seen < 100 {
		t.Errorf("only %d files were looked at", seen)
	}
}

// root is the repository, seen from this package.
const root = "../.."

// notOurs are names of files that are not in the repository, or not written by hand.
var notOurs = []string{".git", ".cache", ".try", "node_modules", "testdata", "dist", "__pycache__", "venv"}

// vendored are folders with files of other projects, unmodified.
var vendored = []string{"internal/console/novnc/package"}

// walk calls visit with the repository's own text files.
func walk(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if slices.Contains(notOurs, entry.Name()) {
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil // .git of a work tree
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(vendored, filepath.ToSlash(rel)) {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().IsRegular() && info.Size() < 1<<20 && filepath.Base(rel) != "go.sum" {
			visit(filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

type goFile struct {
	path  string
	ast   *ast.File
	lines int
}

func goFiles(t *testing.T) (files []goFile) {
	t.Helper()
	set := token.NewFileSet()
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		parsed, err := parser.ParseFile(set, filepath.Join(root, path), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, goFile{path, parsed, set.File(parsed.Pos()).LineCount()})
	})
	if len(files) < 100 {
		t.Fatalf("only %d Go files were found", len(files))
	}
	return files
}
