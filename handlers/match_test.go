package handlers

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestRoutesAreFoundAsBaseURLsAreWritten(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/models":                       "openai models",
		"/v1/models/":                      "openai models",
		"/v1/models/openai/gpt-4o":         "openai models openai/gpt-4o",
		"/v1/models/openrouter/a/b:free":   "openai models openrouter/a/b:free",
		"/v1/models/openai/gpt-4o/":        "openai models openai/gpt-4o",
		"/v1/chat/completions":             "openai chat",
		"/v1//chat/completions":            "openai chat",
		"//v1/chat/completions/":           "openai chat",
		"/v1/responses":                    "openai responses",
		"/api/v1/models":                   "openrouter models",
		"/api/v1/model/openai/gpt-4o":      "openrouter models openai/gpt-4o",
		"/api/v1/chat/completions":         "openrouter chat",
		"/api/v1/responses":                "openrouter responses",
		"/api/v1/activity":                 "openrouter activity",
		"/api/v1/generation":               "openrouter generation",
		"/api/v1/key":                      "openrouter key",
		"/v1/workstations":                 "openai workstations",
		"/v1/workstations/":                "openai workstations",
		"/v1/workstations/d1":              "openai workstations d1",
		"/v1/workstations//d1":             "openai workstations d1",
		"/v1/workstations/d1/vnc":          "openai vnc_url d1",
		"/v1/workstations/d1/vnc/x":        "",
		"/v1/workstations/d1/sessions":     "openai workstations d1",
		"/v1/workstations/d1/sessions/s":   "openai workstations d1 s",
		"/v1/workstations/{id}":            "openai workstations {id}",
		"/api/v1/workstations":             "",
		"/v1/activity":                     "",
		"/v1/chat":                         "",
		"/v1/chat/completions/extra":       "",
		"/v1/responses/resp_1":             "openai stored_responses resp_1",
		"/v1/responses/resp_1/input_items": "openai stored_responses resp_1",
		"/v1/responses/resp_1/cancel":      "openai stored_responses resp_1",
		"/v1/responses/resp_1/output":      "",
		"/v1/responses/input_tokens":       "openai input_tokens",
		"/v1/responses/compact":            "openai compact",
		"/api/v1/responses/resp_1":         "",
		"/api/v1/models/openai/gpt-4o":     "",
		"/api/v1/model":                    "",
		"/api/v1/model/":                   "",
		"/api/v1/models/count":             "openrouter model_count",
		"/api/v1/models/a/endpoints":       "openrouter model_endpoints a",
		"/api/v1/models/a/b/c/endpoints":   "openrouter model_endpoints a/b/c",
		"/api/v1/models/endpoints":         "",
		"/api/v1/models//endpoints":        "",
		"/v1beta/models":                   "google models",
		"/v1beta/models/g/a:b":             "google models g/a:b",
		"/v1beta/models/:generateContent":  "google models :generateContent",
		"/v1beta/files":                    "",
		"/V1/models":                       "",
		"/":                                "",
		"":                                 "",
	} {
		got := ""
		if p := matchPath(path); p != nil {
			got = p.api.Name() + " " + p.operations[0].Name
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

func TestOnlySlashesAreForgiven(t *testing.T) {
	for path, want := range map[string]string{
		"/a//b": "/a/b", "////a": "/a", "/a/": "/a", "/a///": "/a", "/": "/", "//": "/", "": "", "/a/../b": "/a/../b",
	} {
		if got := cleanPath(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestMethodsOfAPath(t *testing.T) {
	for _, c := range []struct {
		method, path string
		want         *Operation
	}{
		{"GET", "/v1/models", modelsEndpoint},
		{"HEAD", "/v1/models", modelsEndpoint},
		{"POST", "/v1/models", nil},
		{"POST", "/v1/chat/completions", chatEndpoint},
		{"HEAD", "/v1/chat/completions", nil},
		{"GET", "/v1/workstations/d1", showEndpoint},
		{"HEAD", "/v1/workstations/d1", showEndpoint},
		{"PUT", "/v1/workstations/d1", registerEndpoint},
		{"DELETE", "/v1/workstations/d1", releaseEndpoint},
		{"PATCH", "/v1/workstations/d1", nil},
		{"DELETE", "/v1/workstations/d1/sessions/s1", endSessionEndpoint},
		{"GET", "/v1/workstations/d1/sessions", sessionsEndpoint},
	} {
		if got := matchPath(c.path).operation(nil, httptest.NewRequest(c.method, c.path, nil)); got != c.want {
			t.Errorf("%s %s: %+v", c.method, c.path, got)
		}
	}
}

func TestAWrongMethodIsToldTheRightOnes(t *testing.T) {
	g := startGateway(t, setup{})
	for path, allow := range map[string]string{
		"/v1/models": "GET", "/v1/chat/completions": "POST", "/v1/workstations/d1": "GET, PUT, DELETE", "/v1/workstations/d1/vnc": "POST",
	} {
		a := call(t, g, "PATCH", path, "", "")
		a.Want(t, 405, "method_not_allowed", "PATCH is not possible on "+path+"; use "+allow)
		if got := a.Header().Get("Allow"); got != allow {
			t.Errorf("%s: Allow %q", path, got)
		}
	}
}

func TestOpeningHandshakesOfWebSockets(t *testing.T) {
	for _, c := range []struct {
		method, upgrade string
		want            bool
	}{
		{"GET", "websocket", true},
		{"GET", "h2c, WebSocket", true},
		{"GET", "h2c", false},
		{"GET", "", false},
		{"POST", "websocket", false},
	} {
		r := newTestRequest(c.method, "/v1/responses", "", "")
		r.Header.Set("Upgrade", c.upgrade)
		if got := asksForWebSocket(r); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	long := newTestRequest("PATCH"+strings.Repeat("X", 20), "/v1/models", "", "")
	long.URL.Path = "/v1/models" + strings.Repeat("x", 300)
	if e := matchPath("/v1/models").wrongMethod(nil, long); len(e.Message) > 300 {
		t.Errorf("a caller's words are repeated without bound: %s", e.Message)
	}
	long.Header.Set("Upgrade", "websocket")
	long.Method = http.MethodGet
	if e := matchPath("/v1/models").wrongMethod(nil, long); len(e.Message) > 300 {
		t.Errorf("a caller's words are repeated without bound: %s", e.Message)
	}
}

// The SDKs of several families have the same paths; Google's have three versions.
func TestFamiliesOfOnePathAreToldApart(t *testing.T) {
	for request, want := range map[string]string{
		"GET /v1/models":                           "openai",
		"GET /v1/models X-Goog-Api-Key":            "google",
		"GET /v1/models/a/b X-Goog-Api-Client":     "google",
		"GET /v1/models Anthropic-Version":         "anthropic",
		"GET /v1/files X-Goog-Api-Key":             "",
		"POST /v1/models/a/b:generateContent":      "google",
		"POST /v1alpha/models/a/b:countTokens":     "google",
		"GET /v1alpha/models X-Goog-Api-Key":       "google",
		"POST /v1/models/a/b":                      "openai",
		"POST /v1/chat/completions X-Goog-Api-Key": "openai",
		"GET /api/v1/models X-Goog-Api-Key":        "openrouter",
	} {
		parts := append(strings.Fields(request), "X")
		r := &http.Request{Method: parts[0], URL: &url.URL{Path: parts[1]}, Header: http.Header{parts[2]: {"x"}}}
		got := ""
		if m := matchRequest(r); m != nil {
			got = m.api.Name()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}
