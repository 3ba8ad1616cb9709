package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
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
	for _, name := range []string{"activity", "backup", "budgets", "cluster", "health", "limits", "mcp", "providers", "series", "why"} {
		if status, code := refusal(t, http.MethodPost, Root+name); status != http.StatusMethodNotAllowed || code != "method_not_allowed" {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
	if status, _ := refusal(t, http.MethodGet, Root+"series/rebuild"); status != http.StatusMethodNotAllowed {
		t.Errorf("a rebuild by GET: %d", status)
	}
}

func TestWithoutTheAppEveryRouteIsNotFound(t *testing.T) {
	for _, name := range []string{"activity", "backup", "limits", "sessions", "why", "workstations"} {
		if status, code := refusal(t, http.MethodGet, Root+name); status != http.StatusNotFound || code != "not_found" {
			t.Errorf("%s: %d %s", name, status, code)
		}
	}
}
