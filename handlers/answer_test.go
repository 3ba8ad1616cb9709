package handlers

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// answer is a recorder that also knows what net/http would complain of.
type answer struct {
	*httptest.ResponseRecorder
	heads     int // times that a status was written
	deadlines []time.Time
}

func (a *answer) WriteHeader(status int) {
	a.heads++
	a.ResponseRecorder.WriteHeader(status)
}

func (a *answer) SetReadDeadline(t time.Time) error {
	a.deadlines = append(a.deadlines, t)
	return nil
}

func newAnswer() *answer { return &answer{ResponseRecorder: httptest.NewRecorder()} }

// readCloser is a request's body that shows how much of it was read.
type readCloser struct{ *strings.Reader }

func (readCloser) Close() error { return nil }

// newTestRequest is one with a key ("" for none) and a body ("" for none).
func newTestRequest(method, target, key, body string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	if body != "" {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+secretOf(key))
	}
	return r
}

// nextHandler answers 418 and shows what it got.
type nextHandler struct{ got *http.Request }

func (n *nextHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	n.got = r
	w.WriteHeader(http.StatusTeapot)
	return nil
}

// send runs a handler. It fails the test unless exactly one answer was written.
func send(t testing.TB, h caddyhttp.MiddlewareHandler, r *http.Request) *answer {
	t.Helper()
	a := newAnswer()
	if err := h.ServeHTTP(a, r, new(nextHandler)); err != nil {
		t.Errorf("%s %s: an error for Caddy: %v", r.Method, r.URL, err)
	}
	if a.heads != 1 {
		t.Errorf("%s %s: %d statuses were written", r.Method, r.URL, a.heads)
	}
	return a
}

// call sends a request to the whole API.
func call(t testing.TB, g *gateway.Gateway, method, target, key, body string) *answer {
	t.Helper()
	return send(t, &Gatehouse{gateway: g}, newTestRequest(method, target, key, body))
}

// at is the value at a path in a JSON body: names and indices.
func (a *answer) at(t testing.TB, path ...any) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(a.Body.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	for _, step := range path {
		switch at := v.(type) {
		case map[string]any:
			name, _ := step.(string)
			v = at[name]
		case []any:
			i, _ := step.(int)
			if i >= len(at) {
				return nil
			}
			v = at[i]
		default:
			return nil
		}
	}
	return v
}

// want checks the status, and in the shape of either family the refusal and a part of its message.
func (a *answer) want(t testing.TB, status int, code, message string) {
	t.Helper()
	if a.Code != status {
		t.Errorf("status %d, want %d: %s", a.Code, status, a.Body)
		return
	}
	if code == "" {
		return
	}
	got := a.at(t, "error", "code")
	if a.Header().Get(api.GenerationIDHeader) != "" {
		got = a.at(t, "error", "metadata", "error_type")
	}
	text, _ := a.at(t, "error", "message").(string)
	if got != code || !strings.Contains(text, message) {
		t.Errorf("%v %q, want %s with %q", got, text, code, message)
	}
	if media := a.Header().Get("Content-Type"); media != "application/json" {
		t.Errorf("Content-Type %q", media)
	}
}

// rows are the records of the default tenant, newest first.
func rows(t testing.TB, g *gateway.Gateway) []activity.Record {
	t.Helper()
	return rowsOf(t, g, keys.DefaultTenant)
}

func rowsOf(t testing.TB, g *gateway.Gateway, tenant string) []activity.Record {
	t.Helper()
	page, err := g.Requests().Activity.Query(t.Context(), activity.Filter{Tenant: tenant, Limit: 100})
	must(t, err)
	return page.Records
}
