package operator

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

var (
	layoutName   = flag.String("layout", "", "write testdata/layouts/`NAME`.sql: the database of this version, or of -layout.caddy")
	layoutBinary = flag.String("layout.caddy", "", "`path` of an older build; its calls end by a kill, as those of this version")
)

// layoutFolder has a database of each layout that a version has had, as SQL. A change of a schema
// comes with the layout that it leaves, made before the change:
//
//	go test ./tests/operator -run TestWriteTheLayout -args -layout 5-what-it-has
//
// The files are never written again: a later version would write its own layout.
const layoutFolder = "testdata/layouts"

// layoutCaddyfile is understood by all versions. The options of limits come with those that have
// them.
func layoutCaddyfile(h *harness.Gateway, limits string) string {
	return h.Expand(fmt.Sprintf(`{
	admin off
	http_port %d
	storage file_system DIR/storage
	grace_period 5s
	gatehouse {
		data_dir DIR/data
		catalog DIR/prices.json
		activity {
			keep 36500d
		}
		key full {
			secret {env.KEY_FULL}
			scopes chat:write models:read activity:read
			%s
		}
		key activity {
			secret {env.KEY_ACTIVITY}
			scopes activity:read
		}
		provider fake {
			base_url PROVIDER/v1
			api_key {env.PROVIDER_KEY}
			models echo usage-all err-500 stall
		}
	}
}
http://:%d {
	bind 127.0.0.1
	gatehouse
}
`, h.Ports.HTTP, limits, h.Ports.HTTP))
}

// layoutLimits are periods that do not end, so that a test finds the same at any time.
const layoutLimits = "budget 10usd/total\nrate 1000/day"

func TestWriteTheLayout(t *testing.T) {
	if *layoutName == "" {
		return // it is no test
	}
	h := harness.Vacant(t)
	harness.WriteCatalog(h)
	limits := layoutLimits
	if strings.Contains(*layoutName, "-without-limits") {
		limits = ""
	}
	config := filepath.Join(h.Dir, "Caddyfile")
	if err := os.WriteFile(config, []byte(layoutCaddyfile(h, limits)), 0o600); err != nil {
		t.Fatal(err)
	}
	program := *layoutBinary
	if program == "" {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		program = self
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Args = []string{"caddy", "run", "--config", config, "--adapter", "caddyfile"}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !harness.Eventually(func() bool {
		status, _, err := h.Client.Try(h.Client.Request("/v1/models", "full", ""))
		return err == nil && status == 200
	}) {
		t.Fatal("it does not answer")
	}
	for _, model := range []string{"fake/echo", "fake/usage-all", "fake/err-500", "fake/nothing"} {
		h.Client.Post(harness.ChatV1, "full", harness.Chat(model, ""))
	}
	h.Client.Post(harness.ResponsesV1, "full", `{"model":"fake/echo","input":"hello"}`) // stored: it has an owner
	open := h.Client.Open(h.Client.Request(harness.ChatV1, "full", harness.Chat("fake/stall", harness.Streaming)))
	open.MustNext() // its reservation is left behind
	h.Client.Get("/api/v1/activity", "full")
	<-time.After(200 * time.Millisecond) // several commits
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	text := dump(t, filepath.Join(h.Dir, "data", store.FileName))
	if err := os.MkdirAll(layoutFolder, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(layoutFolder, *layoutName+".sql")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s has %d bytes", path, len(text))
}

// dump returns a database as SQL, with the pragmas that mark it as ours.
func dump(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var b strings.Builder
	for _, pragma := range []string{"application_id", "user_version"} {
		fmt.Fprintf(&b, "PRAGMA %s = %s;\n", pragma, column(t, db, "PRAGMA "+pragma)[0])
	}
	for _, table := range column(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
		for _, text := range column(t, db, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND tbl_name = '"+table+"' ORDER BY type DESC, name") {
			fmt.Fprintf(&b, "\n%s;\n", text)
		}
		var quoted []string
		for _, name := range column(t, db, "SELECT name FROM pragma_table_info('"+table+"') ORDER BY cid") {
			quoted = append(quoted, "quote("+name+")")
		}
		for _, values := range column(t, db, "SELECT "+strings.Join(quoted, " || ', ' || ")+" FROM "+table) {
			fmt.Fprintf(&b, "INSERT INTO %s VALUES (%s);\n", table, values)
		}
	}
	return b.String()
}

// column returns the first column of a query.
func column(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(query, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(query, err)
		}
		all = append(all, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(query, err)
	}
	return all
}
