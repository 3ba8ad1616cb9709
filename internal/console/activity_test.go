package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

const (
	callJSON = `{"id":"gen-1","request_id":"req_1","created_at":"2026-11-23T01:02:03.456Z","key":"dev","route":"POST /v1/chat/completions",
		"model":"acme/m","model_permaslug":"m-2026","provider_name":"acme","status":200,"code":null,"stream":true,"usage":0.00123,"priced":true,
		"usage_source":"provider","prompt_tokens":1200,"completion_tokens":34,"reasoning_tokens":5,"cached_tokens":600,"latency_ms":2500,"first_token_ms":1000,
		"queued_ms":250.5,"overhead_ms":1.25,"finish_reason":"stop","attempts":2,"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736",
		"attempted":[{"target":"other/m","status":null,"code":"timeout_first_byte","latency_ms":900},{"target":"acme/m@eu","status":200,"code":null,"latency_ms":1300}],
		"skipped":[{"target":"third/m","code":"cooling"},{"target":"fourth/m","code":"cannot_be_priced","refused_by":"key dev: budget 1usd/day"}]}`
	refusedJSON = `{"id":"gen-2","request_id":"req_2","created_at":"2026-11-23T01:00:00Z","key":"dev","route":"POST /v1/chat/completions","model":"acme/m",
		"status":429,"code":"rate_limit_exceeded","usage":0,"priced":false,"usage_source":"none","latency_ms":0,"refused_by":"key dev: rate 10/min"}`
	unpricedJSON = `{"id":"gen-3","request_id":"req_3","created_at":"2026-11-23T00:59:00Z","key":"dev","route":"POST /v1/chat/completions","model":"fast",
		"provider_name":"acme","status":200,"usage":0.5,"priced":false,"usage_source":"estimated","prompt_tokens":1,"completion_tokens":2,"latency_ms":40,"attempts":1}`
	sessionJSON = `{"id":"vnc-4","request_id":"vnc-4","created_at":"2026-11-23T00:58:00Z","key":"dev","route":"VNC session","status":200,"workstation":"lab1",
		"usage_source":"none","ended":"idle_timeout","bytes_up":2048,"bytes_down":1048576,"latency_ms":3600000}`
	fullSeries = `{"by":"code","step":"hour","from":"2026-11-22T03:00:00Z","to":"2026-11-23T03:00:00Z","complete":true,
		"data":[{"name":"","total":{"requests":10}},{"name":"rate_limit_exceeded","total":{"requests":2}}],
		"total":{"total":{"requests":12,"errors":2,"unpriced":1,"cost":1.5},"points":[{"at":"2026-11-23T01:00:00Z","requests":12,"errors":2}]}}`
	emptySeries = `{"by":"code","step":"hour","from":"2026-11-22T03:00:00Z","to":"2026-11-23T03:00:00Z","data":[],"total":{"total":{},"points":[]}}`
)

// withRows is an API whose list has these rows, and a cursor of the next page.
func withRows(next string, rows ...string) *fakeAPI {
	a := newFakeAPI()
	cursor := "null"
	if next != "" {
		cursor = `"` + next + `"`
	}
	a.always("/api/v1/activity", fmt.Sprintf(`{"data":[%s],"next_cursor":%s}`, strings.Join(rows, ","), cursor))
	a.always("/api/v1/activity/series", fullSeries)
	return a
}

func TestAPageSaysSinceWhenCallsMayBeMissing(t *testing.T) {
	api := newFakeAPI()
	api.always("/api/v1/activity", `{"data":[]}`)
	if page := api.visit(t, "/console/activity").Body.String(); strings.Contains(page, "may be missing") {
		t.Error("with commits")
	}
	api.until = "2026-11-23T02:19:00.000Z"
	if page := api.visit(t, "/console/activity").Body.String(); !strings.Contains(page, "Calls that ended since 2026-11-23T02:19:00.000Z may be missing: commits have been blocked for 1m0s.") {
		t.Errorf("page:\n%s", page)
	}
}

func TestTheListShowsCallsRefusalsAndDesktops(t *testing.T) {
	page := withRows("", callJSON, refusedJSON, unpricedJSON, sessionJSON).visit(t, "/console/activity").Body.String()
	for _, want := range []string{
		`>01:02:03</time>`, `href="/console/activity/gen-1"`, `title="acme/m">acme/m</bdi></td>`, `1,200<span class="dim out">34</span>`, `$0.001230`, `1.00 s`, `2.50 s`,
		`title="429">rate_limit_exceeded</span>`, `<td class="num"></td>`, `&lt;1 ms`,
		`<td class="num"><span class="note">no price</span></td>`, `<span class="note">at <bdi>acme</bdi></span>`,
		`Desktop</span> <bdi class="cut">lab1</bdi>`, `idle timeout`, `<span class="dim out wide">1.0 MiB</span>`, `1 hour`,
		`<b>12</b> requests`, `<b class="failed">2</b> failed or refused`, `<b>$1.50</b> without 1 of unknown price`, `<svg class="chart strip"`,
		`data-live="5"`, `, 12 rows`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, `rel="next"`) || strings.Contains(page, "Tenant") {
		t.Error("the page has a second one, or a tenant")
	}
}

func TestFiltersReachTheRouteTheFileAndEachLink(t *testing.T) {
	a := withRows("CURSOR", callJSON)
	const filters = "code=upstream_error&key=dev&model=acme%2Fm&provider=acme"
	w := a.visit(t, "/console/activity?range=7d&"+filters+"&status=&unknown=x")
	if w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	want, _ := url.ParseQuery(filters)
	for _, route := range []string{"/api/v1/activity", "/api/v1/activity/series"} {
		asked := a.queries(route)[0]
		for name := range want {
			if asked.Get(name) != want.Get(name) {
				t.Errorf("%s is asked for %s=%q", route, name, asked.Get(name))
			}
		}
		if asked.Has("unknown") || asked.Has("status") || asked.Has("range") || asked.Get("from") == "" {
			t.Errorf("%s is asked with %v", route, asked)
		}
	}
	page := strings.ReplaceAll(w.Body.String(), "&amp;", "&")
	for _, want := range []string{
		`/console/activity.csv?code=upstream_error&from=2026-11-16T03%3A00%3A00Z&key=dev&model=acme%2Fm&provider=acme"`,
		`rel="next" href="/console/activity?code=upstream_error&cursor=CURSOR&key=dev&model=acme%2Fm&provider=acme&range=7d`,
		`<option value="upstream_error" selected>upstream_error</option>`, `name="model" value="acme/m"`, `name="range" value="7d"`,
		`href="/console/activity?code=upstream_error&key=dev&provider=acme&range=7d`,
		`&live=off&`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestOnlyTheNewestRowsAreLive(t *testing.T) {
	for path, live := range map[string]bool{
		"/console/activity":                               true,
		"/console/activity?model=m":                       true,
		"/console/activity?live=off":                      false,
		"/console/activity?cursor=C":                      false,
		"/console/activity?range=custom&from=2026-11-20":  true,
		"/console/activity?from=2026-11-20&to=2026-11-21": false,
	} {
		page := withRows("", callJSON).visit(t, path).Body.String()
		if got := strings.Contains(page, "data-live"); got != live {
			t.Errorf("%s is live: %v", path, got)
		}
	}
}

func TestSumsAreOnlyShownForTheFiltersThatTheyHave(t *testing.T) {
	for _, filter := range []string{"status=429", "workstation=lab1", "min_latency_ms=1000", "family=mcp"} {
		page := withRows("", callJSON).visit(t, "/console/activity?"+filter).Body.String()
		if strings.Contains(page, "<svg") || !strings.Contains(page, "No chart and no sums") || !strings.Contains(page, "at most a million rows") || !strings.Contains(page, "<details open>") {
			t.Errorf("%s: %s", filter, page)
		}
	}
}

func TestAListOfSeveralTenantsNamesThem(t *testing.T) {
	of := func(tenant string) string {
		return strings.Replace(callJSON, `"key":"dev"`, `"key":"dev","tenant":"`+tenant+`"`, 1)
	}
	several := withRows("", of("globex"), of("acme"))
	several.key.AllTenants = true
	if page := several.visit(t, "/console/activity").Body.String(); !strings.Contains(page, `<bdi class="cut">globex</bdi>`) {
		t.Error("the tenant is not shown")
	}
	one := withRows("", of("globex"))
	one.key.AllTenants = true
	page := one.visit(t, "/console/activity?tenant=globex").Body.String()
	if strings.Contains(page, `<bdi class="cut">globex</bdi>`) || one.queries("/api/v1/activity")[0].Get("tenant") != "globex" {
		t.Error("the only tenant is shown in each row, or is not asked for")
	}
}

func TestAFilterThatTheRouteRefusesIsSaidAboveTheForm(t *testing.T) {
	a := newFakeAPI()
	a.refusal = `{"error":{"code":400,"message":"status: must be an HTTP status","metadata":{"error_type":"invalid_request","param":"status"}}}`
	w := a.visit(t, "/console/activity?status=abc")
	page := w.Body.String()
	if w.Code != http.StatusBadRequest || !strings.Contains(page, `role="alert">status: must be an HTTP status`) || !strings.Contains(page, `name="status" value="abc"`) {
		t.Errorf("%d %s", w.Code, page)
	}
}

func TestAnEmptyListSaysWhatToDo(t *testing.T) {
	a := newFakeAPI()
	a.always("/api/v1/activity", `{"data":[],"next_cursor":null}`)
	a.always("/api/v1/activity/series", emptySeries)
	a.always("/v1/models", `{"data":[{"id":"test/echo"}]}`)
	page := a.visit(t, "/console/activity").Body.String()
	for _, want := range []string{"No calls yet", "curl &#39;http://example.com/v1/chat/completions&#39;", "&#34;test/echo&#34;", "data-live"} {
		if !strings.Contains(strings.ReplaceAll(page, `"test/echo"`, "&#34;test/echo&#34;"), want) {
			t.Errorf("nothing at all: the page lacks %s", want)
		}
	}

	a.answers["/api/v1/activity"] = func(q url.Values) string {
		if q.Get("from") != "" {
			return `{"data":[],"next_cursor":null}`
		}
		return `{"data":[` + callJSON + `],"next_cursor":null}`
	}
	page = a.visit(t, "/console/activity?range=1h").Body.String()
	if !strings.Contains(page, "No calls in this time") || !strings.Contains(page, "The newest row is of <time") {
		t.Error("nothing in this time: the page does not say when there was something")
	}

	a.answers["/api/v1/activity/series"] = func(q url.Values) string {
		if q.Get("model") == "m" && q.Get("key") == "" && q.Get("top") == "1" {
			return fullSeries
		}
		return emptySeries
	}
	page = a.visit(t, "/console/activity?model=m&key=nobody").Body.String()
	for _, want := range []string{"No row has all of these filters", "Without Key <bdi>nobody</bdi></a><span class=\"note\"> 12 rows", "Without Model <bdi>m</bdi></a><span class=\"note\"> still none"} {
		if !strings.Contains(page, want) {
			t.Errorf("nothing with these filters: the page lacks %s", want)
		}
	}
}

func TestRowsAreOnlyReadWhereTheSumsHaveSome(t *testing.T) {
	const sums = `{"by":"code","step":"hour","from":"2026-11-22T03:00:00Z","to":"2026-11-23T03:00:00Z","complete":true,"data":[],
		"total":{"total":{"requests":2},"points":[{"at":"2026-11-22T07:00:00Z","requests":1},{"at":"2026-11-22T09:00:00Z","requests":1}]}}`
	a := withRows("", callJSON)
	a.always("/api/v1/activity/series", sums)
	a.visit(t, "/console/activity?key=rare")
	if q := a.queries("/api/v1/activity")[0]; q.Get("from") != "2026-11-22T07:00:00Z" || q.Get("to") != "2026-11-22T10:00:00Z" {
		t.Errorf("rows are read in %v", q)
	}

	a = withRows("", callJSON)
	a.always("/api/v1/activity/series", strings.Replace(emptySeries, `"data"`, `"complete":true,"data"`, 1))
	page := a.visit(t, "/console/activity?key=nobody").Body.String()
	if len(a.queries("/api/v1/activity")) > 0 {
		t.Error("rows are read that do not exist")
	}
	contains(t, page, "No row has all of these filters")

	for name, change := range map[string]func(*fakeAPI){
		"/console/activity?model=unknown": func(*fakeAPI) {},
		"/console/activity?key=rare": func(a *fakeAPI) {
			a.always("/api/v1/activity/series", strings.Replace(sums, `"complete":true`, `"complete":false`, 1))
		},
	} {
		a := withRows("", callJSON)
		a.always("/api/v1/activity/series", sums)
		change(a)
		a.visit(t, name)
		if q := a.queries("/api/v1/activity")[0]; q.Get("from") != "2026-11-22T03:00:00Z" || q.Has("to") {
			t.Errorf("%s: the sums may lack rows, and they are read in %v", name, q)
		}
	}
}

func TestAPollAsksOnlyForWhatItShows(t *testing.T) {
	a := withRows("", callJSON)
	a.header.Set("Gatehouse-Live", "1")
	page := a.visit(t, "/console/activity?code=upstream_error").Body.String()
	if len(a.asked) != 3 || !strings.Contains(page, "gen-1") {
		t.Errorf("it asks for %v", a.asked)
	}
}

func TestRowsThatTakeTooLongSaySo(t *testing.T) {
	a := newFakeAPI()
	a.refusal, a.status = `{"error":{"code":503,"message":"the activity store cannot answer now","metadata":{"error_type":"provider_overloaded"}}}`, http.StatusServiceUnavailable
	w := a.visit(t, "/console/activity?status=418")
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d", w.Code)
	}
	contains(t, w.Body.String(), "the activity store cannot answer now", "Choose a shorter time, or take a filter out", `value="418"`)
}

func TestTheListSaysHowLongRowsAreKept(t *testing.T) {
	a := withRows("", callJSON)
	a.always("/v1/about", `{"keep":{"rows_seconds":2592000,"size_bytes":10737418240}}`)
	contains(t, a.visit(t, "/console/activity").Body.String(), "Rows are kept for 30 days, and the oldest go first above 10.0 GiB.")
	a.always("/api/v1/activity", `{"data":[],"next_cursor":null}`)
	contains(t, a.visit(t, "/console/activity?key=nobody").Body.String(), "Rows from before <time", "24 Oct 2026 02:20:00 UTC")
}

func TestNamesOfALongTimeAreThoseOfItsLastWeek(t *testing.T) {
	for path, from := range map[string]string{
		"/console/activity?range=24h":                                  "2026-11-22T03:00:00Z",
		"/console/activity?range=30d":                                  "2026-11-17T00:00:00Z",
		"/console/activity?range=custom&from=2026-09-01&to=2026-10-01": "2026-09-24T00:00:00Z",
	} {
		a := withRows("", callJSON)
		a.visit(t, path)
		asked := 0
		for _, q := range a.queries("/api/v1/activity/series") {
			if q.Get("top") != maxNames {
				continue // the sums of the whole time
			}
			if asked++; q.Get("from") != from {
				t.Errorf("%s: names by %s are asked for from %s, want %s", path, q.Get("by"), q.Get("from"), from)
			}
		}
		if asked == 0 {
			t.Errorf("%s: no names are asked for", path)
		}
	}
}

func TestTheListOfAllErrors(t *testing.T) {
	a := withRows("", callJSON)
	page := a.visit(t, "/console/activity?code=*").Body.String()
	contains(t, page, `<option value="*" selected>any error</option>`, `<bdi>any error</bdi>`)
	contains(t, a.visit(t, "/console/activity?model=*").Body.String(), `<bdi>*</bdi>`) // only a code stands for all
	for _, route := range []string{"/api/v1/activity", "/api/v1/activity/series"} {
		if q := a.queries(route)[0]; q.Get("code") != "*" {
			t.Errorf("%s is asked for %v", route, q)
		}
	}
}

func TestARowNamesTheProviderThatItsModelDoesNot(t *testing.T) {
	for _, c := range []struct{ model, provider, want string }{{"acme/m", "acme", ""}, {"fast", "acme", "acme"}, {"acme-2/m", "acme", "acme"}} {
		if got := (&activityRow{Record: activity.Record{Model: c.model, Provider: c.provider}}).Via(); got != c.want {
			t.Errorf("%s of %s: %q", c.model, c.provider, got)
		}
	}
}
