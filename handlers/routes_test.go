package handlers

import (
	"net/http"
	"net/http/httptest"
	"testing"
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
		if r, name := findRoute(path); r != nil {
			got = r.family.name() + " " + r.endpoint.name
			if name != "" {
				got += " " + name
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
		label := labelOf(r.family, r.endpoint)
		if found, ok := exactRoutes[label[len(r.endpoint.method)+1:]]; !ok || found.endpoint != r.endpoint || found.family != r.family {
			t.Errorf("%s: label %q is no route of the same endpoint", r.path, label)
		}
	}
	if got := labelOf(openaiFamily{}, keyEndpoint); got != "GET key" {
		t.Errorf("an endpoint outside its family: %q", got)
	}
}

func TestFamilyOfUnknownURLs(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/nothing": "openai", "/api/v1/nothing": "openrouter", "/v1": "", "/api/v2/x": "", "/": "", "/v10/x": "",
	} {
		got := ""
		if f, ok := familyOf(path); ok {
			got = f.name()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
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

func TestModelInPathOfASingleEndpoint(t *testing.T) {
	for path, want := range map[string]string{
		"/llm/models/openai/gpt-4o": "openai/gpt-4o", "/x/model/a/b:free/": "a/b:free", "/llm/models": "", "/llm/models/": "",
	} {
		if got := modelInPath(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
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
