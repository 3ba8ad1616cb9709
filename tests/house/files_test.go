package house

import (
	"bytes"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

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
		text, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range builtHere.FindAllIndex(text, -1) {
			line := 1 + bytes.Count(text[:found[0]], []byte("\n"))
			t.Errorf("%s:%d: %q", path, line, text[found[0]:found[1]])
		}
		seen++
	})
	if seen < 100 {
		t.Errorf("only %d files were looked at", seen)
	}
}
