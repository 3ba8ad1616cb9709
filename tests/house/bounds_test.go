package house

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// bounds are what a reader has to know of one file, type or package at a time.
var bounds = map[string]int{
	"lines":            300, // of a file
	"files":            4,   // with methods of one type
	"fields":           15,  // of a type that does something, with what it embeds
	"methods":          24,  // of a type, with what it embeds
	"exported methods": 12,  // of a type of the product
	"packages":         8,   // of ours that one package imports
	"knot":             4,   // types of one package that know one another in a circle
	"wide comments":    0,   // lines of a folder's files, tests too, over commentColumns
	"wide code":        0,   // lines of a folder's files, without tests, over codeColumns
}

// composers put the others together: they import what they need.
var composers = []string{"internal/gateway", "internal/features/cluster", "caddymodule", "caddymodule/core", "caddymodule/identity",
	"caddymodule/mcp"}

// shrink rewrites the lists of exceptions: figures fall to what the code has, and rows of what is
// within its bound go. It never raises a figure, never adds a row, and keeps rows whose name is
// gone.
var shrink = flag.Bool("shrink", false, "lower the figures in the lists of exceptions")

// row is an exception: the name of a figure, and how large it may be.
type row struct {
	name string
	most int
}

// figure is the size of something that has a bound.
type figure struct {
	size int
	test bool   // of tests, and not of the product
	has  string // what is counted, if it can be named
}

// figures are named "internal/store.Store: fields".
type figures map[string]figure

func (s source) figures() figures {
	found := figures{}
	for _, file := range s.files {
		if !isTable(file.ast) {
			found[file.path+": lines"] = figure{size: file.lines, test: file.isTest()}
		}
	}
	addWidths(s.files, found)
	for name, imported := range s.imports() {
		if !slices.Contains(composers, name) {
			has := strings.Join(slices.Sorted(maps.Keys(imported)), ", ")
			found[name+": packages"] = figure{len(imported), isTest(name + "/"), has}
		}
	}
	for _, u := range s.units() {
		if len(u.files) == 0 {
			continue
		}
		test := u.files[0].isTest()
		for name, o := range u.objects() {
			if !o.behaves() {
				continue
			}
			name := u.name + "." + name
			found[name+": files"] = figure{size: len(o.files), test: test}
			found[name+": methods"] = figure{len(o.methods), test, o.embedded()}
			if !test { // there it only says in which folder the callers are
				found[name+": exported methods"] = figure{o.exported, test, o.embedded()}
			}
			if !o.open { // the fields of a row or of options are independent of one another
				found[name+": fields"] = figure{len(o.fields), test, o.embedded()}
			}
		}
		var largest []string
		for _, knot := range u.knots() {
			if len(knot) > len(largest) {
				largest = knot
			}
		}
		name := u.name
		if strings.HasSuffix(u.files[0].path, "_test.go") && !strings.HasSuffix(name, "_test") {
			name += ", its tests"
		}
		found[name+": knot"] = figure{len(largest), test, strings.Join(largest, ", ")}
	}
	return found
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

// bound is the bound of a figure by its name.
func bound(name string) int { return bounds[name[strings.LastIndex(name, ": ")+2:]] }

// judge compares the figures with their bounds. What is excepted may be as large as its row, and no
// row may be larger than it must.
func (all figures) judge(exceptions []row) (failures []string) {
	fail := func(format string, values ...any) {
		failures = append(failures, fmt.Sprintf(format, values...))
	}
	excepted := map[string]int{}
	for _, e := range exceptions {
		f, ok := all[e.name]
		switch {
		case excepted[e.name] > 0:
			fail("%s: has two rows", e.name)
		case !ok:
			fail("%s: nothing has this name any more: remove its row, or give it the new name", e.name)
		case f.size <= bound(e.name):
			fail("%s: %d is within the bound of %d: remove its row", e.name, f.size, bound(e.name))
		case f.size < e.most:
			fail("%s: %d is better than its row: write {%q, %d}", e.name, f.size, e.name, f.size)
		}
		excepted[e.name] = e.most
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if f, most := all[name], max(bound(name), excepted[name]); f.size > most {
			fail("%s: %d, more than %d: %s%s", name, f.size, most, remedy(name), f.parts())
		}
	}
	return failures
}

// remedy says what to do about a figure that is too large.
func remedy(name string) string {
	if isWidth(name) {
		return "break the lines that are new"
	}
	return "split it"
}

func (f figure) parts() string {
	if f.has == "" {
		return ""
	}
	return " (" + f.has + ")"
}

// shrunk is the text of a list of exceptions with no figure larger than it must be.
func (all figures) shrunk(text string) string {
	return exceptionRow.ReplaceAllStringFunc(text, func(line string) string {
		parts := exceptionRow.FindStringSubmatch(line)
		most, _ := strconv.Atoi(parts[2])
		f, ok := all[parts[1]]
		switch {
		case !ok:
			return line
		case f.size <= bound(parts[1]):
			return ""
		}
		return fmt.Sprintf("\t{%q, %d}%s", parts[1], min(most, f.size), parts[3])
	})
}

var exceptionRow = regexp.MustCompile(`(?m)^\t\{"(.+)", (\d+)\}(,.*\n)`)

var repositoryFigures = sync.OnceValue(func() figures { return repository.figures() })

func TestFilesAreShortAndObjectsAreSmall(t *testing.T) {
	goFiles(t)
	all := repositoryFigures()
	if *shrink {
		for _, list := range []string{"exceptions_test.go", "wide_test.go"} {
			text, err := os.ReadFile(list)
			if err == nil {
				err = os.WriteFile(list, []byte(all.shrunk(string(text))), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return
	}
	for _, failure := range all.judge(slices.Concat(exceptions, wide)) {
		t.Error(failure)
	}
	if len(all) < 3000 {
		t.Errorf("only %d figures were looked at", len(all))
	}
}
