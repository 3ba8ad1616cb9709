package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// needsAPI has the routes of an overview on which nothing needs a person, for a key that may see all of it.
func needsAPI() *fakeAPI {
	a := newFakeAPI()
	a.key = keys.Key{Name: "ops", Tenant: "acme", AllTenants: true, Scopes: keys.LimitsRead | keys.ProvidersRead | keys.MCPCall |
		keys.WorkstationsConnect | keys.WorkstationsManage | keys.RecordingsRead}
	for route, answer := range map[string]string{
		"/api/v1/limits": `{"data":[{"subject":"key:dev","type":"budget","configured":"10usd/day","unit":"usd","limit":10,"period":"day","used_ratio":0.05,"spent":0.5,"reserved":0,"resets_at":"2026-11-24T00:00:00Z"}]}`,
		"/api/v1/key":    `{"data":{"exhausted":[]}}`,
		"/v1/providers":  `{"data":[{"id":"acme","endpoints":[{"name":null,"host":"h","credential":{"cloud":"aws","valid":true}}],"targets":[{"model":"acme/m","state":"healthy"},{"model":"acme/n","state":"probing"}]}]}`,
		"/v1/mcp":        `{"data":[{"id":"files","status":"ok","last_error":"upstream_timeout"}]}`,
		"/v1/sessions":   `{"data":[]}`, "/v1/workstations": `{"data":[{"workstation_id":"desk1","tenant":"acme","state":"available"}],"sources":[{"source":"farm","list":"complete"},{"source":"named","list":"missing"}]}`,
		"/v1/recordings": `{"data":[{"id":"r1","workstation":"desk1","begun":"2026-11-23T01:00:00Z","state":"complete"},{"id":"r2","workstation":"desk1","begun":"2026-11-23T02:00:00Z","state":"recording"}]}`,
		"/v1/about":      `{"condition":{"state":"ready","parts":[{"name":"store","state":"ok","detail":""},{"name":"providers","state":"degraded","detail":"unhealthy: x"}]}}`,
	} {
		a.always(route, answer)
	}
	return a
}

// refusing makes a route answer 503 with a code.
func (a *fakeAPI) refusing(route, code string) {
	a.handlers = map[string]http.HandlerFunc{route: func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"error":{"message":"not now","code":"` + code + `"}}`))
	}}
}

const needsTitle = "What needs attention"

// needsOf is the part of an overview that says what needs a person.
func needsOf(w *httptest.ResponseRecorder) string {
	_, part, _ := strings.Cut(w.Body.String(), `aria-labelledby="needs"`)
	part, _, _ = strings.Cut(part, "</section>")
	return part
}

func TestTheOverviewSaysWhatNeedsAPerson(t *testing.T) {
	budget := func(more string) string {
		return `{"data":[{"subject":"key:dev","type":"budget","configured":"10usd/day","unit":"usd","limit":10,"period":"day","resets_at":"2026-11-24T00:00:00Z","reserved":0,` + more + `}]}`
	}
	everything := keys.LimitsRead | keys.ProvidersRead | keys.MCPCall | keys.WorkstationsConnect | keys.WorkstationsManage | keys.RecordingsRead
	for _, c := range []struct {
		name, route, answer string
		without             keys.Scope // the scope of its row
		href, want          string
	}{
		{
			"a budget that runs out", "/api/v1/limits", budget(`"used_ratio":0.5,"spent":5`), 0, "/console/limits?type=budget",
			"key:dev : at this rate the budget 10usd/day is used up in 2 hours . It resets in 22 hours. running out",
		},
		{
			"a budget that is used up", "/api/v1/limits", budget(`"used_ratio":1,"spent":10,"exhausted":true`), 0, "/console/limits?min_used=1&amp;type=budget",
			"key:dev : nothing is left of the budget 10usd/day. Calls are refused until it resets in 22 hours, or is raised. used up",
		},
		{
			"a budget that never resets", "/api/v1/limits", strings.Replace(budget(`"used_ratio":1,"spent":10,"exhausted":true`), `"2026-11-24T00:00:00Z"`, "null", 1), 0, "/console/limits?min_used=1&amp;type=budget",
			"key:dev : nothing is left of the budget 10usd/day. Calls are refused until it is raised: it never resets. used up",
		},
		{
			"the budget of the tenant", "/api/v1/key", `{"data":{"exhausted":["key:dev","tenant:acme"]}}`, 0, "/console/limits",
			"tenant:acme : its budget is used up. Calls of this key are refused. used up",
		},
		{
			"a provider that fails", "/v1/providers", `{"data":[{"id":"acme","targets":[{"model":"acme/m","state":"cooling","cooldown_until":"2026-11-23T02:20:40Z","last_failure_class":"lasting"}]}]}`,
			keys.ProvidersRead, "/console/providers#provider-acme",
			"acme : acme/m is cooling down, and is tried again in 40 seconds . It refused the gateway's credential, its quota is used up, or it has no such model. Somebody must act. fails",
		},
		{
			"a provider without a credential", "/v1/providers", `{"data":[{"id":"acme","targets":[],"endpoints":[{"name":"eu","host":"h","credential":{"cloud":"aws","valid":false,"failure":"the role is unknown"}}]}]}`,
			keys.ProvidersRead, "/console/providers#provider-acme",
			"acme : aws gives the gateway no credential for eu, so calls fail: the role is unknown. no credential",
		},
		{
			"a provider without a list", "/v1/providers", `{"data":[{"id":"acme","targets":[],"list_missing":true}]}`,
			keys.ProvidersRead, "/console/providers#provider-acme",
			"acme : its list of models has never come, and the log has the cause. Until it comes, models NAME or discover off in its block lets calls through. no list",
		},
		{
			"an MCP server that fails", "/v1/mcp", `{"data":[{"id":"files","status":"failing","last_error":"upstream_timeout"}]}`, keys.MCPCall, "/console/tools/files",
			"files : the last requests to this MCP server failed, upstream_timeout . ",
		},
		{
			"a source that is away", "/v1/workstations", `{"data":[],"sources":[{"source":"farm","list":"unavailable"}]}`, seesDesktops, "/console/workstations",
			"farm : this source of workstations gives no list now. The log has the cause. away",
		},
		{
			"an agent that asks for help", "/v1/workstations", `{"data":[{"workstation_id":"desk1","tenant":"acme","state":"available","help_requested":1}]}`, seesDesktops,
			"/console/workstations/desk1/desktop", "desk1 : an agent waits for a person at this desktop. asks for help",
		},
		{
			"agents at a desktop of another tenant", "/v1/workstations", `{"data":[{"workstation_id":"desk1","tenant":"umbrella","state":"available","help_requested":2}]}`, seesDesktops,
			"/console/workstations", "desk1 : 2 agents wait for a person at this desktop. asks for help",
		},
		{
			"a recording that was cut", "/v1/recordings", `{"data":[{"id":"r1","workstation":"desk1","begun":"2026-11-23T01:00:00Z","state":"incomplete"}]}`, keys.RecordingsRead,
			"/console/recordings/r1", "desk1 : the recording of 23 Nov 01:00 UTC ends before its session. incomplete",
		},
		{
			"a store in trouble", "/v1/about", `{"condition":{"state":"ready","parts":[{"name":"store","state":"degraded","detail":"the disk is full; 4 changes wait in memory"}]}}`, 0,
			"/console/about", "store : the disk is full; 4 changes wait in memory. trouble",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := needsAPI()
			a.always(c.route, c.answer)
			w := a.visit(t, "/console/")
			wantText(t, w, needsTitle+" "+c.want[:strings.IndexByte(c.want, ' ')], c.want)
			if want := `<a href="` + c.href + `"><b>`; strings.Count(needsOf(w), want) != 1 {
				t.Errorf("no %s in %s", want, needsOf(w))
			}
			if c.without != 0 {
				a.key.Scopes = everything &^ c.without
				if w := a.visit(t, "/console/"); w.Code != http.StatusOK || strings.Contains(text(w.Body.String()), c.want) {
					t.Errorf("a key without the scope is told: %d %s", w.Code, text(w.Body.String()))
				}
			}
			a.key.Scopes = everything
			a.refusing(c.route, "unavailable")
			if w := a.visit(t, "/console/"); w.Code != http.StatusOK || strings.Contains(text(w.Body.String()), c.want) {
				t.Errorf("the route fails: %d %s", w.Code, text(w.Body.String()))
			}
		})
	}
}

const seesDesktops = keys.WorkstationsConnect | keys.WorkstationsManage

func TestAnOverviewOnWhichNothingNeedsAPersonSaysNothing(t *testing.T) {
	a := needsAPI()
	w := a.visit(t, "/console/")
	if w.Code != http.StatusOK || strings.Contains(w.Body.String(), needsTitle) {
		t.Errorf("%d %s", w.Code, text(w.Body.String()))
	}
	asked := map[string]int{}
	for _, u := range a.asked {
		asked[u.Path]++
	}
	for _, k := range needKinds {
		if asked[k.route] != 1 {
			t.Errorf("%s was asked %d times", k.route, asked[k.route])
		}
	}
	if q := a.queries("/v1/recordings")[0].Encode(); q != "from=2026-11-22T02%3A20%3A00Z&limit=1000" {
		t.Errorf("recordings of %s", q)
	}
	a.key.AllTenants = false
	before := len(a.queries("/v1/about"))
	if a.visit(t, "/console/"); len(a.queries("/v1/about")) != before {
		t.Error("a key without all_tenants asks for what it is not told")
	}
}

// A route that only these lines read is named if it fails, but not if the gateway has no such thing.
func TestTheOverviewSaysWhatItCouldNotRead(t *testing.T) {
	for _, c := range []struct {
		code string
		want bool
	}{{"unavailable", true}, {"unknown_url", false}} {
		a := needsAPI()
		a.refusing("/v1/recordings", c.code)
		w := a.visit(t, "/console/")
		if got := strings.Contains(text(w.Body.String()), "is not known: /v1/recordings cannot be read now."); got != c.want || w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", c.code, w.Code, text(w.Body.String()))
		}
	}
}

func TestNamesInTheLinesAreText(t *testing.T) {
	a := needsAPI()
	a.always("/v1/mcp", `{"data":[{"id":"<img src=x>","status":"failing","last_error":"<b>`+"`"+`<i>"}]}`)
	a.always("/v1/about", `{"condition":{"parts":[{"name":"<script>","state":"degraded","detail":"<script>x`+"`"+`<u>"}]}}`)
	w := a.visit(t, "/console/")
	for _, element := range []string{"<img", "<b>`", "<i>", "<script", "<u>"} {
		if strings.Contains(needsOf(w), element) {
			t.Errorf("the page has the element %s", element)
		}
	}
	for _, want := range []string{"&lt;img src=x&gt;", "&lt;b&gt;", "&lt;i&gt;", "&lt;script&gt;x", "&lt;u&gt;"} {
		if !strings.Contains(needsOf(w), want) {
			t.Errorf("no %s in %s", want, needsOf(w))
		}
	}
}

// A gateway where everything fails still has a page of a bounded length.
func TestALineOfManySaysHowManyMore(t *testing.T) {
	var all []string
	for i := range overviewRows + 3 {
		all = append(all, fmt.Sprintf(`{"id":"s%d","status":"failing","last_error":"upstream_timeout"}`, i))
	}
	a := needsAPI()
	a.always("/v1/mcp", `{"data":[`+strings.Join(all, ",")+`]}`)
	w := a.visit(t, "/console/")
	wantText(t, w, "s5 : the last", "3 more fails")
	if lines := strings.Count(w.Body.String(), "the last requests to this MCP server failed"); lines != overviewRows {
		t.Errorf("%d lines", lines)
	}
}

func TestABudgetRunsOutAtTheRateOfItsPeriod(t *testing.T) {
	at := func(text string) time.Time {
		t.Helper()
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	const day, month = "2026-11-24T00:00:00Z", "2026-12-01T00:00:00Z"
	for _, c := range []struct {
		what, period, resets string
		spent                float64
		exhausted            bool
		now, want            string // "" for no time
	}{
		{"half of it in a quarter of the day", "day", day, 5, false, "2026-11-23T06:00:00Z", "2026-11-23T12:00:00Z"},
		{"as much as the time", "day", day, 5, false, "2026-11-23T12:00:00Z", ""},
		{"a little more than the time", "day", day, 5.01, false, "2026-11-23T12:00:00Z", "2026-11-23T23:57:07Z"},
		{"a week", "week", "2026-11-30T00:00:00Z", 5, false, "2026-11-24T00:00:00Z", "2026-11-25T00:00:00Z"},
		{"a month of 30 days", "month", month, 5, false, "2026-11-04T00:00:00Z", "2026-11-07T00:00:00Z"},
		{"too little to say", "month", month, 0.9, false, "2026-11-01T00:01:00Z", ""},
		{"nothing", "day", day, 0, false, "2026-11-23T06:00:00Z", ""},
		{"all", "day", day, 10, true, "2026-11-23T06:00:00Z", ""},
		{"no end", "total", day, 5, false, "2026-11-23T06:00:00Z", ""},
		{"a period that has not begun", "day", day, 5, false, "2026-11-22T23:59:59Z", ""},
	} {
		r := limitRow{Limit: 10, Period: c.period, Spent: &c.spent, Exhausted: c.exhausted, ResetsAt: at(c.resets)}
		got := r.RunsOut(at(c.now))
		if want := (time.Time{}); c.want == "" && got != want || c.want != "" && !got.Truncate(time.Second).Equal(at(c.want)) {
			t.Errorf("%s: %v, want %q", c.what, got, c.want)
		}
	}
}
