package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// withEntry is an API that finds this row by an id.
func withEntry(row string) *fakeAPI {
	a := newFakeAPI()
	a.answers["/api/v1/activity"] = func(q url.Values) string {
		if q.Has("id") && len(q) == 1 && q.Get("id") != "gen-9" && q.Get("id") == strings.TrimSpace(q.Get("id")) {
			return `{"data":[` + row + `],"next_cursor":null}`
		}
		return `{"data":[],"next_cursor":null}`
	}
	return a
}

func contains(t *testing.T, page string, all ...string) {
	t.Helper()
	for _, want := range all {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestARequestIsShownWithAllThatIsRecorded(t *testing.T) {
	detailed := strings.Replace(callJSON, `"key":"dev"`, `"key":"dev","user":"ada@example.com","upstream_id":"chatcmpl-9","client_request_id":"mine",
		"api_key_hash":"abab","family":"openai","upstream_model":"m-2026","native_finish_reason":"end_turn","tenant":"acme"`, 1)
	page := withEntry(detailed).visit(t, "/console/activity/gen-1").Body.String()
	contains(t, page, "<h1>Request gen-1</h1>", `<code id="upstream-id">chatcmpl-9</code>`, `data-copy="request-id"`, "ada@example.com", `<code id="client-id">mine</code>`, `<code id="key-hash">abab</code>`, "m-2026", "end_turn", "600 from the cache", "5 of reasoning",
		"counted by the provider", "$0.00123", `href="https://traces.example.com/4bf92f3577b34da6a3ce929d0e0e4736"`,
		`Waited for a slot <b>250 ms</b>`, `Until the first token <b>750 ms</b>`, `Stream <b>1.50 s</b>`, "the gateway itself took 1.2 ms", `<svg class="phases"`,
		"timeout_first_byte", "did not begin within <code>first_byte</code>", "no answer", "acme/m@eu",
		"Targets that were not asked", "third/m", "It cools down after failures", "fourth/m", "<code>key dev: budget 1usd/day</code>", "has no known bound",
		"/console/activity?key=dev&amp;range=7d", "/console/activity?model=acme%2Fm&amp;range=7d", "No prompt and no answer is stored")
}

// A field at the end of the list needs no line of the page.
func TestAFactOfTheListIsShown(t *testing.T) {
	listed := activity.Fields
	t.Cleanup(func() { activity.Fields = listed })
	activity.Fields = append(activity.Fields[:len(listed):len(listed)], activity.Field{
		Name: "another", Of: func(r *activity.Record) any { return &r.ClientRequestID }, Fact: "Another",
	})
	page := withEntry(strings.Replace(callJSON, `"key":"dev"`, `"key":"dev","another":"<b>"`, 1)).visit(t, "/console/activity/gen-1").Body.String()
	contains(t, page, "<dt>Another</dt><dd>&lt;b&gt;</dd>")
}

func TestARefusalSaysWhatItMeansAndWhatToDo(t *testing.T) {
	page := withEntry(refusedJSON).visit(t, "/console/activity/gen-2").Body.String()
	contains(t, page, "A rate of requests or tokens was used up.", "Wait as <code>Retry-After</code> says", "key dev: rate 10/min", codesLink, "none: no provider was asked", "$0.00", "nothing was used",
		"/console/activity?code=rate_limit_exceeded&amp;range=7d")
	if strings.Contains(page, "<svg") || strings.Contains(page, "Attempts at providers") || strings.Contains(page, "not asked") {
		t.Error("a call without phases, attempts or skipped targets shows some")
	}
}

func TestAnUnknownPriceIsNoZero(t *testing.T) {
	page := withEntry(unpricedJSON).visit(t, "/console/activity/gen-3").Body.String()
	contains(t, page, `<p class="figure">—</p><p class="note">no price; budgets were charged $0.5000</p>`, "estimated, because the provider counted none")
}

func TestASessionOfADesktopIsShownInWords(t *testing.T) {
	a := withEntry(sessionJSON)
	page := a.visit(t, "/console/activity/vnc-4").Body.String()
	contains(t, page, "<h1>Session vnc-4</h1>", "idle timeout", "No key or pointer event came for the idle time.", "lab1", "1.0 MiB", "2.0 KiB", "1 hour", "/console/activity?range=7d&amp;workstation=lab1")
	if strings.Contains(page, "Tokens") || strings.Contains(page, "Cost") {
		t.Error("a session has tokens or a cost")
	}
	refused := strings.NewReplacer(`"ended":"idle_timeout",`, `"code":"busy",`, `"status":200`, `"status":409`).Replace(sessionJSON)
	page = withEntry(refused).visit(t, "/console/activity/vnc-4").Body.String()
	contains(t, page, "Another viewer has the workstation.")
}

func TestACallOfAToolIsShownWithItsServer(t *testing.T) {
	page := withEntry(toolJSON).visit(t, "/console/activity/gen-5").Body.String()
	contains(t, page, `<span class="badge warn">tool error</span>`, "<dt>Tool</dt><dd><bdi>demo/echo</bdi></dd>", "<dt>Server</dt><dd><bdi>demo</bdi></dd>",
		"<dt>Method</dt><dd>tools/call</dd>", "The tool ran, and answered that it has failed.", ">Same tool</a>", ">Same server</a>", `<h3>Request</h3><p class="figure">321 bytes</p>`, `<h3>Answer</h3><p class="figure">2.0 KiB</p>`)
	if strings.Contains(page, "Tokens") {
		t.Error("a call of a tool has tokens")
	}
}

func TestASearchForAnIDLeadsToItsPage(t *testing.T) {
	a := withEntry(callJSON)
	w := a.visit(t, "/console/activity?id=%20chatcmpl-9%20&model=other")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/console/activity/gen-1" {
		t.Errorf("%d %s", w.Code, w.Header().Get("Location"))
	}
	page := a.visit(t, "/console/activity?id=gen-9").Body.String()
	contains(t, page, "Nothing has this id", "<code>gen-9</code>", `value="gen-9"`)
}

func TestAnUnknownIDIsNoPage(t *testing.T) {
	for _, id := range []string{"gen-9", "..%2Fabout", "%3Cimg%20onerror%3D1%3E", strings.Repeat("x", 300)} {
		a := newFakeAPI()
		a.always("/api/v1/activity", `{"data":[],"next_cursor":null}`)
		w := a.visit(t, "/console/activity/"+id)
		if w.Code != http.StatusNotFound || strings.Contains(w.Body.String(), "<img o") {
			t.Errorf("%.20s: %d", id, w.Code)
		}
	}
}

func TestHostileNamesAreShownAsText(t *testing.T) {
	const hostile = `<img src=x onerror=alert(1)>\u202egnp\"'` + "`" + `{{.}}`
	long := strings.Repeat("ab", 150)
	row := strings.NewReplacer("acme/m", hostile, `"dev"`, `"`+long+`"`, "stop", hostile, "other/m", hostile, "POST /v1/chat/completions", hostile).Replace(callJSON)
	row = strings.Replace(row, `"code":null,"stream"`, `"code":"`+hostile+`","refused_by":"`+hostile+`","tenant":"`+hostile+`","workstation":"`+hostile+`","stream"`, 1)
	a := withEntry(row)
	a.key.AllTenants = true
	pages := a.visit(t, "/console/activity/gen-1").Body.String()
	a.always("/api/v1/activity", `{"data":[`+row+`],"next_cursor":null}`)
	a.always("/api/v1/activity/series", strings.ReplaceAll(fullSeries, "rate_limit_exceeded", hostile))
	pages += a.visit(t, "/console/activity?model="+url.QueryEscape(`<img src=x onerror=alert(1)>"`)).Body.String()
	if strings.Contains(pages, "<img src=x") || strings.Contains(pages, "javascript:") {
		t.Error("a name has become HTML")
	}
	contains(t, pages, "&lt;img src=x onerror=alert(1)&gt;", long)
}
