package operator

import (
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A database of each earlier layout opens, keeps what keys have spent and what a kill had left
// reserved, shows its rows, finds them by their ids, and takes new ones. See layoutFolder.
func TestADatabaseOfEachLayoutIsKept(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(layoutFolder, "*.sql"))
	if err != nil || len(paths) < 4 {
		t.Fatalf("%d layouts, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".sql"), func(t *testing.T) {
			h := harness.Prepare(t)
			harness.WriteCatalog(h)
			before := restore(t, path, filepath.Join(h.Dir, "data"))
			for start := range 2 { // the second one finds what the first has migrated
				if err := h.Load(layoutCaddyfile(h, layoutLimits)); err != nil {
					t.Fatal(err)
				}
				info := h.Records.Key("full")
				if spent := harness.Nano(t, info.Budgets[0].Spent); start == 0 && spent != before.spent {
					t.Errorf("%d nano-USD are spent, %d were", spent, before.spent)
				}
				rows := h.Records.Rows("")
				for _, id := range before.requests {
					if a := h.Client.Get("/api/v1/generation?id="+id, "full"); a.Status != 200 {
						t.Errorf("%s: %d %s", id, a.Status, a.Body)
					}
				}
				if len(rows) < len(before.requests)+start || len(before.requests) < 5 {
					t.Errorf("%d rows, there were %d", len(rows), len(before.requests))
				}
				a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", ""))
				if row := h.Records.Row(a.Header.Get("X-Request-Id")); a.Status != 200 || harness.At(row, "status") != harness.Number("200") {
					t.Errorf("a new call: %d %s, row %v", a.Status, a.Body, row)
				}
				if now := harness.Nano(t, h.Records.Key("full").Budgets[0].Spent); now <= before.spent {
					t.Errorf("a new call is not charged: %d after %d", now, before.spent)
				}
				h.Stop()
			}
			if lines := harness.Log.Lines("operation rejected"); len(lines) > 0 {
				t.Errorf("the log has %q", lines)
			}
		})
	}
}

// kept is what must not be lost of a layout.
type kept struct {
	spent    int64 // nano-USD, with what was reserved when the process was killed
	requests []string
}

// restore makes the database of a layout.
func restore(t *testing.T, path, dir string) (k kept) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.Exec(string(text)); err != nil {
		t.Fatal(err)
	}
	if len(column(t, db, "SELECT name FROM sqlite_schema WHERE name = 'ledger'")) > 0 {
		spent := column(t, db, "SELECT (SELECT sum(spent) FROM ledger) + (SELECT sum(amount) FROM hold)")[0]
		if k.spent, err = strconv.ParseInt(spent, 10, 64); err != nil || k.spent == 0 {
			t.Fatalf("%q is spent: %v", spent, err)
		}
	}
	// The ids are texts within the data of a row.
	for _, data := range column(t, db, "SELECT CAST(data AS TEXT) FROM activity") {
		at := strings.Index(data, "req_")
		k.requests = append(k.requests, data[at:at+len("req_")+32])
	}
	return k
}
