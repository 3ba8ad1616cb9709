package console

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/client"
)

// pageTime is when the pages of tests are visited.
var pageTime = time.Date(2026, 11, 23, 2, 20, 0, 0, time.UTC)

// fakeAPI has fixed answers of public routes, by their path. A route that is not there is 404.
type fakeAPI struct {
	answers map[string]func(url.Values) string
	// handlers answer instead, by their path.
	handlers map[string]http.HandlerFunc
	asked    []*url.URL
	refusal  string // if set, every route answers with it
	status   int    // of refusal
	header   http.Header
	until    string // the header of that name of every answer, if set
	key      keys.Key
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{answers: map[string]func(url.Values) string{}, status: http.StatusBadRequest, header: http.Header{}, key: keys.Key{Name: "dev", Tenant: "acme", Scopes: keys.ActivityRead | keys.ModelsRead}}
}

// always makes a route answer the same.
func (a *fakeAPI) always(path, answer string) {
	a.answers[path] = func(url.Values) string { return answer }
}

func (a *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.asked = append(a.asked, r.URL)
	if a.until != "" {
		w.Header().Set("X-Gatehouse-Activity-Until", a.until)
	}
	if a.refusal != "" {
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.refusal)
		return
	}
	if h := a.handlers[r.URL.Path]; h != nil {
		h(w, r)
		return
	}
	answer := ""
	if route := a.answers[r.URL.Path]; route != nil {
		answer = route(r.URL.Query())
	}
	if answer == "" {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"error":{"message":"there is no such thing","code":"not_found"}}`
	}
	_, _ = io.WriteString(w, answer)
}

// queries returns those with which a route was asked.
func (a *fakeAPI) queries(path string) (all []url.Values) {
	for _, u := range a.asked {
		if u.Path == path {
			all = append(all, u.Query())
		}
	}
	return all
}

// visit returns the answer to a GET of a page, signed in.
func (a *fakeAPI) visit(t *testing.T, path string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Header = a.header
	return a.answer(t, r)
}

// answer returns the answer to a request, signed in.
func (a *fakeAPI) answer(t *testing.T, r *http.Request) *httptest.ResponseRecorder {
	t.Helper()
	console := &Console{config: Config{
		API: func(request.Caller) http.Handler { return a }, Logger: zap.NewNop(), Now: func() time.Time { return pageTime },
		Tools: func(ctx context.Context, send Sender) (version string, tools []Tool, err error) {
			version, found, err := client.List(ctx, send)
			for _, t := range found {
				tools = append(tools, Tool{t.Name, t.Title, t.Description})
			}
			return version, tools, err
		},
		TraceURL: "https://traces.example.com/{trace_id}",
	}}
	mux := http.NewServeMux()
	for _, p := range pages {
		mux.HandleFunc(p.method+" "+Prefix+p.path, func(w http.ResponseWriter, r *http.Request) {
			caller := request.Caller{Credential: keys.Credential{Key: &a.key}}
			(&visit{w: w, r: r, console: console, page: &p, caller: caller, now: pageTime, query: r.URL.Query()}).serve()
		})
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}
