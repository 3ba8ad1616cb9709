package operator

import (
	"bytes"
	"encoding/json"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/schema"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/schematest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
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
	"SOURCE_SECRET": "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", "SOURCE_OLD_SECRET": "whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4",
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
	if text, err := schema.Make(); err != nil {
		t.Error(err)
	} else if err := schematest.Compile(t, text, "").Check(config); err != nil {
		t.Errorf("by caddy gatehouse schema: %v, for\n%s", err, input)
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
	before := append(filesBelow(t, dir), filesBelow(t, os.Getenv(harness.HomeEnv))...)
	var parsed caddy.Config
	if err := json.Unmarshal(config, &parsed); err != nil {
		t.Fatal(err)
	}
	failure := caddy.Validate(&parsed)
	after := append(filesBelow(t, dir), filesBelow(t, os.Getenv(harness.HomeEnv))...)
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
	h := harness.Start(t, harness.Setup{Keys: "key full {\nsecret " + harness.Secret("full") + "\nscopes chat:write\n}"})
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("test/echo", "")); a.Status != 200 {
		t.Errorf("status %d", a.Status)
	}
	lines := harness.Log.Lines("a secret is written in the configuration itself")
	if len(lines) != 1 || !strings.Contains(lines[0], `key \"full\"`) || strings.Contains(lines[0], harness.Secret("full")) {
		t.Errorf("warnings %q", lines)
	}
}
