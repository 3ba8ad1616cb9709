package why

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const trace = "0af7651916cd43dd8448eb211c80319c"

func TestARunIsToldStepByStep(t *testing.T) {
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{sqliteactivity.Schema}})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	log := sqliteactivity.New(st)
	began := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	for i, r := range []activity.Record{
		{Model: "acme/m", Provider: "acme", Route: "POST /v1/responses", UsageSource: activity.UsageProvider, PromptTokens: 10, CostNano: 1_500_000, Status: 200},
		{Workstation: "desk1", Route: "VNC session", Ended: "released", Latency: 20 * time.Second, UsageSource: activity.UsageNone, Priced: true, Status: 200},
		{Workstation: "desk1", Route: "POST /v1/workstations/{id}/input", UsageSource: activity.UsageNone, Priced: true, Status: 200},
		{Workstation: "desk1", Model: "desktops/act", Provider: "desktops", Method: "tools/call", IsError: true, Route: "POST /mcp/{server}", UsageSource: activity.UsageNone, Priced: true, Status: 200},
		{Model: "acme/m", TraceID: strings.Repeat("1", 32), Status: 200},
	} {
		r.ID, r.RequestID, r.Tenant, r.Key = fmt.Sprint("gen-", i), fmt.Sprint("req-", i), "default", "agent"
		r.CreatedAt = began.Add(time.Duration(i) * time.Second)
		if r.TraceID == "" {
			r.TraceID = trace
		}
		log.Append(&r)
	}
	e, err := findRun(context.Background(), log, trace)
	if err != nil || e == nil {
		t.Fatal(e, err)
	}
	var out strings.Builder
	if err := e.Print(&out); err != nil {
		t.Fatal(err)
	}
	const want = "Run         " + trace + `
When        2026-05-04 12:00:00.000 UTC, 21.0s in all
Who         key agent, tenant default
Steps       4, 1 of them failed
Cost        0.0015 USD
            with what was reserved for 1 step of unknown price

`
	table, found := strings.CutPrefix(out.String(), want)
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if !found || len(lines) != 5 {
		t.Fatalf("got\n%s", out.String())
	}
	for i, of := range []string{"REQUEST", "acme/m", "desktop desk1  ", "desktop desk1 input", "desktops/act"} {
		if !strings.Contains(lines[i], of) {
			t.Errorf("line %d is %s", i, lines[i])
		}
	}
	if e, err := findRun(context.Background(), log, strings.Repeat("2", 32)); e != nil || err != nil {
		t.Errorf("a trace of nothing: %v, %v", e, err)
	}
}
