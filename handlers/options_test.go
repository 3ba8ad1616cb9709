package handlers

import (
	"strings"
	"testing"
)

func TestQueriesThatAreNotUnderstoodAreRefused(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	for _, c := range []struct{ target, code, message string }{
		{"/api/v1/activity?model=x;y", "invalid_request", "malformed"},
		{"/api/v1/activity?colour=x", "invalid_request", `unknown parameter "colour"; this route takes api_key_hash, app, code, cursor`},
		{"/api/v1/activity?limit=0", "invalid_request", "limit: must be a number"},
		{"/api/v1/generation?id=a;b", "invalid_request", "malformed"},
		{"/api/v1/generation?id=a&x=b&w=c", "invalid_request", `unknown parameter "w"; this route takes id`}, // the first by name
		{"/api/v1/generation?" + strings.Repeat("y", 65) + "=b", "invalid_request", `"` + strings.Repeat("y", 64) + `"; this`},
		{"/api/v1/key?name=other", "invalid_request", `unknown parameter "name"; this route takes none`},
		{"/api/v1/key?%", "invalid_request", "malformed"},
		{"/v1/models?a;b", "invalid_value", "malformed"},
		{"/api/v1/models?limit=0", "invalid_request", "limit must be a whole number of at least 1"},
		{"/v1/workstations?state=released", "unsupported_parameter", "takes cursor, label, limit, source, tenant"},
		{"/v1/workstations/desk1?tenant=default", "unsupported_parameter", "takes none"},
		{"/v1/sessions?state=open", "unsupported_parameter", "takes key, tenant, workstation"},
		{"/api/v1/limits?colour=x", "invalid_request", "takes cursor, limit, min_used, subject, tenant, type"},
		{"/api/v1/limits?type=x", "invalid_request", "type: must be budget, rate or concurrency"},
		{"/v1/workstations/desk1?x=1", "unsupported_parameter", "takes none"},
		{"/v1/workstations/desk1/sessions?open=1", "unsupported_parameter", "takes none"},
	} {
		call(t, g, "GET", c.target, "full", "").Want(t, 400, c.code, c.message)
	}
	a := call(t, g, "GET", "/v1/workstations?state=released", "full", "")
	if got := a.At(t, "error", "param"); got != "state" {
		t.Errorf("param %v", got)
	}
	for _, target := range []string{
		"/v1/models?client_version=0.169.0", "/api/v1/models?category=programming&supported_parameters=tools",
		"/v1/models/acme/m?x=1", "/api/v1/activity?limit=1&user_id=u&", "/api/v1/key?",
	} {
		call(t, g, "GET", target, "full", "").Want(t, 200, "", "")
	}
}

func TestOptionsAreReadStrictly(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	const path = "/v1/workstations/desk1/vnc"
	for _, c := range []struct {
		body    string
		status  int
		code    string
		message string
		param   any
	}{
		{"", 200, "", "", nil},
		{" \n", 200, "", "", nil},
		{"{}", 200, "", "", nil},
		{`{"view_only":null,"shared":null,"expires_in":null}`, 200, "", "", nil},
		{`{"colour":1}`, 400, "unsupported_parameter", `unknown field "colour"`, "colour"},
		{`{"shared":true,"shared":false}`, 400, "invalid_json", "shared", "shared"},
		{`{"shared":true,"Shared":false}`, 400, "invalid_json", "Shared", "Shared"},
		{`{"shared":"yes"}`, 400, "invalid_value", "shared: want true or false", "shared"},
		{`{"view_only":1}`, 400, "invalid_value", "view_only: want true or false", "view_only"},
		{`{"expires_in":"60"}`, 400, "invalid_value", "expires_in: want seconds", "expires_in"},
		{`{"expires_in":1.5}`, 400, "invalid_value", "expires_in: want seconds", "expires_in"},
		{`{"expires_in":99999999999999999999}`, 400, "invalid_value", "expires_in: want seconds", "expires_in"},
		{`[]`, 400, "invalid_json", "", nil},
		{`true`, 400, "invalid_json", "", nil},
		{`{`, 400, "invalid_json", "", nil},
		{`{} {}`, 400, "invalid_json", "", nil},
		{"{}" + strings.Repeat(" ", 64<<10-2), 200, "", "", nil},
		{"{}" + strings.Repeat(" ", 64<<10-1), 413, "request_too_large", "65536", nil},
	} {
		a := call(t, g, "POST", path, "connect", c.body)
		a.Want(t, c.status, c.code, c.message)
		if got := a.At(t, "error", "param"); c.code != "" && got != c.param {
			t.Errorf("%.40s: param %v", c.body, got)
		}
	}
	r := newTestRequest("POST", path, "connect", "{}")
	r.Header.Set("Content-Encoding", "gzip")
	send(t, &Gatehouse{gateway: g}, r).Want(t, 415, "unsupported_encoding", "gzip")
}
