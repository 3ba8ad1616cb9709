package console

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

func wantText(t *testing.T, w *httptest.ResponseRecorder, want ...string) {
	t.Helper()
	got := text(w.Body.String())
	if w.Code != http.StatusOK {
		t.Errorf("status %d", w.Code)
	}
	for _, s := range want {
		if !strings.Contains(got, s) {
			t.Errorf("no %q in %s", s, got)
		}
	}
}

const (
	someLimits = `{"data":[
		{"subject":"key:ci","type":"budget","configured":"2Mtok/day","unit":"tokens","limit":2000000,"used_ratio":0.21,"spent":400000,"reserved":20000,"resets_at":"2026-11-24T00:00:00.000Z"},
		{"subject":"gateway","type":"budget","configured":"9usd/day","unit":"usd","limit":9,"used_ratio":null,"spent":null,"reserved":null},
		{"subject":"key:web","type":"budget","configured":"25usd/total soft","unit":"usd","limit":25,"used_ratio":1,"exhausted":true,"soft":true,"spent":24.5,"reserved":0.5,"resets_at":null}],"next_cursor":null}`
	someProviders = `{"data":[{"id":"home","targets":[]},
		{"id":"acme","targets":[{"model":"acme/small","state":"healthy"},{"model":"acme/large","state":"cooling","cooldown_until":"2026-11-23T02:20:40Z"}]},
		{"id":"other","targets":[{"model":"other/x","state":"healthy"}]}]}`
	someSessions     = `{"data":[{"session_id":"s1","workstation_id":"desk1","key":"anna","started_at":"2026-11-23T00:20:00Z"}]}`
	someWorkstations = `{"data":[{"workstation_id":"demo","tenant":"acme","state":"available"},{"workstation_id":"old","tenant":"acme","state":"released"},
		{"workstation_id":"theirs","tenant":"umbrella","state":"available"}]}`
)

func overviewAPI(t *testing.T, records ...activity.Record) *chartsAPI {
	a := newChartsAPI(t, records...)
	a.answers = map[string]string{
		"/api/v1/limits": someLimits, "/api/v1/key": `{"data":{"exhausted":["key:web","tenant:acme"]}}`, "/v1/providers": someProviders,
		"/v1/sessions": someSessions, "/v1/workstations": someWorkstations,
		"/v1/models": `{"data":[{"id":"acme/embed-1"},{"id":"acme/it's"}]}`,
	}
	return a
}

func TestTheOverviewComparesADayWithTheOneBefore(t *testing.T) {
	yesterday := func(r *activity.Record) { r.CreatedAt = r.CreatedAt.Add(-24 * time.Hour) }
	failed := refused("upstream_error")
	unpriced := chartsCall(func(r *activity.Record) { r.Priced, r.CostNano = false, 0 })
	a := overviewAPI(t, chartsCall(yesterday), chartsCall(yesterday), chartsCall(func(*activity.Record) {}), failed, unpriced, refused("cannot_be_priced"))
	w := a.visit("/console/")
	for _, link := range []string{`href="/console/activity?code=%2A&amp;range=24h"`, `href="/console/activity?code=%2A&amp;provider=acme&amp;range=24h">1 refused</a>`, `href="/console/activity?code=upstream&amp;provider=acme&amp;range=24h">33.3 % of 3 failed</a>`} {
		if !strings.Contains(w.Body.String(), link) {
			t.Errorf("no %s in %s", link, w.Body)
		}
	}
	wantText(t, w,
		"since Sun 22 Nov 2026 03:00 UTC , against the 24 hours before",
		"Requests 4 100.0 % more than the day before", "Refused or failed 2 50.0 % of the requests, 0.0 % the day before",
		"Cost $0.0015 50.0 % less than the day before, without 1 call of unknown price", "Tokens 4,800 100.0 % more",
		"key:web 25usd/total soft 100 % 100.0 % $25.00 of $25.00 (nothing is left) , never resets key:ci 2Mtok/day 21 % 21.0 % 420k of 2M tokens, resets in 22 hours",
		"acme acme/large, again in 40 seconds 33.3 % of 3 failed , 1 refused cooling down other healthy home not known",
		"desk1 by anna opened 2 hours ago Open demo", "How to call this gateway",
	)
	body := w.Body.String()
	for _, absent := range []string{"gateway</b>", "Open old", "Open theirs", "Make the first call"} {
		if strings.Contains(body, absent) {
			t.Errorf("the page has %q", absent)
		}
	}
	if n := strings.Count(body, `<svg class="spark"`); n != 4 {
		t.Errorf("%d sparklines", n)
	}
}

func TestAnEmptyGatewayShowsHowToCallIt(t *testing.T) {
	a := overviewAPI(t)
	a.answers["/api/v1/limits"], a.answers["/v1/providers"], a.answers["/v1/sessions"] = `{"data":[]}`, `{"data":[]}`, `{"data":[]}`
	w := a.visit("/console/")
	wantText(t, w,
		"Make the first call Or open the desktop demo", "an OpenAI SDK to http://example.com/v1",
		`curl 'http://example.com/v1/chat/completions' \ -H "Authorization: Bearer $GATEWAY_API_KEY"`, `-d '{"model": "acme/it'\''s", "messages"`,
		`base_url="http://example.com/v1"`, `model="acme/it's",`, "There is no budget yet.", "There is no provider yet.", "Nobody has a desktop open.",
	)
	if strings.Contains(w.Body.String(), "tiles sparks") {
		t.Error("an empty gateway has figures")
	}
}

// A key sees what its scopes show, and which scope shows the rest.
func TestTheOverviewOfAKeyWithoutScopesSaysWhichItNeeds(t *testing.T) {
	a := overviewAPI(t)
	a.key = &keys.Key{Name: "web", Tenant: "acme"}
	wantText(t, a.visit("/console/"),
		"The figures of the last day: the scope activity:read shows them.", "The scope providers:read shows which providers fail.",
		"The scope workstations:connect shows desktops and opens them.", "tenant:acme : its budget is used up. Calls of this key are refused.",
		"Only those of this key. The scope limits:read shows those of its tenant.",
		"The key that is signed in here has no chat:write", `model="provider/model"`,
	)
	if got := strings.Join(a.asked, " "); got != "/api/v1/limits /api/v1/key" {
		t.Errorf("the page asked %s", got)
	}
}

// A part that cannot be read leaves the others.
func TestTheOverviewShowsWhatItCanRead(t *testing.T) {
	a := overviewAPI(t, chartsCall(func(*activity.Record) {}))
	delete(a.answers, "/v1/providers")
	delete(a.answers, "/v1/sessions") // a gateway without workstations
	w := a.visit("/console/")
	wantText(t, w, "Providers All providers They cannot be read now: there is no such route.", "Requests 1 none the day before")
	if strings.Contains(w.Body.String(), "Open desktops") {
		t.Error("a gateway without workstations shows desktops")
	}
}

// Of more budgets than fit on a page of the route, those that are nearly spent are asked for.
func TestTheNearestBudgetsOfManyAreFound(t *testing.T) {
	var queries []string
	v := visiting(t, func(w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.RawQuery)
		answer := someLimits
		if r.URL.Query().Get("min_used") == "" {
			answer = `{"data":[],"next_cursor":"x"}`
		}
		_, _ = w.Write([]byte(answer))
	})
	var b budgetsBlock
	if err := b.readRows(v); err != nil || len(b.Rows) != 2 || b.Rows[0].Subject != "key:web" {
		t.Errorf("%+v, %v", b.Rows, err)
	}
	if got, want := strings.Join(queries, " "), "limit=200&type=budget limit=1000&min_used=0.8&type=budget"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

func TestTheAddressOfTheGatewayIsTheOneOfTheBrowser(t *testing.T) {
	for _, c := range []struct {
		origin string
		tls    bool
		want   string
	}{{"", false, "http://example.com"}, {"", true, "https://example.com"}, {"https://console.example.com", false, "https://console.example.com"}} {
		v := visiting(t, nil)
		v.console.config.Origin, v.r.TLS = c.origin, nil
		if c.tls {
			v.r.TLS = &tls.ConnectionState{}
		}
		if got := ownAddress(v); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

func TestChangesAreInWords(t *testing.T) {
	for _, c := range []struct {
		now, before float64
		want        string
	}{
		{0, 0, "as the day before"}, {5, 0, "none the day before"}, {3, 3, "as the day before"}, {3, 2, "50.0 % more than the day before"},
		{1, 2, "50.0 % less than the day before"}, {0, 2, "100.0 % less than the day before"}, {100, 2, "more than ten times the day before"},
	} {
		if got := change(c.now, c.before); got != c.want {
			t.Errorf("%v after %v: %s, want %s", c.now, c.before, got, c.want)
		}
	}
}

func TestTheOverviewHasWhatWasUsedMost(t *testing.T) {
	call := func(model, key string, cost int64) activity.Record {
		return chartsCall(func(r *activity.Record) { r.Model, r.Key, r.CostNano = model, key, cost })
	}
	tool := chartsCall(func(r *activity.Record) {
		r.Model, r.Provider, r.Method, r.CostNano, r.UsageSource = "demo/echo", "demo", "tools/call", 0, activity.UsageNone
	})
	records := []activity.Record{call("acme/large", "anna", 3_000_000_000), call("acme/small", "ci", 1_000_000_000), tool, tool, refused("rate_limit_exceeded")}
	for range usedRows {
		records = append(records, call("acme/other"+string(rune('a'+len(records))), "ci", 0))
	}
	a := overviewAPI(t, records...)
	a.answers["/v1/mcp"] = twoServers
	body := a.visit("/console/").Body.String()
	got := text(body[strings.Index(body, `id="used"`):strings.Index(body, `id="budgets"`)])
	for _, want := range []string{
		"in 24 hours Models by cost All acme/large 75.0 % $3.00, 2 calls acme/small 25.0 % $1.00, 1 call acme/other",
		"Tools by requests All demo/echo 100.0 % 2 calls",
		"Keys by cost All anna 75.0 % $3.00, 1 call",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if n := strings.Count(got, "acme/other"); n != usedRows-2 {
		t.Errorf("%d models of %d others", n, usedRows)
	}
	if !strings.Contains(body, `href="/console/usage?by=key&amp;model=acme%2Flarge&amp;range=24h"`) {
		t.Error("a model does not lead to its keys")
	}
}

// Tools have a list of their own, as they cost nothing among models that do.
func TestTheOverviewShowsWhatIsUsedMost(t *testing.T) {
	alias := chartsCall(func(r *activity.Record) { r.Model, r.CostNano = "fast", 3_000_000_000 })
	large := chartsCall(func(r *activity.Record) { r.CostNano = 1_000_000_000 })
	tool := chartsCall(func(r *activity.Record) { r.Model, r.Provider, r.CostNano = "demo/echo", "demo", 0 })
	a := overviewAPI(t, large, alias, tool)
	a.answers["/v1/mcp"] = `{"data":[{"id":"demo"}]}`
	a.answers["/v1/models"] = `{"data":[{"id":"fast","owned_by":"gatehouse"},{"id":"acme/large","owned_by":"acme"}]}`
	wantText(t, a.visit("/console/"), "Used most in 24 hours Models by cost All fast alias 75.0 % $3.00, 1 call acme/large 25.0 % $1.00, 1 call",
		"Tools by requests All demo/echo 100.0 % 1 call")
}
