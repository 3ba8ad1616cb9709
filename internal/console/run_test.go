package console

import (
	"net/http"
	"strings"
	"testing"
)

const (
	traced  = "4bf92f3577b34da6a3ce929d0e0e4736"
	actJSON = `{"id":"gen-5","request_id":"req_5","created_at":"2026-11-23T01:02:07Z","key":"ci","route":"POST /mcp/{server}","model":"desktops/act","provider_name":"desktops",
		"method":"tools/call","is_error":true,"status":200,"usage":0.5,"priced":true,"usage_source":"none","latency_ms":3000,"trace_id":"` + traced + `"}`
)

func TestARunShowsItsStepsInTheirOrderAndWhatTheyCost(t *testing.T) {
	api := withRows("", actJSON, sessionJSON, callJSON) // newest first, as the route has them
	page := api.visit(t, "/console/runs/"+traced).Body.String()
	contains(t, page, "<h1>Run "+traced+"</h1>", `<p class="figure">3</p>`, `<p class="figure">1</p>`, `<p class="figure">$0.5012</p>`, "tool error", "Desktop",
		`href="https://traces.example.com/`+traced+`"`, `aria-sort="ascending"`)
	first, second := strings.Index(page, "/console/activity/gen-1"), strings.Index(page, "/console/activity/gen-5")
	if first < 0 || second < first {
		t.Errorf("the call is at %d of the page, the tool that it led to at %d", first, second)
	}
	asked := api.queries("/api/v1/activity")
	if len(asked) != 1 || asked[0].Get("trace_id") != traced || asked[0].Get("limit") != "1000" || len(asked[0]) != 2 {
		t.Errorf("asked for %v", asked)
	}
	contains(t, withRows("more", unpricedJSON).visit(t, "/console/runs/"+traced).Body.String(), "there are older ones", "reserved for 1 of unknown price")
	if w := withRows("").visit(t, "/console/runs/"+traced); w.Code != http.StatusNotFound {
		t.Errorf("a trace of nothing: %d", w.Code)
	}
}

func TestARowLeadsToItsRun(t *testing.T) {
	contains(t, withEntry(callJSON).visit(t, "/console/activity/gen-1").Body.String(), `href="/console/runs/`+traced+`">The whole run`)
	if page := withEntry(refusedJSON).visit(t, "/console/activity/gen-2").Body.String(); strings.Contains(page, "/console/runs/") {
		t.Error("a call without a trace leads to a run")
	}
	if w := withRows("").visit(t, "/console/activity?id="+traced); w.Header().Get("Location") != "/console/runs/"+traced {
		t.Errorf("a search for a trace: %d %s", w.Code, w.Header())
	}
}
