package handlers

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/gatehouse-proxy/gatehouse/internal/api"
)

func TestRoutesAreFoundAsBaseURLsAreWritten(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/models":                     "openai models",
		"/v1/models/":                    "openai models",
		"/v1/models/openai/gpt-4o":       "openai models openai/gpt-4o",
		"/v1/models/openrouter/a/b:free": "openai models openrouter/a/b:free",
		"/v1/models/openai/gpt-4o/":      "openai models openai/gpt-4o",
		"/v1/chat/completions":           "openai chat",
		"/v1//chat/completions":          "openai chat",
		"//v1/chat/completions/":         "openai chat",
		"/v1/responses":                  "openai responses",
		"/api/v1/models":                 "openrouter models",
		"/api/v1/model/openai/gpt-4o":    "openrouter models openai/gpt-4o",
		"/api/v1/chat/completions":       "openrouter chat",
		"/api/v1/responses":              "openrouter responses",
		"/api/v1/activity":               "openrouter activity",
		"/api/v1/generation":             "openrouter generation",
		"/api/v1/key":                    "openrouter key",
		"/v1/workstations":               "openai workstations",
		"/v1/workstations/":              "openai workstations",
		"/v1/workstations/d1":            "openai workstations d1",
		"/v1/workstations//d1":           "openai workstations d1",
		"/v1/workstations/d1/vnc":        "openai vnc_url d1",
		"/v1/workstations/d1/vnc/x":      "",
		"/v1/workstations/d1/sessions":   "openai workstations d1",
		"/v1/workstations/d1/sessions/s": "openai workstations d1 s",
		"/v1/workstations/{id}":          "openai workstations {id}",
		"/api/v1/workstations":           "",
		"/v1/activity":                   "",
		"/v1/chat":                       "",
		"/v1/chat/completions/extra":     "",
		"/v1/responses/resp_1":           "",
		"/api/v1/models/openai/gpt-4o":   "",
		"/api/v1/model":                  "",
		"/api/v1/model/":                 "",
		"/V1/models":                     "",
		"/":                              "",
		"":                               "",
	} {
		got := ""
		if p := matchPath(path); p != nil {
			got = p.api.Name() + " " + p.endpoints[0].name
			for _, name := range []string{p.name, p.item} {
				if name != "" {
					got += " " + name
				}
			}
		}
		if got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestTidyForgivesOnlySlashes(t *testing.T) {
	for path, want := range map[string]string{
		"/a//b": "/a/b", "////a": "/a", "/a/": "/a", "/a///": "/a", "/": "/", "//": "/", "": "", "/a/../b": "/a/../b",
	} {
		if got := tidy(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

// Each endpoint has one label a family, whatever the path: labels are bounded.
func TestEveryRouteHasItsLabel(t *testing.T) {
	for _, r := range routes {
		label := labelOf(r.api, r.endpoint)
		if !slices.ContainsFunc(routes, func(other route) bool {
			return other.endpoint == r.endpoint && other.api == r.api && label == other.endpoint.method+" "+other.path
		}) {
			t.Errorf("%s: label %q is no route of the same endpoint", r.path, label)
		}
	}
	if got := labelOf(api.OpenAI{}, keyEndpoint); got != "GET key" {
		t.Errorf("an endpoint outside its family: %q", got)
	}
}

func TestAForgottenPrefixIsExplained(t *testing.T) {
	for path, ours := range map[string]bool{
		"/chat/completions": true, "/responses/": true, "/models": true, "/": false, "/model": false, "/x/models": false,
	} {
		if got := forgottenPrefix(path); (got != nil) != ours {
			t.Errorf("%q: %v", path, got)
		}
	}
}

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
		{"vnc_url", "/desks/workstations/d1/vnc", "vnc_url d1"},
		{"vnc_url", "/workstations/workstations/vnc", "vnc_url workstations"},
		{"vnc_url", "/desks/workstations/d1", ""},
		{"vnc_url", "/desks", ""},
		{"workstations", "/desks/workstations", "workstations"},
		{"workstations", "/desks/workstations/d1/sessions/s1", "workstations d1 s1"},
		{"workstations", "/desks/workstations/d1/vnc", ""},
		{"workstations", "/desks", ""},
	} {
		got := ""
		if p := matchEndpoint(c.endpoint, c.path); p != nil {
			got = strings.TrimSpace(strings.TrimSpace(p.endpoints[0].name+" "+p.name) + " " + p.item)
		}
		if got != c.want {
			t.Errorf("%s at %q: %q, want %q", c.endpoint, c.path, got, c.want)
		}
	}
}

func TestEveryEndpointOfTheTableIsAModule(t *testing.T) {
	want := []string{"models", "chat", "responses", "workstations", "vnc_url", "activity", "generation", "key"}
	if got := endpointNames(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	for _, name := range want {
		info, err := caddy.GetModule("http.handlers.gatehouse_" + name)
		if err != nil {
			t.Fatal(err)
		}
		if made := info.New().CaddyModule().ID; made != info.ID {
			t.Errorf("%s makes a %s", info.ID, made)
		}
	}
}

func TestOnlyARealPreflightIsLeftToTheSite(t *testing.T) {
	for _, c := range []struct {
		method, origin, asked string
		want                  bool
	}{
		{http.MethodOptions, "https://app.example", "POST", true},
		{http.MethodOptions, "", "POST", false},
		{http.MethodOptions, "https://app.example", "", false},
		{http.MethodPost, "https://app.example", "POST", false},
	} {
		r := httptest.NewRequest(c.method, "/v1/models", nil)
		r.Header.Set("Origin", c.origin)
		r.Header.Set("Access-Control-Request-Method", c.asked)
		if got := preflight(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
