package house

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// make licenses renews the page from the program; here it is compared with what go.mod gives to the
// packages that are linked in.
func TestThePageOfLicencesHasEveryModule(t *testing.T) {
	page, err := os.ReadFile("../../docs/licenses.md")
	if err != nil {
		t.Fatal(err)
	}
	// -e: a package of caddy-l4 that the tests do not link has no hash in go.sum.
	list := exec.CommandContext(t.Context(), "go", "list", "-e", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}}{{end}}",
		"../../caddymodule", "github.com/caddyserver/caddy/v2/cmd", "github.com/caddyserver/caddy/v2/modules/standard", "github.com/mholt/caddy-l4")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		path, version, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || version == "" || seen[path] { // the standard library, ourselves
			continue
		}
		seen[path] = true
		if !strings.Contains(string(page), "\n| "+path+" | "+version+" | ") {
			t.Errorf("docs/licenses.md does not have %s %s (make licenses)", path, version)
		}
	}
	if len(seen) < 50 {
		t.Errorf("%d modules are linked in", len(seen))
	}
	if row := "\n| @novnc/novnc | " + vendoredVersion(t) + " | BSD-2-Clause, MIT, MPL-2.0 |\n"; !strings.Contains(string(page), row) {
		t.Errorf("docs/licenses.md does not have the row %q (make licenses)", row)
	}
	if strings.Contains(string(page), "GPL") {
		t.Error("a module has a licence that the program's own cannot go with")
	}
}

// vendoredVersion is the version of the browser library that the console has.
func vendoredVersion(t *testing.T) string {
	t.Helper()
	var vendor struct {
		Version string `json:"version"`
	}
	data, err := os.ReadFile("../../internal/console/novnc/vendor.json")
	if err == nil {
		err = json.Unmarshal(data, &vendor)
	}
	if err != nil {
		t.Fatal(err)
	}
	return vendor.Version
}
