package operator

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A database that was removed while the gateway runs is a ledger that cannot be written: otherwise
// a key's spending would be lost with the process.
func TestADatabaseThatWasRemovedIsAFailingLedger(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed")
	}
	h := harness.StartPriced(t, harness.Setup{Keys: harness.DefaultKeys + "key hard {\nsecret gk-literal-hard-budget-1\nscopes chat:write\nbudget 10usd/day\n}\n" +
		"key soft {\nsecret gk-literal-soft-budget-2\nscopes chat:write\nbudget 10usd/day soft\n}\n"})
	call := func(secret string) harness.Answer {
		r := h.Client.Request(harness.ChatV1, "", harness.Chat("fake/echo", ""))
		r.Header.Set("Authorization", "Bearer "+secret)
		return h.Client.Send(r)
	}
	if a := call("gk-literal-hard-budget-1"); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	path, away := filepath.Join(h.Dir, "data", store.FileName), filepath.Join(h.Dir, "data", "away.db")
	if err := os.Rename(path, away); err != nil {
		t.Fatal(err)
	}
	harness.WantRefusal(t, harness.ChatV1, call("gk-literal-hard-budget-1"), 503, "ledger_unavailable")
	if a := call("gk-literal-soft-budget-2"); a.Status != 200 {
		t.Errorf("a soft budget: %d %s", a.Status, a.Body)
	}
	if lines := harness.Log.Lines("removed or replaced while in use"); len(lines) == 0 || !strings.Contains(lines[0], path) {
		t.Errorf("the log says %q", lines)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the database was created again")
	}
	if err := os.Rename(away, path); err != nil {
		t.Fatal(err)
	}
	if !harness.Eventually(func() bool { return call("gk-literal-hard-budget-1").Status == 200 }) {
		t.Error("it does not go on with the file put back")
	}
}

func TestADamagedDatabaseIsReportedAtTheStart(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for range 300 {
		h.Client.Post(harness.ChatV1, "full", harness.Chat("none/"+strings.Repeat("x", 200), ""))
	}
	h.Stop()
	path := filepath.Join(h.Dir, "data", store.FileName)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(raw) / 2 &^ 4095; i < len(raw); i++ {
		raw[i] = 0xa5
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	err = h.Reload(harness.Setup{})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "damaged in the table activity") || !strings.Contains(err.Error(), "restore it") {
		t.Errorf("starting: %v", err)
	}
}
