package translatetest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "write the golden files as they are")

// Golden is a golden file of a test. With -update it takes what the test finds.
type Golden struct {
	Name    string // without folder and suffix
	t       testing.TB
	path    string
	archive *txtar.Archive
}

// ReadGolden reads the golden file testdata/<name>.txtar.
func ReadGolden(t testing.TB, name string) *Golden {
	t.Helper()
	path := filepath.Join("testdata", name+".txtar")
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &Golden{t: t, Name: name, path: path, archive: archive}
}

// Goldens reads all golden files of the package.
func Goldens(t testing.TB) (all []*Golden) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, path := range paths {
		all = append(all, ReadGolden(t, strings.TrimSuffix(filepath.Base(path), ".txtar")))
	}
	return all
}

// Run runs a test of the file, and writes the file with -update.
func (g *Golden) Run(t *testing.T, test func(t *testing.T, g *Golden)) {
	t.Run(g.Name, func(t *testing.T) {
		g.t = t
		test(t, g)
		if *update {
			if err := os.WriteFile(g.path, txtar.Format(g.archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func (g *Golden) find(name string) *txtar.File {
	for i := range g.archive.Files {
		if g.archive.Files[i].Name == name {
			return &g.archive.Files[i]
		}
	}
	return nil
}

// File returns a part of the golden file, "" if there is none.
func (g *Golden) File(name string) string {
	if f := g.find(name); f != nil {
		return string(f.Data)
	}
	return ""
}

// Want compares a part of the golden file with what a test got.
func (g *Golden) Want(name, got string) {
	g.t.Helper()
	f := g.find(name)
	if f != nil && string(f.Data) == got {
		return
	}
	if !*update {
		g.t.Errorf("%s: got\n%s", name, got)
		return
	}
	if f == nil {
		g.archive.Files = append(g.archive.Files, txtar.File{Name: name})
		f = &g.archive.Files[len(g.archive.Files)-1]
	}
	f.Data = []byte(got)
}

// Seeds returns the parts of this name of all golden files, as seeds of a fuzz test.
func Seeds(f *testing.F, name string) (all []string) {
	for _, g := range Goldens(f) {
		if part := g.find(name); part != nil {
			all = append(all, string(part.Data))
		}
	}
	return all
}

// Indent formats a JSON text for a golden file.
func Indent(t testing.TB, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", " "); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b.String() + "\n"
}
