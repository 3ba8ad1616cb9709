package operator

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
)

// kinds run a block by the first word after its fence.
var kinds = map[string]func(*reader, manual.Block) error{
	"sh":      (*reader).script,   // commands, which must succeed
	"console": (*reader).session,  // commands after "$ ", each with its output
	"http":    (*reader).exchange, // "METHOD /path", header and body; after an empty line the answer
	"json":    (*reader).json,     // alone, "json METHOD /path" for an answer, "json OPTION" for a file of that option
	"python":  (*reader).python,
}

// exception is for blocks that this test does not run.
type exception struct {
	page string // "" for all pages
	what string // their kind, or a text in their first line; "" for all
	why  string // the file of the test that runs them, or the reason why none does
}

func (e exception) covers(b manual.Block, kind string) bool {
	return (e.page == "" || e.page == b.Page) && (e.what == "" || e.what == kind || strings.Contains(b.First(), e.what))
}

// byOthers are blocks that other tests run, or compare with what they see.
var byOthers = []exception{
	{"", "caddyfile", "tests/house/caddyfiles_test.go"},
	{"docs/agents.md", "env", "tests/clients/clients_test.go"},
	{"docs/agents.md", "json", "tests/clients/clients_test.go"},
	{"docs/agents.md", "pip install", "tests/clients/loops.go"},
	{"docs/agents.md", "python", "tests/clients/loops.go"},
	{"docs/agents.md", "toml", "tests/clients/clients_test.go"},
	{"docs/clients.md", "", "tests/clients/clients_test.go"},
	{"docs/first-hour.md", "", "tests/firsthour/main.go"},
	{"docs/cluster.md", "$ caddy gatehouse cluster", "tests/operator/show_cluster_test.go"},
	{"docs/gemini.md", `"code": 429`, "tests/api/google_callers_test.go"},
	{"docs/guardrails.md", "json", "tests/api/guard_webhook_test.go"},
	{"docs/activity.md", "$ psql", "tests/operator/show_cluster_test.go"},
	{"docs/operations.md", "$ caddy gatehouse version", "tests/operator/testdata/script/version.txtar"},
	{"docs/recordings.md", "json", "tests/vnc/recording_test.go"},
	{"docs/sources.md", "workstation.resolve", "internal/source/answers_test.go"},
	{"docs/workstations.md", "gatehouse vnc 1", "tests/vnc/controlplane_test.go"},
	{"docs/vnc.md", "/guests", "tests/vnc/rules_test.go"},
	{"docs/agents.md", "/control", "tests/vnc/input_test.go"},
	{"docs/vnc.md", "is in use by key", "handlers/vncurl_test.go"},
}

// notRun are blocks that no test runs.
var notRun = []exception{
	{"CONTRIBUTING.md", "make run", "builds the program"},
	{"docs/identity.md", "caddy gatehouse login", "a person signs in with a browser; caddymodule/login/login_test.go does"},
	{"docs/identity.md", "claude mcp add", "a person signs in with a browser: tests/mcpauth does the same"},
	{"docs/identity.md", "toml", "Codex needs somebody who has signed in"},
	{"docs/identity.md", "yaml", "a job at GitHub"},
	{"docs/identity.md", "forceLoginMethod", "settings of Claude Code: tests/claudecode writes the same"},
	{"README.md", "$ make run", "starts the gateway"},
	{"README.md", "xcaddy build", "builds the program; make build does so from xcaddy.json"},
	{"README.md", "new OpenRouter", "needs the SDK: tests/sdk/node makes the same client"},
	{"docs/build.md", "xcaddy build", "builds the program: tests/core builds one of the core"},
	{"docs/build.md", "its feature is not in this build", "tests/core looks for it"},
	{"docs/cluster.md", "maxmemory-policy noeviction", "options of Valkey: caddy gatehouse check --dial asks for them"},
	{"docs/cluster.md", "ledger.csv", "moves a ledger by the programs of two databases"},
	{"docs/compatibility.md", "X-Gatehouse-Left-Out", "a header of an answer: tests/api/left_out_test.go"},
	{"docs/gemini.md", "new GoogleGenAI", "needs the SDK: tests/sdk/node makes the same client"},
	{"docs/gemini.md", "genai.NewClient", "needs the SDK: tests/sdk/go/google makes the same client"},
	{"docs/observability/README.md", "rule_files", "a configuration of Prometheus"},
	{"docs/metrics.md", "gateway", "a drawing of spans"},
	{"docs/metrics.md", "caddy run", "serves until it is stopped: tests/operator reads its log"},
	{"docs/scale.md", "make scale", "measures for eight minutes"},
	{"docs/scale.md", "make bench", "measures for as long"},
	{"docs/speed.md", "make bench", "measures for minutes"},
	{"docs/vnc.md", "Xvnc", "starts an X server: tests/desktop/desktop.go starts it with the same options"},
	{"docs/sockets.md", "rate_limit_exceeded", "an event of a connection: tests/api/sockets_test.go reads such ones"},
	{"docs/viewers.md", "[desk]", "a configuration of stunnel: tests/viewers runs it with the same options"},
	{"docs/viewers.md", "GATEWAY_URL", "waits for a viewer: tests/viewers runs the command"},
	{"docs/workstations.md", "workstation list", "the forms of commands: tests/house/commands_test.go looks for them and their flags"},
	{"docs/workstations.md", "#cloud-config", "a file of cloud-init"},
	{"tests/README.md", "func Test", "a test of its own"},
}

// What users copy from the documentation works, and what it shows is what they get.
func TestExamplesOfTheManual(t *testing.T) {
	exceptions := slices.Concat(byOthers, notRun)
	blocks, err := manual.Blocks("../..")
	if err != nil {
		t.Fatal(err)
	}
	r := openManual(t)
	used := map[exception]bool{}
	pages := map[string][]manual.Block{}
	for _, block := range blocks {
		kind, _, _ := strings.Cut(block.Kind, " ")
		i := slices.IndexFunc(exceptions, func(e exception) bool { return e.covers(block, kind) })
		switch {
		case i >= 0:
			used[exceptions[i]] = true
		case kinds[kind] == nil:
			t.Errorf("%s: no test runs a block of kind %q", block, block.Kind)
		default:
			pages[block.Page] = append(pages[block.Page], block)
		}
	}
	for _, e := range exceptions {
		if !used[e] {
			t.Errorf("%s has no block %q any more", e.page, e.what)
		}
	}
	for _, e := range byOthers {
		text, err := os.ReadFile(filepath.Join("../..", e.why))
		if err != nil || e.page != "" && !bytes.Contains(text, []byte(filepath.Base(e.page))) {
			t.Errorf("%s does not read %s: %v", e.why, e.page, err)
		}
	}
	var all sync.WaitGroup
	room := make(chan struct{}, 4) // pages at once: most of the time is waiting
	for _, examples := range pages {
		all.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			for _, block := range examples {
				kind, _, _ := strings.Cut(block.Kind, " ")
				if err := kinds[kind](r, block); err != nil {
					t.Errorf("%s: %v, of\n%s", block, err, block.Text)
				}
			}
		})
	}
	all.Wait()
}

// The rows that the first screen shows are those of the commands above them.
func TestTheFirstScreenShowsWhatItsCommandsDo(t *testing.T) {
	r := openManual(t)
	find := func(first string) manual.Block {
		t.Helper()
		block, err := manual.Find("../..", "README.md", first)
		if err != nil {
			t.Fatal(err)
		}
		return block
	}
	if err := r.script(find("export GATEWAY_URL")); err != nil {
		t.Fatal(err)
	}
	real, err := r.shell("caddy gatehouse activity")
	if err != nil {
		t.Fatal(err)
	}
	documented := columns(t, find("$ ./caddy gatehouse activity").Text)
	rows := columns(t, real)
	for _, want := range documented {
		i := slices.Index(rows, want)
		if i < 0 {
			t.Fatalf("no row %q after those before, of\n%s", want, real)
		}
		rows = rows[i+1:]
	}
	if len(documented) < 4 {
		t.Errorf("%d rows are documented", len(documented))
	}
}

// columns are the columns MODEL to OUT of a table of activity.
func columns(t *testing.T, table string) (rows []string) {
	t.Helper()
	from, to := 0, 0
	for line := range strings.Lines(table) {
		if i := strings.Index(line, "MODEL "); i >= 0 {
			from, to = i, strings.Index(line, "  USD")
		} else if to > 0 && len(line) > to {
			rows = append(rows, strings.Join(strings.Fields(line[from:to]), " "))
		}
	}
	return rows
}
