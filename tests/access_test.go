package tests

import (
	"net/http"
	"strings"
	"testing"
)

// endpoint is a route of the API and the scope it needs, "" for none.
type endpoint struct{ path, scope, body string }

func places(generation string) []endpoint {
	return []endpoint{
		{"/v1/models", "models:read", ""},
		{"/v1/models/test%2Fecho", "models:read", ""},
		{chatV1, "chat:write", chat("fake/echo", "")},
		{responsesV1, "chat:write", ask("fake/echo", "")},
		{"/api/v1/models", "models:read", ""},
		{"/api/v1/model/test/echo", "models:read", ""},
		{"/api/v1/models/count", "models:read", ""},
		{"/api/v1/models/test%2Fecho/endpoints", "models:read", ""},
		{chatRouter, "chat:write", chat("fake/echo", "")},
		{responsesOR, "chat:write", ask("fake/echo", "")},
		{"/api/v1/activity", "activity:read", ""},
		{"/api/v1/generation?id=" + generation, "activity:read", ""},
		{"/api/v1/key", "", ""},
		{"/api/v1/limits", "", ""},
	}
}

// scopeKeys are the keys with only that scope.
var scopeKeys = map[string]string{"chat:write": "chat", "models:read": "models", "activity:read": "activity"}

func TestEveryRouteAsksForItsScope(t *testing.T) {
	h := start(t, setup{})
	generation := h.post(chatRouter, "full", chat("fake/echo", "")).header.Get("X-Generation-Id")
	for _, p := range places(generation) {
		for scope, key := range scopeKeys {
			a := h.send(h.request(p.path, key, p.body))
			if p.scope == scope || p.scope == "" {
				if a.status != 200 || a.header.Get("Content-Type") != "application/json" {
					t.Errorf("%s with %s: %d %s", p.path, scope, a.status, a.body)
				}
				wantIDs(t, p.path, a)
				parse(t, a.body)
				continue
			}
			wantRefusal(t, p.path, a, 403, "insufficient_scope")
			if !strings.Contains(string(a.body), p.scope) {
				t.Errorf("%s: the refusal does not name %s: %s", p.path, p.scope, a.body)
			}
			if row := h.row(a.header.Get("X-Request-Id")); at(row, "code") != "insufficient_scope" || at(row, "status") != number("403") || at(row, "key") != key {
				t.Errorf("%s: row %v", p.path, row)
			}
		}
	}
}

func TestEveryBadKeyGetsTheSame401(t *testing.T) {
	h := start(t, setup{})
	var before = len(h.upstream.Requests())
	for _, p := range places("gen-x") {
		first := ""
		for name, authorization := range map[string]string{
			"none": "", "unknown": "Bearer " + secretOf("nobody"), "expired": "Bearer " + secretOf("expired"),
			"disabled": "Bearer " + secretOf("disabled"), "not bearer": "Basic " + secretOf("full"),
			"empty": "Bearer ", "a name": "Bearer full", "long": "Bearer " + strings.Repeat("x", 4096),
		} {
			r := h.request(p.path, "", p.body)
			if authorization != "" {
				r.Header.Set("Authorization", authorization)
			}
			a := h.send(r)
			wantRefusal(t, p.path, a, 401, "invalid_api_key")
			if a.header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s, key %s: no WWW-Authenticate", p.path, name)
			}
			if first == "" {
				first = string(a.body)
			}
			if string(a.body) != first {
				t.Errorf("%s, key %s: %s, but another bad key got %s", p.path, name, a.body, first)
			}
		}
	}
	if n := len(h.upstream.Requests()) - before; n != 0 {
		t.Errorf("%d requests were forwarded", n)
	}
	if a := h.get("/api/v1/activity?status=401", "activity"); at(parse(t, a.body), "data", 0) != nil {
		t.Errorf("requests without a valid key were stored: %s", a.body)
	}
}

func TestTheSchemeBearerIsNotCaseSensitive(t *testing.T) {
	h := start(t, setup{})
	r := h.request("/v1/models", "", "")
	r.Header.Set("Authorization", "bEARER "+secretOf("full"))
	if a := h.send(r); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestUnknownURLsAndWrongMethodsAreAnsweredInTheAPIsShape(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{"/v1/completions", "/v1/", "/v1/responses/resp_1", "/api/v1/organization", "/api/v1/chat"} {
		a := h.get(path, "full")
		wantRefusal(t, path, a, 404, "unknown_url")
		if !strings.Contains(string(a.body), path) {
			t.Errorf("%s is not named: %s", path, a.body)
		}
	}
	for _, p := range places("x") {
		wrong, allowed := http.MethodPut, http.MethodGet
		if p.body != "" {
			allowed = http.MethodPost
		}
		r := h.request(p.path, "full", "")
		r.Method = wrong
		a := h.send(r)
		wantRefusal(t, p.path, a, 405, "method_not_allowed")
		if a.header.Get("Allow") != allowed {
			t.Errorf("%s: Allow %q, want %s", p.path, a.header.Get("Allow"), allowed)
		}
	}
	if a := h.get("/elsewhere", ""); a.status != 418 {
		t.Errorf("a path that is not ours: %d %s", a.status, a.body)
	}
}

func TestPathsForgiveASlashTooMany(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{"/v1//models", "/v1/models/", "/api/v1//models", "/api/v1/model/test/echo/"} {
		if a := h.get(path, "models"); a.status != 200 {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

func TestHeadIsAnsweredLikeGetWithoutABody(t *testing.T) {
	h := start(t, setup{})
	r := h.request("/v1/models", "models", "")
	r.Method = http.MethodHead
	if a := h.send(r); a.status != 200 || len(a.body) != 0 || a.header.Get("Content-Length") == "0" {
		t.Errorf("%d %v %s", a.status, a.header, a.body)
	}
}

func TestPreflightsAreLeftToTheSite(t *testing.T) {
	h := start(t, setup{})
	for _, p := range places("x") {
		r := h.request(p.path, "", "")
		r.Method = http.MethodOptions
		r.Header.Set("Origin", "https://app.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
		a := h.send(r)
		if a.status != 204 || a.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
			t.Errorf("%s: %d %v", p.path, a.status, a.header)
		}
		r = h.request(p.path, "", "") // an OPTIONS request that is not a preflight
		r.Method = http.MethodOptions
		if a := h.send(r); a.status != 405 {
			t.Errorf("%s: OPTIONS without Origin: %d", p.path, a.status)
		}
	}
}

// Codex asks for a WebSocket at responses. It goes on with HTTP at once after a 426, but only after
// seven tries after a 405.
func TestAWebSocketIsRefusedAtOnce(t *testing.T) {
	h := start(t, setup{})
	for _, path := range []string{responsesV1, responsesOR, chatV1} {
		r := h.request(path, "full", "")
		r.Method = http.MethodGet
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "h2c, WebSocket")
		r.Header.Set("Sec-WebSocket-Version", "13")
		r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		a := h.send(r)
		wantRefusal(t, path, a, 426, "upgrade_required")
		if a.header.Get("Upgrade") != "HTTP/1.1" || !strings.Contains(string(a.body), "POST") {
			t.Errorf("%s: Upgrade %q, %s", path, a.header.Get("Upgrade"), a.body)
		}
	}
	r := h.request(responsesV1, "full", bodyFor(responsesV1, "test/echo", ""))
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	if a := h.send(r); a.status != 200 {
		t.Errorf("an offer beside a POST: %d %s", a.status, a.body)
	}
}
