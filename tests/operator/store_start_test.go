package operator

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/limits/sqlite"
	sqliteowners "github.com/gatehouse-proxy/gatehouse/internal/owners/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// manyRows is a million in `make faults`.
var manyRows = flag.Int("faults.rows", 20_000, "how many rows a killed gateway has when it starts again")

// startLimit is far below the time after which systemd gives up.
const startLimit = 20 * time.Second

// A kill leaves the whole database to be checked: the start takes seconds nevertheless.
func TestAKilledGatewayWithManyRowsStartsWithinSeconds(t *testing.T) {
	h := harness.Prepare(t)
	writeRows(t, filepath.Join(h.Dir, "data"), *manyRows)
	began := time.Now()
	if err := h.Reload(harness.Setup{Site: "gatehouse_health\ngatehouse"}); err != nil {
		t.Fatal(err)
	}
	if !harness.Eventually(func() bool { return ready(h, "ready") }) {
		t.Fatal("not ready")
	}
	took := time.Since(began)
	info, err := os.Stat(filepath.Join(h.Dir, "data", store.FileName))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows (%d MiB): ready after %v", *manyRows, info.Size()>>20, took)
	if took > startLimit {
		t.Errorf("ready after %v", took)
	}
	if page := harness.Parse(t, h.Client.Get("/api/v1/activity?limit=1", "activity").Body); harness.At(page, "data", 0, "model") != "fake/echo" {
		t.Errorf("the newest row is %v", page)
	}
}

// writeRows makes the data directory of a gateway that was killed with n rows of activity.
func writeRows(t *testing.T, dir string, n int) {
	t.Helper()
	running := t.TempDir()
	st, err := store.Open(running, store.Options{Schemas: []store.Schema{sqliteactivity.Schema, sqliteowners.Schema, sqlite.LedgerSchema, sqlite.RateSchema}})
	if err != nil {
		t.Fatal(err)
	}
	log := sqliteactivity.New(st)
	now := time.Now()
	for i := range n {
		log.Append(&activity.Record{
			ID: fmt.Sprintf("gen-%032d", i), RequestID: fmt.Sprintf("req_%032d", i), CreatedAt: now.Add(time.Duration(i-n) * time.Millisecond),
			Tenant: "default", Key: "full", Family: "openai", Route: "POST /v1/chat/completions", Model: "fake/echo", Provider: "fake",
			Status: 200, Latency: time.Second, PromptTokens: 100, CompletionTokens: 200, CostNano: 3000, Priced: true, Attempts: 1,
		})
		if i%10_000 == 0 { // records are dropped if they come faster than they can be written
			if err := st.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := st.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(running)); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
}
