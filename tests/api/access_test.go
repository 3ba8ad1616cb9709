package api

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// endpoint is a route of the API and the scope it needs, "" for none.
type endpoint struct{ path, scope, body string }

func places(generation string) []endpoint {
	return []endpoint{
		{"/v1/models", "models:read", ""},
		{"/v1/models/test%2Fecho", "models:read", ""},
		{harness.ChatV1, "chat:write", harness.Chat("fake/echo", "")},
		{harness.ResponsesV1, "chat:write", harness.Responses("fake/echo", "")},
		{"/api/v1/models", "models:read", ""},
		{"/api/v1/model/test/echo", "models:read", ""},
		{"/api/v1/models/count", "models:read", ""},
		{"/api/v1/models/test%2Fecho/endpoints", "models:read", ""},
		{harness.ChatRouter, "chat:write", harness.Chat("fake/echo", "")},
		{harness.ResponsesRouter, "chat:write", harness.Responses("fake/echo", "")},
		{"/api/v1/activity", "activity:read", ""},
		{"/api/v1/generation?id=" + generation, "activity:read", ""},
		{"/mcp/demo", "mcp:call", ""},
		{"/mcp/demo", "mcp:call", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`},
		{"/api/v1/key", "", ""},
		{"/api/v1/limits", "", ""},
	}
}

// scopeKeys are the keys with only that scope.
var scopeKeys = map[string]string{"chat:write": "chat", "models:read": "models", "activity:read": "activity"}

func TestEveryRouteAsksForItsScope(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	generation := h.Client.Post(harness.ChatRouter, "full", harness.Chat("fake/echo", "")).Header.Get("X-Generation-Id")
	for _, p := range places(generation) {
		for scope, key := range scopeKeys {
			a := h.Client.Send(h.Client.Request(p.path, key, p.body))
			if p.scope == scope || p.scope == "" {
				if a.Status != 200 || a.Header.Get("Content-Type") != "application/json" {
					t.Errorf("%s with %s: %d %s", p.path, scope, a.Status, a.Body)
				}
				harness.WantIDs(t, p.path, a)
				harness.Parse(t, a.Body)
				continue
			}
			harness.WantRefusal(t, p.path, a, 403, "insufficient_scope")
			if !strings.Contains(string(a.Body), p.scope) {
				t.Errorf("%s: the refusal does not name %s: %s", p.path, p.scope, a.Body)
			}
			if row := h.Records.Row(a.Header.Get("X-Request-Id")); harness.At(row, "code") != "insufficient_scope" || harness.At(row, "status") != harness.Number("403") || harness.At(row, "key") != key {
				t.Errorf("%s: row %v", p.path, row)
			}
		}
	}
}

func TestEveryBadKeyGetsTheSame401(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	var before = len(h.Provider.Fake.Requests())
	for _, p := range places("gen-x") {
		first := ""
		for name, authorization := range map[string]string{
			"none": "", "unknown": "Bearer " + harness.Secret("nobody"), "expired": "Bearer " + harness.Secret("expired"),
			"disabled": "Bearer " + harness.Secret("disabled"), "not bearer": "Basic " + harness.Secret("full"),
			"empty": "Bearer ", "a name": "Bearer full", "long": "Bearer " + strings.Repeat("x", 4096),
		} {
			r := h.Client.Request(p.path, "", p.body)
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
			a := h.Client.Send(r)
			harness.WantRefusal(t, p.path, a, 401, "invalid_api_key")
			if a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s, key %s: no WWW-Authenticate", p.path, name)
			}
			if first == "" {
				first = string(a.Body)
			}
			if string(a.Body) != first {
				t.Errorf("%s, key %s: %s, but another bad key got %s", p.path, name, a.Body, first)
			}
		}
	}
	if n := len(h.Provider.Fake.Requests()) - before; n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
	if a := h.Client.Get("/api/v1/activity?status=401", "activity"); harness.At(harness.Parse(t, a.Body), "data", 0) != nil {
		t.Errorf("requests without a valid key were stored: %s", a.Body)
	}
}

func TestPreflightsAreLeftToTheSite(t *testing.T) {
	h := harness.Start(t, harness.Setup{})
	for _, p := range places("x") {
		r := h.Client.Request(p.path, "", "")
		r.Method = http.MethodOptions
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		a := h.Client.Send(r)
		if a.Status != 204 || a.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
			t.Errorf("%s: %d %v", p.path, a.Status, a.Header)
		}
		r = h.Client.Request(p.path, "", "") // an OPTIONS request that is not a preflight
		r.Method = http.MethodOptions
		if a := h.Client.Send(r); a.Status != 405 {
			t.Errorf("%s: OPTIONS without Origin: %d", p.path, a.Status)
		}
	}
}
