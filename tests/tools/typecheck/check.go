package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// maxErrors bounds what is shown of one platform: more would not help.
const maxErrors = 20

// listed is what go list prints of a package.
type listed struct {
	ImportPath string
	Dir        string
	GoFiles    []string
	ImportMap  map[string]string
	Error      *struct{ Err string }
}

// check type-checks the packages and all that they import for one platform and returns their
// number.
func check(dir string, patterns []string, target string) (int, error) {
	system, arch, ok := strings.Cut(target, "/")
	sizes := types.SizesFor("gc", arch)
	if !ok || sizes == nil {
		return 0, errors.New("a platform is written GOOS/GOARCH, such as linux/386")
	}
	packages, err := list(dir, patterns, system, arch)
	if err != nil {
		return 0, err
	}
	c := &checker{sizes: sizes, done: map[string]*types.Package{"unsafe": types.Unsafe}}
	for _, p := range packages {
		if p.ImportPath != "unsafe" {
			c.check(p)
		}
	}
	return len(packages), errors.Join(c.errs...)
}

// list returns the packages with all that they import, each after what it imports.
func list(dir string, patterns []string, system, arch string) ([]*listed, error) {
	cmd := exec.Command("go", append([]string{"list", "-e", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Error"}, patterns...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var packages []*listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(listed)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("reading the list: %w", err)
		}
		if p.Error != nil {
			return nil, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		packages = append(packages, p)
	}
}

type checker struct {
	sizes types.Sizes
	done  map[string]*types.Package
	names map[string]string // of the package that is checked: how it writes an import
	errs  []error
}

// Import is for types.Importer.
func (c *checker) Import(path string) (*types.Package, error) {
	if mapped := c.names[path]; mapped != "" {
		path = mapped
	}
	if p := c.done[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%q was not listed", path)
}

func (c *checker) check(p *listed) {
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.fail(err)
			return
		}
		parsed = append(parsed, f)
	}
	c.names = p.ImportMap
	config := types.Config{Importer: c, Sizes: c.sizes, Error: c.fail}
	c.done[p.ImportPath], _ = config.Check(p.ImportPath, files, parsed, nil) // errors went to fail
}

func (c *checker) fail(err error) {
	if len(c.errs) < maxErrors {
		c.errs = append(c.errs, err)
	}
}
