package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/handlers"
	_ "github.com/gatehouse-proxy/gatehouse/handlers/keys" // its rows
)

// refusal returns the status and the code of an answer of the route with a path.
func refusal(t *testing.T, method, path string) (status int, code string) {
	t.Helper()
	for _, route := range (API{}).Routes() {
		if route.Pattern != path {
			continue
		}
		w := httptest.NewRecorder()
		if err := route.Handler.ServeHTTP(w, httptest.NewRequest(method, path, nil)); err != nil {
			t.Fatal(err)
		}
		var answer struct{ Code string }
		if err := json.NewDecoder(w.Body).Decode(&answer); err != nil {
			t.Fatalf("%s %s: %v", method, path, err)
		}
		return w.Code, answer.Code
	}
	t.Fatalf("there is no route %s", path)
	return 0, ""
}

func TestRoutesForReadingRefuseOtherMethods(t *testing.T) {
	for _, name := range []string{"backup", "budgets", "cluster", "health", "mcp", "why"} {
		if status, code := refusal(t, http.MethodPost, root+name); status != http.StatusMethodNotAllowed || code != "method_not_allowed" {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
	if status, _ := refusal(t, http.MethodGet, root+"series/rebuild"); status != http.StatusMethodNotAllowed {
		t.Errorf("a rebuild by GET: %d", status)
	}
}

// A row that a route of the public API has lost would answer 405 to all methods.
func TestEachRouteOfCallersIsInTheirTable(t *testing.T) {
	for here, path := range publicRoutes {
		if !slices.ContainsFunc(handlers.Routes(), func(r handlers.Route) bool { return r.Path == path }) {
			t.Errorf("%s: the table has no %s", here, path)
		}
	}
}

func TestWithoutTheAppEveryRouteIsNotFound(t *testing.T) {
	for _, name := range []string{"activity", "backup", "limits", "sessions", "why", "workstations"} {
		if status, code := refusal(t, http.MethodGet, root+name); status != http.StatusNotFound || code != "not_found" {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
}
