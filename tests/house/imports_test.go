package house

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/gatehouse-proxy/gatehouse/"

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
	allowed := map[[2]string]bool{}
	for _, a := range arrows {
		key := [2]string{a.from, a.to}
		if _, twice := allowed[key]; twice || a.why == "" {
			t.Errorf("%s -> %s is given twice or without a reason", a.from, a.to)
		}
		allowed[key] = false
	}
	for _, file := range goFiles(t) {
		if strings.HasSuffix(file.path, "_test.go") {
			continue
		}
		for _, spec := range file.ast.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			to, watched := destination(path)
			key := [2]string{filepath.ToSlash(filepath.Dir(file.path)), to}
			if !watched || key[0] == to {
				continue
			}
			if _, ok := allowed[key]; !ok {
				t.Errorf("%s: %s imports %s, which the table does not allow", file.path, key[0], to)
			}
			allowed[key] = true
		}
	}
	for key, used := range allowed {
		if !used {
			t.Errorf("the table allows %s -> %s, which nobody uses", key[0], key[1])
		}
	}
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
