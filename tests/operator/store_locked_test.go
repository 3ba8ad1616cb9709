package operator

import (
	"database/sql"
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// lockTime is longer than SQLite waits for a lock in `make faults`.
var lockTime = flag.Duration("faults.lock", 1500*time.Millisecond, "how long another process has the database locked")

const hardKey = "gk-literal-hard-budget-1"

// While another process has the database locked, calls go on: those without a budget write to
// memory, those under one to the redo log. Nothing of them is lost.
func TestALockedDatabaseDelaysNoCall(t *testing.T) {
	h := harness.StartPriced(t, harness.Setup{Site: "handle /metrics {\nmetrics\n}\ngatehouse_health\ngatehouse", Keys: harness.DefaultKeys +
		"key hard {\nsecret " + hardKey + "\nscopes chat:write\nbudget 10usd/day\n}\n"})
	free, hard := bothLatencies(h, *lockTime/2)
	// A commit of the gateway may be under way: this process waits for it.
	db, err := sql.Open("sqlite", filepath.Join(h.Dir, "data", store.FileName)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	freeLocked, hardLocked := bothLatencies(h, *lockTime)
	if a := h.Client.Get("/readyz", ""); a.Status != 200 || partOf(a, "store") != "degraded" {
		t.Errorf("readyz %d %s", a.Status, a.Body)
	}
	if a := h.Client.Get("/api/v1/activity?limit=1", "full"); a.Status != 200 || a.Header.Get("X-Gatehouse-Activity-Until") == "" {
		t.Errorf("the activity: %d %s", a.Status, a.Body)
	}
	if a := h.Client.Get("/api/v1/generation?id=gen-later", "full"); a.Status != 503 || !strings.Contains(string(a.Body), "recorded until") {
		t.Errorf("what may not be committed yet: %d %s", a.Status, a.Body)
	}
	if _, err := db.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
	t.Logf("p99 without a budget %v, locked %v; under a hard budget %v, locked %v", harness.P99(free), harness.P99(freeLocked), harness.P99(hard), harness.P99(hardLocked))
	if harness.P99(freeLocked) > harness.P99(free)+slack || harness.P99(hardLocked) > harness.P99(hard)+slack {
		t.Error("calls wait for the lock")
	}
	if !harness.Eventually(func() bool { return partOf(h.Client.Get("/readyz", ""), "store") == "ok" }) {
		t.Error("the lock's end is not noticed")
	}
	calls := len(free) + len(hard) + len(freeLocked) + len(hardLocked) + 1 // the question that was refused
	lost := int(h.Records.Metric("gatehouse_activity_rows_lost_total"))    // 64 MiB of them wait; a fast machine makes more
	if rows := len(h.Records.Rows("")); rows+lost != calls {
		t.Errorf("%d rows and %d that were counted as lost, of %d calls", rows, lost, calls)
	}
	t.Logf("%d calls, %d rows lost", calls, lost)
}

// slack is for a busy machine; a wait for the lock would be longer.
const slack = 300 * time.Millisecond

// bothLatencies are those of a key without a budget and of one with, at the same time.
func bothLatencies(h *harness.Gateway, during time.Duration) (free, hard []time.Duration) {
	var both sync.WaitGroup
	both.Go(func() { free = latencies(h, harness.Secret("full"), during) })
	both.Go(func() { hard = latencies(h, hardKey, during) })
	both.Wait()
	return free, hard
}

// latencies makes calls of a key, four at a time, and returns how long each took, sorted.
func latencies(h *harness.Gateway, secret string, during time.Duration) (took []time.Duration) {
	var mu sync.Mutex // guards took
	var clients sync.WaitGroup
	over := time.Now().Add(during)
	for range 4 {
		clients.Go(func() {
			for time.Now().Before(over) {
				r := h.Client.Request(harness.ChatV1, "", harness.Chat("fake/echo", ""))
				r.Header.Set("Authorization", "Bearer "+secret)
				began := time.Now()
				status, body, err := h.Client.Try(r)
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
				if err != nil || status != 200 {
					h.T.Errorf("%d %s %v", status, body, err)
					return
				}
			}
		})
	}
	clients.Wait()
	slices.Sort(took)
	return took
}
