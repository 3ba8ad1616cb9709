package tests

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

const vncOfOne = "/v1/workstations/one/vnc"

func TestVNCAnAddressIsIssued(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: d.as("one", "")})
	r := h.request(vncOfOne, "connect", "{}")
	r.Host = "evil.example:1"
	r.Header.Set("X-Forwarded-Host", "evil.example")
	before := time.Now().Truncate(time.Second)
	a := h.send(r)
	body := parse(t, a.body)
	if keys := keysOf(body); a.status != 200 || strings.Join(keys, " ") != "expires_at session vnc_url workstation_id" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	wantIDs(t, vncOfOne, a)
	url, _ := at(body, "vnc_url").(string)
	if !regexp.MustCompile(`^[a-z2-7]{26}\.vnc\.localhost:` + itoa(h.ports[2]) + `$`).MatchString(url) {
		t.Errorf("vnc_url %q", url)
	}
	if at(body, "workstation_id") != "one" {
		t.Errorf("workstation_id %v", at(body, "workstation_id"))
	}
	text, _ := at(body, "expires_at").(string)
	expires, err := time.Parse(time.RFC3339, text)
	if low, high := before.Add(5*time.Minute), time.Now().Add(5*time.Minute); err != nil || expires.Before(low) || expires.After(high) || expires.Location() != time.UTC {
		t.Errorf("expires_at %s, %v, want five minutes from now in UTC", text, err)
	}
	for name, want := range map[string]any{
		"resolution": "1280x720", "color_depth": number("24"), "frame_rate": number("30"), "encoding": "tight", "jpeg": true, "view_only": false, "shared": false,
	} {
		if got := at(body, "session", name); got != want {
			t.Errorf("session.%s is %v, want %v", name, got, want)
		}
	}
	for _, empty := range []string{"", "{}", " \n"} { // the body may be missing
		if a := h.do("POST", vncOfOne, "connect", empty); a.status != 200 {
			t.Errorf("body %q: %d %s", empty, a.status, a.body)
		}
	}
	row := h.row(a.header.Get("X-Request-Id"))
	if at(row, "workstation") != "one" || at(row, "status") != number("200") || at(row, "key") != "connect" {
		t.Errorf("row %v", row)
	}
}

func TestVNCTheBodyOfAnIssueMaySaySoMuch(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: "max_duration 1h\nmax_tokens 32\n" + d.as("one", "")})
	a := h.want(200, "POST", vncOfOne, "connect", `{"view_only":true,"shared":true,"expires_in":60}`)
	body := parse(t, a.body)
	text, _ := at(body, "expires_at").(string)
	expires, _ := time.Parse(time.RFC3339, text)
	if at(body, "session", "view_only") != true || at(body, "session", "shared") != true || time.Until(expires) > time.Minute || time.Until(expires) < 0 {
		t.Errorf("%s", a.body)
	}
	for _, c := range []struct{ body, code, param string }{
		{`{"view-only":true}`, "unsupported_parameter", "view-only"},
		{`{"password":"x"}`, "unsupported_parameter", "password"},
		{`{"expires_in":0}`, "invalid_value", "expires_in"},
		{`{"expires_in":-1}`, "invalid_value", "expires_in"},
		{`{"expires_in":1.5}`, "invalid_value", "expires_in"},
		{`{"expires_in":3601}`, "invalid_value", "expires_in"},
		{`{"expires_in":99999999999999999999}`, "invalid_value", "expires_in"},
		{`{"expires_in":"60"}`, "invalid_value", "expires_in"},
		{`{"view_only":"yes"}`, "invalid_value", "view_only"},
		{`{"shared":1}`, "invalid_value", "shared"},
		{`{"shared":true,"shared":false}`, "invalid_json", "shared"},
		{`{"shared":true,"Shared":false}`, "invalid_json", "Shared"},
		{`[]`, "invalid_json", ""},
		{`true`, "invalid_json", ""},
		{`{"shared":true} x`, "invalid_json", ""},
	} {
		a := h.do("POST", vncOfOne, "connect", c.body)
		wantRefusal(t, vncOfOne, a, 400, c.code)
		if param, _ := at(parse(t, a.body), "error", "param").(string); param != c.param {
			t.Errorf("%s: param %q, want %q", c.body, param, c.param)
		}
	}
	wantRefusal(t, vncOfOne, h.do("POST", vncOfOne, "connect", `{"shared":`+strings.Repeat(" ", 64<<10)+`true}`), 413, "request_too_large")
}

func TestVNCWhoMayNotHaveAnAddressGetsNone(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: d.as("one", "") + d.as("gone", "") + d.as("theirs", "tenant other")})
	h.release("gone")
	for _, key := range []string{"", "nobody"} {
		wantRefusal(t, vncOfOne, h.do("POST", vncOfOne, key, "{}"), 401, "invalid_api_key")
	}
	for _, key := range []string{"full", "manage"} {
		a := h.do("POST", vncOfOne, key, "{}")
		wantRefusal(t, vncOfOne, a, 403, "insufficient_scope")
		if !strings.Contains(string(a.body), "workstations:connect") {
			t.Errorf("the scope is not named: %s", a.body)
		}
	}
	unknown := h.do("POST", "/v1/workstations/nothing/vnc", "connect", "{}")
	wantRefusal(t, vncOfOne, unknown, 404, "not_found")
	foreign := h.do("POST", "/v1/workstations/theirs/vnc", "connect", "{}")
	wantRefusal(t, vncOfOne, foreign, 404, "not_found")
	if want := strings.ReplaceAll(string(unknown.body), "nothing", "theirs"); string(foreign.body) != want {
		t.Errorf("another tenant's workstation can be told from none:\n%s%s", foreign.body, want)
	}
	wantRefusal(t, vncOfOne, h.do("POST", "/v1/workstations/gone/vnc", "connect", "{}"), 404, "not_found")
	a := h.do("GET", vncOfOne, "connect", "")
	wantRefusal(t, vncOfOne, a, 405, "method_not_allowed")
	if a.header.Get("Allow") != "POST" {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
	if n := d.connections(); n != 0 {
		t.Errorf("the workstation was reached %d times", n)
	}
}

func TestVNCAWorkstationHasAFewLiveTokensOnly(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: "max_tokens 2\n" + d.as("one", "") + d.as("two", "")})
	h.issue("connect", "one", "")
	h.issue("connect", "one", `{"expires_in":1}`)
	a := h.do("POST", vncOfOne, "connect", "")
	wantRefusal(t, vncOfOne, a, 429, "workstation_tokens_exceeded")
	if a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	h.issue("connect", "two", "")
	if !eventually(func() bool { return h.do("POST", vncOfOne, "connect", "").status == 200 }) {
		t.Error("an expired token is still in the way")
	}
}

// The single modules authenticate by themselves, wherever a site puts them.
func TestVNCTheSingleModulesNeverRunUnauthenticated(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: "register_networks 10.0.0.0/8\n" + d.as("one", ""), site: `
	route /a/workstations/* {
		gatehouse_vnc_url
	}
	route /b/* {
		gatehouse_workstations
	}
	route /c/workstations/* {
		gatehouse_auth workstations:connect
		gatehouse_vnc_url
	}
`})
	calls := []struct{ method, path, body string }{
		{"POST", "/a/workstations/one/vnc", "{}"},
		{"POST", "/c/workstations/one/vnc", "{}"},
		{"GET", "/b/workstations", ""},
		{"GET", "/b/workstations/one", ""},
		{"PUT", "/b/workstations/two", `{"address":"10.1.2.3:5901"}`},
		{"GET", "/b/workstations/one/sessions", ""},
		{"DELETE", "/b/workstations/one/sessions/vnc-0123456789abcdef", ""},
		{"DELETE", "/b/workstations/one", ""},
	}
	for _, c := range calls {
		for _, key := range []string{"", "nobody", "expired"} {
			wantRefusal(t, c.path, h.do(c.method, c.path, key, c.body), 401, "invalid_api_key")
		}
		wantRefusal(t, c.path, h.do(c.method, c.path, "full", c.body), 403, "insufficient_scope")
	}
	for _, c := range calls {
		if a := h.do(c.method, c.path, "desk", c.body); a.status >= 300 && !strings.Contains(c.path, "vnc-") {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	for _, path := range []string{"/a/workstations/one", "/b/elsewhere", "/b/workstations/one/vnc"} {
		wantRefusal(t, path, h.do("POST", path, "desk", "{}"), 404, "unknown_url")
	}
}
