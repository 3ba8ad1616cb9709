package console

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/demo"
)

const twoServers = `{"object":"list","data":[
	{"id":"demo","object":"mcp_server","url":"/mcp/demo","status":"ok","last_error":null,"since":"2026-11-23T02:10:00Z","in_flight":2},
	{"id":"files","object":"mcp_server","url":"/mcp/files","status":"failing","last_error":"upstream_timeout","since":"2026-11-23T02:18:00Z","in_flight":0}]}`

const (
	toolJSON = `{"id":"gen-5","request_id":"req_5","created_at":"2026-11-23T00:57:00Z","key":"dev","route":"POST /mcp/{server}","model":"demo/echo",
		"provider_name":"demo","status":200,"usage":0,"priced":true,"usage_source":"none","latency_ms":12,"attempts":1,"method":"tools/call","is_error":true,
		"request_bytes":321,"answer_bytes":2048}`
	listJSON = `{"id":"gen-6","request_id":"req_6","created_at":"2026-11-23T00:56:00Z","key":"dev","route":"POST /mcp/{server}","model":"demo",
		"provider_name":"demo","status":200,"usage":0,"priced":true,"usage_source":"none","latency_ms":12,"attempts":1,"method":"tools/list","request_bytes":58,"answer_bytes":900}`
)

func TestTheListShowsTools(t *testing.T) {
	page := withRows("", toolJSON, listJSON).visit(t, "/console/activity?family=mcp").Body.String()
	for _, want := range []string{
		`title="200">tool error</span>`, `title="demo/echo">demo/echo</bdi></td>`, `321 bytes<span class="dim out wide">2.0 KiB</span>`,
		`title="demo">demo</bdi> <span class="note">tools/list</span></td>`, `<option value="mcp" selected>mcp</option>`, `<span class="dim">API</span> <bdi>mcp</bdi>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// toolsAPI is an API with the list of servers, of which answer is /mcp/demo.
func toolsAPI(answer http.HandlerFunc) *fakeAPI {
	a := newFakeAPI()
	a.key.Scopes |= keys.MCPCall
	a.always("/v1/mcp", twoServers)
	a.answers["/api/v1/activity/series"] = func(q url.Values) string {
		switch failures := q.Get("code") == "upstream"; {
		case q.Get("by") == "model" && failures:
			return `{"data":[{"name":"demo/echo","total":{"requests":1,"errors":1}}]}`
		case q.Get("by") == "model":
			return `{"data":[{"name":"demo/echo","total":{"requests":30,"errors":3}}]}`
		case failures:
			return `{"data":[{"name":"demo","total":{"requests":4,"errors":4}}]}`
		}
		return `{"data":[{"name":"demo","total":{"requests":1200,"errors":6}}]}`
	}
	a.handlers = map[string]http.HandlerFunc{"/mcp/demo": answer}
	return a
}

// demoServer answers as the built-in server does.
func demoServer(w http.ResponseWriter, r *http.Request) {
	answer, err := demo.New(time.Now).RoundTrip(r)
	if err != nil {
		panic(err)
	}
	maps.Copy(w.Header(), answer.Header)
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
	_ = answer.Body.Close()
}

func TestServersAreShownWithTheirHealthAndTheirDay(t *testing.T) {
	a := toolsAPI(nil)
	page := a.visit(t, "/console/tools").Body.String()
	contains(t, page, `<a href="/console/tools/demo"><b>demo</b></a>`, `<span class="badge good">ok</span>`, `>10 minutes ago</time>`, ">2</td>",
		`href="/console/activity?provider=demo&amp;range=24h">1,200</a>`, `href="/console/activity?code=upstream&amp;provider=demo&amp;range=24h">4</a> <span class="dim">0.3 %</span>`, `href="/console/activity?code=%2A&amp;provider=demo&amp;range=24h">2</a>`,
		`<span class="badge bad">failing</span>`, "<code>upstream_timeout</code>", `data-live="10"`)
	a.key.Scopes = keys.MCPCall
	contains(t, a.visit(t, "/console/tools").Body.String(), "With the scope <code>activity:read</code>")
	a.always("/v1/mcp", `{"object":"list","data":[]}`)
	contains(t, a.visit(t, "/console/tools").Body.String(), "This key reaches no MCP server", "docs/mcp.md")
	a.key.Scopes = keys.ActivityRead
	if w := a.visit(t, "/console/tools"); w.Code != 403 || !strings.Contains(w.Body.String(), "mcp:call") || strings.Contains(w.Body.String(), ">Tools</a>") {
		t.Errorf("without the scope: %d", w.Code)
	}
}

// A gateway without servers, and a key that may use none, has the overview as it was.
func TestTheOverviewHasTheServersOfTheKey(t *testing.T) {
	a := toolsAPI(nil)
	a.answers["/api/v1/activity/series"] = func(q url.Values) string {
		if q.Get("code") == "upstream" {
			return `{"data":[{"name":"demo","total":{"requests":1,"errors":1}}]}`
		}
		return `{"by":"provider","step":"hour","from":"2026-11-21T03:00:00Z","to":"2026-11-23T03:00:00Z","complete":true,
			"data":[{"name":"demo","total":{},"points":[{"at":"2026-11-23T01:00:00Z","requests":200,"errors":2}]}],"total":{"total":{"requests":200},"points":[]}}`
	}
	page := a.visit(t, "/console/").Body.String()
	contains(t, page, `href="/console/tools">All servers</a>`, `<code class="dim">upstream_timeout</code>`, `0.5 % of 199 failed</a>, <a href="/console/activity?code=%2A&amp;provider=demo&amp;range=24h">1 refused</a>`)
	if strings.Index(page, "<b>files</b>") > strings.Index(page, "<b>demo</b>") {
		t.Error("the server that fails is not the first")
	}
	a.always("/v1/mcp", `{"object":"list","data":[]}`)
	none := a.visit(t, "/console/").Body.String()
	a.key.Scopes &^= keys.MCPCall
	for _, page := range []string{none, a.visit(t, "/console/").Body.String()} {
		if strings.Contains(page, `id="tools"`) {
			t.Error("there are tools on the page")
		}
	}
}

func TestAServerIsAskedForItsTools(t *testing.T) {
	page := toolsAPI(demoServer).visit(t, "/console/tools/demo").Body.String()
	contains(t, page, "<h1>Tools of demo</h1>", "MCP 2026-07-28", `<th scope="row" class="wrap mono">echo</th>`, "Returns the text.", `href="/console/activity?model=demo%2Fecho&amp;range=24h">30</a>`, `1 <span class="dim">3.6 %</span>`, "Always fails.",
		"claude mcp add --transport http demo &#39;http://example.com/mcp/demo&#39; --header &#34;Authorization: Bearer $GATEWAY_API_KEY&#34;",
		"codex mcp add demo --url &#39;http://example.com/mcp/demo&#39; --bearer-token-env-var GATEWAY_API_KEY")
	if w := toolsAPI(demoServer).visit(t, "/console/tools/none"); w.Code != 404 {
		t.Errorf("a server that is not there: %d", w.Code)
	}
}

// What the gateway refuses and what the server says are shown as text, and the page has the rest.
func TestAServerThatCannotBeAskedSaysWhy(t *testing.T) {
	for _, c := range []struct {
		status     int
		body, want string
	}{
		{429, `{"error":{"message":"a limit","code":"rate_limit_exceeded"}}`, "cannot be listed now: a limit<"},
		{200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32099,"message":"<b>no</b>"}}`, "cannot be listed now: the MCP server answered with error -32099<"},
		{403, `{"error":{"message":"<b>no</b>","code":"insufficient_scope"}}`, "&lt;b&gt;no&lt;/b&gt;"},
		{200, "<html>", "cannot be listed now"},
		{502, "<html>", "cannot be listed now"},
	} {
		page := toolsAPI(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		}).visit(t, "/console/tools/demo")
		if body := page.Body.String(); page.Code != 200 || !strings.Contains(body, c.want) || !strings.Contains(body, "claude mcp add") || strings.Contains(body, "<b>no") {
			t.Errorf("%s: %d\n%s", c.body, page.Code, body)
		}
	}
}

func TestTheToolsOfALargeServerAreBounded(t *testing.T) {
	var list strings.Builder
	for range maxToolRows + 7 {
		list.WriteString(`,{"name":"t","description":"` + strings.Repeat("é", maxDescription) + `"}`)
	}
	page := toolsAPI(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Method") == "tools/list" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":2,"result":{"tools":[`+list.String()[1:]+`]}}`)
			return
		}
		demoServer(w, r)
	}).visit(t, "/console/tools/demo").Body.String()
	contains(t, page, "and 7 more", "é…</td>")
	if strings.Contains(page, "\ufffd") || len(page) > maxToolRows*(maxDescription+500) {
		t.Errorf("%d bytes", len(page))
	}
}
