package handlers

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

func TestSingleEndpointsFindNamesInAnyPath(t *testing.T) {
	for _, c := range []struct{ endpoint, path, want string }{
		{"models", "/llm/models/openai/gpt-4o", "models openai/gpt-4o"},
		{"models", "/x/model/a/b:free/", "models a/b:free"},
		{"models", "/models/a/models/b", "models a/models/b"},
		{"models", "/llm/models", "models"},
		{"models", "/llm/models/", "models"},
		{"models", "/what-is-there", "models"},
		{"chat", "/anything/at/all", "chat"},
		{"chat", "/v1/models", "chat"},
		{"key", "/", "key"},
		{"vnc_url", "/lab/workstations/d1/vnc", "vnc_url d1"},
		{"vnc_url", "/workstations/workstations/vnc", "vnc_url workstations"},
		{"vnc_url", "/lab/workstations/d1", ""},
		{"vnc_url", "/lab", ""},
		{"workstations", "/lab/workstations", "workstations"},
		{"workstations", "/lab/workstations/d1/sessions/s1", "workstations d1 s1"},
		{"workstations", "/lab/workstations/d1/vnc", ""},
		{"workstations", "/lab", ""},
	} {
		got := ""
		if p := matchEndpoint(c.endpoint, c.path); p != nil {
			got = strings.TrimSpace(strings.TrimSpace(p.operations[0].Name+" "+p.name) + " " + p.item)
		}
		if got != c.want {
			t.Errorf("%s at %q: %q, want %q", c.endpoint, c.path, got, c.want)
		}
	}
}

func TestAFamilyIsChecked(t *testing.T) {
	ctx := handlerstest.Context(t, newGateway(t, setup{}))
	for family, want := range map[string]string{"": "", "openai": "openai", "openrouter": "openrouter"} {
		e := &Endpoint{name: "chat", Family: family}
		must(t, e.Provision(ctx))
		if (e.api == nil) != (want == "") || e.api != nil && e.api.Name() != want {
			t.Errorf("%q: %v", family, e.api)
		}
	}
	if err := (&Endpoint{name: "chat", Family: "acme"}).Provision(ctx); err == nil || !strings.Contains(err.Error(), `unknown family "acme"`) {
		t.Errorf("error %v", err)
	}
}

func TestSingleEndpointsAnswerOnOtherPaths(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	for _, c := range []struct {
		endpoint, family, method, path string
		status                         int
		generation                     bool // the answer is in OpenRouter's shape
		route                          string
	}{
		{"models", "", "GET", "/llm/models", 200, false, ""},
		{"models", "openrouter", "GET", "/llm/models/acme/m", 200, true, ""},
		{"models", "", "GET", "/llm/api/v1/model/acme/m", 200, true, ""},
		{"models", "openai", "GET", "/llm/api/v1/models", 200, false, ""},
		{"models", "", "GET", "/llm/models/acme/x", 404, false, "GET /v1/models"},
		{"models", "openrouter", "GET", "/llm/models/acme/x", 404, true, "GET /api/v1/models"},
		{"activity", "", "GET", "/mine?limit=0", 400, false, "GET activity"},
		{"key", "openrouter", "GET", "/mine", 200, true, ""},
		{"models", "", "POST", "/llm/models", 405, false, ""},
		{"vnc_url", "", "POST", "/lab", 404, false, ""},
		{"vnc_url", "openrouter", "POST", "/lab", 404, true, ""},
		{"limits", "openrouter", "GET", "/mine/limits", 200, true, ""},
		{"sessions", "", "GET", "/lab", 404, false, ""},
		{"sessions", "", "GET", "/lab/sessions", 200, false, ""},
		{"sessions", "", "DELETE", "/lab/sessions/vnc-1", 404, false, "DELETE /v1/sessions/{id}"},
		{"vnc_url", "", "POST", "/lab/workstations/desk1/vnc", 200, false, "POST /v1/workstations/{id}/vnc"},
	} {
		e := &Endpoint{name: c.endpoint, Family: c.family, gateway: g}
		if c.family != "" {
			e.api = apiOf(t, c.family)
		}
		before := len(rows(t, g))
		a := send(t, e, newTestRequest(c.method, c.path, "full", ""))
		if a.Code != c.status || (a.Header().Get(api.GenerationIDHeader) != "") != c.generation {
			t.Errorf("%s %s at %s: %d %v %s", c.endpoint, c.family, c.path, a.Code, a.Header(), a.Body)
		}
		route := ""
		if found := rows(t, g); len(found) > before {
			route = found[0].Route
		}
		if route != c.route {
			t.Errorf("%s %s at %s: recorded as %q, want %q", c.endpoint, c.family, c.path, route, c.route)
		}
	}
	send(t, &Endpoint{name: "vnc_url", gateway: g}, newTestRequest("POST", "/lab", "", "")).Want(t, 404, "unknown_url", "unknown URL (POST /lab)")
	send(t, &Endpoint{name: "models", gateway: g}, newTestRequest("GET", "/llm/models", "", "")).Want(t, 401, "invalid_api_key", "")
	send(t, &Endpoint{name: "models", gateway: g}, newTestRequest("GET", "/llm/models", "chat", "")).Want(t, 403, "insufficient_scope", "")
}
