package tests

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
)

// lockTime is longer than SQLite waits for a lock in `make faults`.
var lockTime = flag.Duration("faults.lock", 1500*time.Millisecond, "how long another process has the database locked")

const hardKey = "gk-literal-hard-budget-1"

// While another process has the database locked, calls go on: those without a budget write to
// memory, those under one to the redo log. Nothing of them is lost.
func TestALockedDatabaseDelaysNoCall(t *testing.T) {
	h := startPriced(t, setup{site: "handle /metrics {\nmetrics\n}\ngatehouse_health\ngatehouse", keys: defaultKeys +
		"key hard {\nsecret " + hardKey + "\nscopes chat:write\nbudget 10usd/day\n}\n"})
	free, hard := h.bothLatencies(*lockTime / 2)
	// A commit of the gateway may be under way: this process waits for it.
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "data", store.FileName)+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	freeLocked, hardLocked := h.bothLatencies(*lockTime)
	if a := h.probe("/readyz"); a.status != 200 || partOf(a, "store") != "degraded" {
		t.Errorf("readyz %d %s", a.status, a.body)
	}
	if a := h.get("/api/v1/activity?limit=1", "full"); a.status != 200 || a.header.Get("X-Gatehouse-Activity-Until") == "" {
		t.Errorf("the activity: %d %s", a.status, a.body)
	}
	if a := h.get("/api/v1/generation?id=gen-later", "full"); a.status != 503 || !strings.Contains(string(a.body), "recorded until") {
		t.Errorf("what may not be committed yet: %d %s", a.status, a.body)
	}
	if _, err := db.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
	t.Logf("p99 without a budget %v, locked %v; under a hard budget %v, locked %v", p99(free), p99(freeLocked), p99(hard), p99(hardLocked))
	if p99(freeLocked) > p99(free)+slack || p99(hardLocked) > p99(hard)+slack {
		t.Error("calls wait for the lock")
	}
	if !eventually(func() bool { return partOf(h.probe("/readyz"), "store") == "ok" }) {
		t.Error("the lock's end is not noticed")
	}
	calls := len(free) + len(hard) + len(freeLocked) + len(hardLocked) + 1 // the question that was refused
	lost := int(h.metric("gatehouse_activity_rows_lost_total"))            // 64 MiB of them wait; a fast machine makes more
	if rows := len(h.allRows("")); rows+lost != calls {
		t.Errorf("%d rows and %d that were counted as lost, of %d calls", rows, lost, calls)
	}
	t.Logf("%d calls, %d rows lost", calls, lost)
}

// slack is for a busy machine; a wait for the lock would be longer.
const slack = 300 * time.Millisecond

// bothLatencies are those of a key without a budget and of one with, at the same time.
func (h *harness) bothLatencies(during time.Duration) (free, hard []time.Duration) {
	var both sync.WaitGroup
	both.Go(func() { free = h.latencies(secretOf("full"), during) })
	both.Go(func() { hard = h.latencies(hardKey, during) })
	both.Wait()
	return free, hard
}

// latencies makes calls of a key, four at a time, and returns how long each took, sorted.
func (h *harness) latencies(secret string, during time.Duration) (took []time.Duration) {
	var mu sync.Mutex // guards took
	var clients sync.WaitGroup
	over := time.Now().Add(during)
	for range 4 {
		clients.Go(func() {
			for time.Now().Before(over) {
				r := h.request(chatV1, "", chat("fake/echo", ""))
				r.Header.Set("Authorization", "Bearer "+secret)
				began := time.Now()
				status, body, err := h.quietly(r)
				mu.Lock()
				took = append(took, time.Since(began))
				mu.Unlock()
				if err != nil || status != 200 {
					h.t.Errorf("%d %s %v", status, body, err)
					return
				}
			}
		})
	}
	clients.Wait()
	slices.Sort(took)
	return took
}
