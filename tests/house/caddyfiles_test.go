package house

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/schema"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/schematest"
)

// What users copy from the documentation must work unchanged.
func TestDocumentedCaddyfilesAreValid(t *testing.T) {
	for _, name := range []string{"GATEWAY_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "MISTRAL_API_KEY"} {
		t.Setenv(name, "documented-0123456789-"+name)
	}
	for name, value := range map[string]string{"AZURE_TENANT_ID": "t", "AZURE_CLIENT_ID": "c", "AZURE_FEDERATED_TOKEN_FILE": "/run/token"} { // of a pod
		t.Setenv(name, value)
	}
	example, err := os.ReadFile("../../Caddyfile.example")
	if err != nil {
		t.Fatal(err)
	}
	if got := caddyfile.Format(example); !bytes.Equal(got, example) {
		t.Errorf("caddy fmt would change Caddyfile.example to\n%s", got)
	}
	if !bytes.Contains(example, []byte("listener_wrappers")) {
		t.Error("a reload of Caddyfile.example loses requests")
	}
	validDocument(t, "Caddyfile.example", string(example))
	t.Setenv("OPENAI_API_KEY", "") // the optional ones may be left out
	t.Setenv("ANTHROPIC_API_KEY", "")
	t.Setenv("GEMINI_API_KEY", "")
	t.Setenv("MISTRAL_API_KEY", "")
	validDocument(t, "Caddyfile.example without optional providers", string(example))

	blocks, err := manual.Blocks("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks {
		if block.Kind == "caddyfile" {
			validDocument(t, block.String(), wholeCaddyfile(atHome(t, block.Text)))
		}
	}
}

var (
	envPlaceholder = regexp.MustCompile(`\{(?:env\.|\$)([A-Z0-9_]+)\}`)
	documentedPath = regexp.MustCompile(`/(?:run|etc|var)/[a-z0-9._/-]+`)
)

// atHome sets the variables that a documented text names, and puts its files into the test's own
// folder.
func atHome(t *testing.T, text string) string {
	t.Helper()
	for _, match := range envPlaceholder.FindAllStringSubmatch(text, -1) {
		value := "documented-0123456789-" + match[1]
		switch match[1] {
		case "GATEHOUSE_DSN":
			value = "postgres://gatehouse@127.0.0.1/gatehouse"
		case "DESKTOPS_SECRET":
			value = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
		case "HOSTNAME", "INSTANCE":
			value = "gw-1"
		}
		t.Setenv(match[1], value)
	}
	dir := t.TempDir()
	return documentedPath.ReplaceAllStringFunc(text, func(path string) string {
		there := filepath.Join(dir, path)
		content := "documented-0123456789-" + path
		switch {
		case strings.HasSuffix(path, "service-account.json"):
			content = `{"type": "service_account"}`
		case strings.HasSuffix(path, ".json"):
			content = `{"models": [{"id": "acme/small"}]}`
		}
		err := os.MkdirAll(filepath.Dir(there), 0o700)
		if err == nil {
			err = os.WriteFile(there, []byte(content), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return there
	})
}

// wholeCaddyfile completes a documented part: options of the gatehouse block, a global option, a site, or
// directives of one.
func wholeCaddyfile(part string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(part), "\n")
	word := strings.Fields(first + " ?")[0]
	const site = "\nhttp://:8080 {\n\tbind 127.0.0.1\n\tgatehouse\n}\n"
	switch {
	case slices.Contains([]string{"key", "provider", "guardrail", "guardrails", "catalog", "timeouts", "activity", "body_memory", "answer_memory", "data_dir", "cluster"}, word):
		return "{\n\tgatehouse {\n" + part + "\n\t}\n}\n" + site
	case word == "gatehouse" && strings.HasSuffix(first, "{"):
		return "{\n" + part + "\n}\n" + site
	case strings.Contains(word, ".") && strings.HasSuffix(first, "{"):
		return "{\n\tgatehouse\n}\n" + part
	case strings.HasPrefix(word, "gatehouse"), word == "@preflight", word == "route", word == "log":
		return "{\n\tgatehouse\n}\nhttp://:8080 {\n\tbind 127.0.0.1\n" + part + "\n}\n"
	}
	return part
}

func validDocument(t *testing.T, name, text string) {
	t.Helper()
	config, err := adaptText(text)
	if err == nil {
		if err := schemaOfConfigurations(t).Check(config); err != nil {
			t.Errorf("%s: by caddy gatehouse schema: %v", name, err)
		}
		var parsed caddy.Config
		if err = json.Unmarshal(config, &parsed); err == nil {
			err = caddy.Validate(&parsed)
		}
	}
	if err != nil {
		t.Errorf("%s: %v, in\n%s", name, err, text)
	}
}

var madeSchema = sync.OnceValues(schema.Make)

func schemaOfConfigurations(t *testing.T) schematest.Schema {
	t.Helper()
	text, err := madeSchema()
	if err != nil {
		t.Fatal(err)
	}
	return schematest.Compile(t, text, "")
}

func adaptText(text string) ([]byte, error) {
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	return config, err
}
