package handlerstest

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

// Answer is a recorder of an answer that also knows what net/http would complain of.
type Answer struct {
	*httptest.ResponseRecorder
	Heads     int // times that a status was written
	Deadlines []time.Time
}

func (a *Answer) WriteHeader(status int) {
	a.Heads++
	a.ResponseRecorder.WriteHeader(status)
}

func (a *Answer) SetReadDeadline(t time.Time) error {
	a.Deadlines = append(a.Deadlines, t)
	return nil
}

// NewAnswer returns an empty one.
func NewAnswer() *Answer { return &Answer{ResponseRecorder: httptest.NewRecorder()} }

// NewRequest is one with a key ("" for none) and a body ("" for none).
func NewRequest(method, target, key, body string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	if body != "" {
		r = httptest.NewRequest(method, target, strings.NewReader(body))
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+SecretOf(key))
	}
	return r
}

// Send runs a handler. It fails the test unless exactly one answer was written.
func Send(t testing.TB, h caddyhttp.MiddlewareHandler, r *http.Request) *Answer {
	t.Helper()
	a := NewAnswer()
	if err := h.ServeHTTP(a, r, new(Next)); err != nil {
		t.Errorf("%s %s: an error for Caddy: %v", r.Method, r.URL, err)
	}
	if a.Heads != 1 {
		t.Errorf("%s %s: %d statuses were written", r.Method, r.URL, a.Heads)
	}
	return a
}

// At is the value at a path in a JSON body: names and indices.
func (a *Answer) At(t testing.TB, path ...any) any {
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

// Want checks the status, and in the shape of either family the refusal and a part of its message.
func (a *Answer) Want(t testing.TB, status int, code, message string) {
	t.Helper()
	if a.Code != status {
		t.Errorf("status %d, want %d: %s", a.Code, status, a.Body)
		return
	}
	if code == "" {
		return
	}
	got := a.At(t, "error", "code")
	if a.Header().Get(api.GenerationIDHeader) != "" {
		got = a.At(t, "error", "metadata", "error_type")
	}
	text, _ := a.At(t, "error", "message").(string)
	if got != code || !strings.Contains(text, message) {
		t.Errorf("%v %q, want %s with %q", got, text, code, message)
	}
	if media := a.Header().Get("Content-Type"); media != "application/json" {
		t.Errorf("Content-Type %q", media)
	}
}

// Rows are the records of the default tenant, newest first.
func Rows(t testing.TB, g *gateway.Gateway) []activity.Record {
	t.Helper()
	return RowsOf(t, g, keys.DefaultTenant)
}

// RowsOf are the records of a tenant, newest first.
func RowsOf(t testing.TB, g *gateway.Gateway, tenant string) []activity.Record {
	t.Helper()
	page, err := g.Requests().Activity.Query(t.Context(), activity.Filter{Tenant: tenant, Limit: 100})
	Must(t, err)
	return page.Records
}
