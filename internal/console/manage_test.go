package console

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/agents" // pages read the routes of features too
	_ "github.com/gatehouse-proxy/gatehouse/handlers/keys"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/mcp"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/recordings"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// manageAPI has answers of public routes, by method and path, and keeps what they are asked.
type manageAPI struct {
	t       *testing.T
	key     keys.Key
	answers map[string]string // "METHOD /path", or "METHOD /path?source=SOURCE" or "…?subject=", "?step=", "?from=": "STATUS body"
	known   string            // If-None-Match of visits
	asked   []sent
}

// sent is a request to a public route.
type sent struct {
	route, body string
	query       url.Values
	header      http.Header
}

func newManageAPI(t *testing.T, answers map[string]string) *manageAPI {
	return &manageAPI{t: t, key: keys.Key{Name: "ops", Tenant: "acme", Scopes: 1<<16 - 1}, answers: answers}
}

func (a *manageAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	route := r.Method + " " + r.URL.Path
	a.asked = append(a.asked, sent{route, string(body), r.URL.Query(), r.Header})
	if !isPublic(r.Method, r.URL.EscapedPath()) {
		a.t.Errorf("%s is no public route", route)
	}
	asked := route
	if source := r.URL.Query().Get("source"); source != "" {
		asked += "?source=" + source
	}
	for _, name := range []string{"subject", "code", "step", "from"} {
		if one := asked + "?" + name + "=" + r.URL.Query().Get(name); a.answers[one] != "" {
			asked = one
			break
		}
	}
	text, answer, _ := strings.Cut(a.answers[asked], " ")
	status, err := strconv.Atoi(text)
	if err != nil {
		status, answer = http.StatusNotFound, `{"error":{"message":"there is no such thing","code":"not_found"}}`
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// isPublic reports whether the table of the API has a route.
func isPublic(method, path string) bool {
	for _, name := range handlers.RouteNames() {
		pattern := "^" + regexp.MustCompile(`\\\{[a-z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(name), "[^/]+") + "$"
		if regexp.MustCompile(pattern).MatchString(method + " " + path) {
			return true
		}
	}
	return false
}

// last is the last request that changed something.
func (a *manageAPI) last() sent {
	for _, s := range slices.Backward(a.asked) {
		if !strings.HasPrefix(s.route, "GET ") {
			return s
		}
	}
	a.t.Fatal("nothing was changed")
	return sent{}
}

// visit returns the answer of a page; a form makes it a POST.
func (a *manageAPI) visit(path string, form url.Values) *httptest.ResponseRecorder {
	a.t.Helper()
	console := &Console{config: Config{API: func(request.Caller) http.Handler { return a }, Logger: zap.NewNop()}}
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.HandleFunc(p.method+" "+Prefix+p.path, func(w http.ResponseWriter, r *http.Request) {
			caller := request.Caller{Credential: keys.Credential{Key: &a.key}}
			(&visit{w: w, r: r, console: console, page: &p, caller: caller, now: pageTime, query: r.URL.Query()}).serve()
		})
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(a.t.Context(), http.MethodGet, path, nil)
	if form != nil {
		r = httptest.NewRequestWithContext(a.t.Context(), http.MethodPost, path, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	if a.known != "" {
		r.Header.Set("If-None-Match", a.known)
	}
	mux.ServeHTTP(w, r)
	return w
}

// shows fails the test if a page lacks a text; a text after "!" must not be there.
func (a *manageAPI) shows(w *httptest.ResponseRecorder, status int, texts ...string) {
	a.t.Helper()
	got := text(w.Body.String())
	if w.Code != status {
		a.t.Fatalf("status %d, want %d: %s", w.Code, status, got)
	}
	for _, want := range texts {
		want, not := strings.CutPrefix(want, "!")
		if strings.Contains(got, want) == not {
			a.t.Errorf("%q: not %v in\n%s", want, !not, got)
		}
	}
}

// wantRedirect fails the test unless a form was done and leads to a page.
func (a *manageAPI) wantRedirect(w *httptest.ResponseRecorder, to string) {
	a.t.Helper()
	if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != to {
		a.t.Errorf("%d to %q, want %q: %s", w.Code, got, to, text(w.Body.String()))
	}
}

// refusal is the answer of a route that refuses a member.
func refusalOf(param, message string) string {
	return `400 {"error":{"message":"` + message + `","type":"invalid_request_error","param":"` + param + `","code":"invalid_value"}}`
}

// Every form of every page goes to a page of the table that takes it.
func TestEveryFormLeadsToAPage(t *testing.T) {
	action := regexp.MustCompile(`<form[^>]*method="post"[^>]*>`)
	target := regexp.MustCompile(`action="([^"]*)"`)
	forms := 0
	files, err := templateFiles.ReadDir("templates")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := templateFiles.ReadFile("templates/" + file.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range action.FindAllString(string(source), -1) {
			forms++
			to := target.FindStringSubmatch(tag)
			if to == nil || strings.Contains(to[1], "{{") { // the page itself, or a path of its own page's methods
				continue
			}
			if !slices.ContainsFunc(pages, func(p page) bool { return p.method == http.MethodPost && Prefix+p.path == to[1] }) && to[1] != signInPath && to[1] != Prefix+"/sign-out" {
				t.Errorf("%s: no page takes %s", file.Name(), tag)
			}
		}
	}
	if forms < 8 {
		t.Errorf("only %d forms were looked at", forms)
	}
}

func TestAPageThatManagesNeedsItsScope(t *testing.T) {
	for path, scope := range map[string]string{
		"/console/providers": "providers:read", "/console/keys": "keys:manage", "/console/keys/new": "keys:manage", "/console/workstations/desk1/release": "workstations:manage",
		"/console/workstations": "workstations:manage or workstations:connect", "/console/sessions": "workstations:manage or workstations:connect",
	} {
		a := newManageAPI(t, nil)
		a.key.Scopes = keys.ChatWrite
		a.shows(a.visit(path, nil), 403, "the key needs "+scope)
		if len(a.asked) > 0 {
			t.Errorf("%s asked %v", path, a.asked)
		}
	}
}
