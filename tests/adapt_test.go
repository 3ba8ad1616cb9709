package tests

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

// update rewrites the JSON of the goldens. The rest of them is written by hand.
var update = flag.Bool("update", false, "rewrite the JSON in testdata/adapt")

// A golden is a Caddyfile, a line of hyphens, and its JSON or "error: …", which adapting or
// provisioning must fail with. A file may contain several, separated by lines of equals signs. DIR
// is the test's own folder.
const (
	goldenMiddle = "----------\n"
	goldenEnd    = "==========\n"
)

var goldenEnv = map[string]string{
	"KEY": "gk-adapt-0123456789", "NEXT_KEY": "gk-adapt-next-0123456789", "CI_KEY": "gk-adapt-ci-0123456789",
	"PROVIDER_KEY": "pk-adapt-0123456789", "FILED_KEY": "gk-adapt-filed-0123456789", "SHORT_KEY": "elevenchars", "EMPTY_KEY": "", "SPACED_KEY": "two words, spaced",
	"VALKEY_PASSWORD": "p@ss:/w%rd ?#", "DATABASE_PASSWORD": `q'uo\te d`, "DATABASE_DSN": "postgres://gw:hidden-in-dsn@10.0.0.6/gatehouse", "NODE_NAME": "Node-7", "BAD_NODE": "gw_1.example",
	"BAD_DSN": "postgres://gw:hidden-in-bad-dsn@10.0.0.6:port/gatehouse",
}

func TestCaddyfilesAdaptToTheirGoldens(t *testing.T) {
	paths, err := filepath.Glob("testdata/adapt/*.caddytest")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d goldens, %v", len(paths), err)
	}
	for name, value := range goldenEnv {
		t.Setenv(name, value)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".caddytest"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			cases := strings.Split(string(text), goldenEnd)
			for i, c := range cases {
				input, want, ok := strings.Cut(c, goldenMiddle)
				if !ok {
					t.Fatalf("case %d has no line of hyphens", i+1)
				}
				cases[i] = input + goldenMiddle + checkGolden(t, input, want)
			}
			if *update {
				if err := os.WriteFile(path, []byte(strings.Join(cases, goldenEnd)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// checkGolden compares one case and returns the expected text below its hyphens.
func checkGolden(t *testing.T, input, want string) string {
	t.Helper()
	if got := string(caddyfile.Format([]byte(input))); got != input {
		t.Errorf("caddy fmt would change\n%sto\n%s", input, got)
	}
	dir := t.TempDir()
	config, err := adaptText(strings.ReplaceAll(input, "DIR", dir))
	if err == nil {
		err = validateChangesNoFile(t, config, dir)
	}
	if wantErr, refused := strings.CutPrefix(want, "error: "); refused {
		if wantErr = strings.TrimSpace(wantErr); err == nil || !strings.Contains(err.Error(), wantErr) {
			t.Errorf("error %v, want %q, for\n%s", err, wantErr, input)
		}
		for name, value := range goldenEnv {
			if err != nil && value != "" && strings.Contains(err.Error(), value) {
				t.Errorf("the error shows the value of %s: %v", name, err)
			}
		}
		return want
	}
	if err != nil {
		t.Errorf("%v, for\n%s", err, input)
		return want
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, bytes.ReplaceAll(config, []byte(dir), []byte("DIR")), "", "\t"); err != nil {
		t.Fatal(err)
	}
	if got := pretty.String() + "\n"; got != want && !*update {
		t.Errorf("JSON is\n%swant\n%sfor\n%s", got, want, input)
	}
	return pretty.String() + "\n"
}

func adaptText(text string) ([]byte, error) {
	config, _, err := caddyconfig.GetAdapter("caddyfile").Adapt([]byte(text), map[string]any{"filename": "Caddyfile"})
	return config, err
}

// validateChangesNoFile provisions a configuration as `caddy validate` does. Neither dir nor the
// tests' home may have another file afterwards.
func validateChangesNoFile(t *testing.T, config []byte, dir string) error {
	t.Helper()
	before := append(filesBelow(t, dir), filesBelow(t, os.Getenv(homeEnv))...)
	var parsed caddy.Config
	if err := json.Unmarshal(config, &parsed); err != nil {
		t.Fatal(err)
	}
	failure := caddy.Validate(&parsed)
	after := append(filesBelow(t, dir), filesBelow(t, os.Getenv(homeEnv))...)
	if got, want := strings.Join(after, "\n"), strings.Join(before, "\n"); got != want {
		t.Errorf("validating made files; before:\n%s\nafter:\n%s", want, got)
	}
	return failure
}

func filesBelow(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if !strings.Contains(path, "/locks") && !strings.HasSuffix(path, "instance.uuid") && !strings.Contains(path, "/storage") { // Caddy's own files, including its local CA
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// What users copy from the documentation must work unchanged.
func TestDocumentedCaddyfilesAreValid(t *testing.T) {
	for _, name := range []string{"GATEWAY_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY", "MISTRAL_API_KEY"} {
		t.Setenv(name, "documented-0123456789-"+name)
	}
	example, err := os.ReadFile("../Caddyfile.example")
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
	t.Setenv("MISTRAL_API_KEY", "")
	validDocument(t, "Caddyfile.example without optional providers", string(example))

	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("../README.md"); err == nil {
		pages = append(pages, "../README.md")
	}
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range caddyfileBlock.FindAllStringSubmatch(string(page), -1) {
			validDocument(t, path, wholeCaddyfile(atHome(t, block[1])))
		}
	}
}

var (
	caddyfileBlock = regexp.MustCompile("(?ms)^```caddyfile\n(.*?)^```$")
	envPlaceholder = regexp.MustCompile(`\{env\.([A-Z0-9_]+)\}`)
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
		case "HOSTNAME":
			value = "gw-1"
		}
		t.Setenv(match[1], value)
	}
	dir := t.TempDir()
	return documentedPath.ReplaceAllStringFunc(text, func(path string) string {
		there := filepath.Join(dir, path)
		content := "documented-0123456789-" + path
		if strings.HasSuffix(path, ".json") {
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

// wholeCaddyfile completes a documented part: options of the gatehouse block, a global option, or
// directives of a site.
func wholeCaddyfile(part string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(part), "\n")
	word := strings.Fields(first + " ?")[0]
	const site = "\nhttp://:8080 {\n\tbind 127.0.0.1\n\tgatehouse\n}\n"
	switch {
	case word == "key", word == "provider", word == "catalog", word == "timeouts", word == "activity", word == "body_memory", word == "answer_memory", word == "data_dir", word == "cluster":
		return "{\n\tgatehouse {\n" + part + "\n\t}\n}\n" + site
	case word == "gatehouse" && strings.HasSuffix(first, "{"):
		return "{\n" + part + "\n}\n" + site
	case strings.HasPrefix(word, "gatehouse"), word == "@preflight", word == "route", word == "log":
		return "{\n\tgatehouse\n}\nhttp://:8080 {\n\tbind 127.0.0.1\n" + part + "\n}\n"
	}
	return part
}

func validDocument(t *testing.T, name, text string) {
	t.Helper()
	config, err := adaptText(text)
	if err == nil {
		var parsed caddy.Config
		if err = json.Unmarshal(config, &parsed); err == nil {
			err = caddy.Validate(&parsed)
		}
	}
	if err != nil {
		t.Errorf("%s: %v, in\n%s", name, err, text)
	}
}

// JSON is the native format, so it is read as strictly as the Caddyfile.
func TestUnknownJSONFieldsAreRefused(t *testing.T) {
	for name, app := range map[string]string{
		"of the app":      `{"key":[]}`,
		"of a key":        `{"keys":[{"name":"dev","secret":"x"}]}`,
		"of a transport":  `{"providers":[{"name":"acme","base_url":"https://acme.example/v1","models":["m"],"transport":{"protocol":"http","dial_timout":1}}]}`,
		"other transport": `{"providers":[{"name":"acme","base_url":"https://acme.example/v1","models":["m"],"transport":{"protocol":"fastcgi"}}]}`,
	} {
		var config caddy.Config
		if err := json.Unmarshal([]byte(`{"apps":{"gatehouse":`+app+`}}`), &config); err != nil {
			t.Fatal(err)
		}
		if err := caddy.Validate(&config); err == nil || !strings.Contains(err.Error(), "unknown field") && !strings.Contains(err.Error(), "only the http transport is possible") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestALiteralSecretWorksAndIsWarnedAbout(t *testing.T) {
	h := start(t, setup{keys: "key full {\nsecret " + secretOf("full") + "\nscopes chat:write\n}"})
	if a := h.post(chatV1, "full", chat("test/echo", "")); a.status != 200 {
		t.Errorf("status %d", a.status)
	}
	lines := h.logLines("a secret is written in the configuration itself")
	if len(lines) != 1 || !strings.Contains(lines[0], `key \"full\"`) || strings.Contains(lines[0], secretOf("full")) {
		t.Errorf("warnings %q", lines)
	}
}
