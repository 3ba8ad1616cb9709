package described

import (
	"strings"
	"testing"

	_ "github.com/gatehouse-proxy/gatehouse/caddymodule" // all features
	"github.com/gatehouse-proxy/gatehouse/handlers"
)

// A route of a new feature needs a description: a row in handlers/openapi.
func TestEachRouteOfTheBuildIsDescribed(t *testing.T) {
	d, err := readDescription()
	if err != nil {
		t.Fatal(err)
	}
	methods := map[string]map[string]describedOperation{}
	for _, p := range d.paths {
		methods[p.path] = p.methods
	}
	rows := handlers.Routes()
	for _, r := range rows {
		if handlers.IsOpen(r.Operation) { // it describes itself (RFC 8414)
			continue
		}
		path := r.Path
		if strings.HasSuffix(path, "/") {
			path += "{model}"
		}
		method := strings.ToLower(r.Operation.Method)
		if path == "/v1/workstations/sync" && method != "post" { // the workstation with this name
			path = "/v1/workstations/{id}"
		}
		if methods[path][method].ID == "" {
			t.Errorf("%s %s is not described", r.Operation.Method, path)
		}
	}
	if len(rows) < 90 {
		t.Errorf("%d routes", len(rows))
	}
}
