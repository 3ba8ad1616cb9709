package house

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gatehouse-proxy/gatehouse/"

// testkit is the folder of the packages that only tests and their programs use.
const testkit = "internal/testkit/"

type arrow struct{ from, to, why string }

// foreign are the frameworks whose imports are checked.
var foreign = map[string]string{
	"github.com/caddyserver/caddy/v2":      "caddy",
	"github.com/mholt/caddy-l4":            "caddy-l4",
	"github.com/caddyserver/certmagic":     "certmagic",
	"modernc.org/sqlite":                   "sqlite",
	"github.com/prometheus/client_golang":  "prometheus",
	"github.com/rogpeppe/go-internal":      "testscript",
	"go.opentelemetry.io/otel":             "otel",
	"github.com/valkey-io/valkey-go":       "valkey-go",
	"github.com/coder/websocket":           "websocket",
	"github.com/jackc/pgx/v5":              "pgx",
	"github.com/gatehouse-proxy/gatehouse": "",
}

func TestPackagesImportOnlyWhatTheTableSays(t *testing.T) {
	goFiles(t)
	for _, failure := range wrongArrows(repository, arrows) {
		t.Error(failure)
	}
}

// wrongArrows compares the imports outside tests with a table of arrows.
func wrongArrows(s source, table []arrow) (failures []string) {
	fail := func(format string, values ...any) {
		failures = append(failures, fmt.Sprintf(format, values...))
	}
	used := map[[2]string]bool{}
	for _, a := range table {
		key := [2]string{a.from, a.to}
		if _, twice := used[key]; twice || a.why == "" {
			fail("%s -> %s is given twice or without a reason", a.from, a.to)
		}
		used[key] = false
	}
	for _, file := range s.files {
		if strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		for _, spec := range file.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			to, watched := destination(path)
			key := [2]string{file.folder(), to}
			if !watched || key[0] == to {
				continue
			}
			if _, ok := used[key]; !ok {
				fail("%s: %s imports %s, which the table does not allow", file.path, key[0], to)
			}
			used[key] = true
		}
	}
	for _, a := range table {
		if !used[[2]string{a.from, a.to}] {
			fail("the table allows %s -> %s, which nobody uses", a.from, a.to)
		}
	}
	return failures
}

// destination is the package or the framework of an import path.
func destination(path string) (to string, watched bool) {
	if pkg, ours := strings.CutPrefix(path, module); ours {
		return pkg, true
	}
	for prefix, name := range foreign {
		if name != "" && (path == prefix || strings.HasPrefix(path, prefix+"/")) {
			return name, true
		}
	}
	return "", false
}

// TestProductImportsNoTestkit holds even where the table of arrows was edited.
func TestProductImportsNoTestkit(t *testing.T) {
	goFiles(t)
	for from, imports := range repository.imports() {
		if strings.HasPrefix(from, "tests/") || strings.HasPrefix(from, testkit) {
			continue
		}
		for to := range imports {
			if strings.HasPrefix(to, testkit) {
				t.Errorf("%s is product and imports %s", from, to)
			}
		}
	}
}

// imports are the packages of ours that each package imports, outside tests.
func (s source) imports() map[string]map[string]bool {
	found := map[string]map[string]bool{}
	for _, file := range s.files {
		if strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		if found[file.folder()] == nil {
			found[file.folder()] = map[string]bool{}
		}
		for _, spec := range file.ast.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			if to, ours := strings.CutPrefix(path, module); ours && to != file.folder() {
				found[file.folder()][to] = true
			}
		}
	}
	return found
}
