package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

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

// goFile is a parsed Go file; its path is relative to the repository.
type goFile struct {
	path  string
	ast   *ast.File
	lines int
	wide  wideLines
}

func (f goFile) isTest() bool { return isTest(f.path) }

// isTest reports whether no build of the product takes a file.
func isTest(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "tests/")
}

// folder is the folder of the file, which is also the name of its package.
func (f goFile) folder() string { return filepath.ToSlash(filepath.Dir(f.path)) }

// source is Go code: of the repository, or invented by a test of these tests.
type source struct {
	set   *token.FileSet
	files []goFile
}

func (s *source) parse(path string, text []byte) error {
	parsed, err := parser.ParseFile(s.set, path, text, parser.ParseComments)
	if err == nil {
		s.files = append(s.files, goFile{path, parsed, s.set.File(parsed.Pos()).LineCount(), findWide(text)})
	}
	return err
}

var (
	repository     source
	readRepository sync.Once
)

// goFiles are all Go files of the repository, in the order of their paths.
func goFiles(t *testing.T) []goFile {
	t.Helper()
	readRepository.Do(func() {
		repository.set = token.NewFileSet()
		walk(t, func(path string) {
			if !strings.HasSuffix(path, ".go") {
				return
			}
			text, err := os.ReadFile(filepath.Join(root, path))
			if err == nil {
				err = repository.parse(path, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		})
	})
	if len(repository.files) < 100 {
		t.Fatalf("only %d Go files were found", len(repository.files))
	}
	return repository.files
}
