package vnc

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const vncOfOne = "/v1/workstations/one/vnc"

func TestVNCAnAddressIsIssued(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: d.As("one", "")})
	r := h.Client.Request(vncOfOne, "connect", "{}")
	r.Host = "evil.example:1"
	r.Header.Set("X-Forwarded-Host", "evil.example")
	before := time.Now().Truncate(time.Second)
	a := h.Client.Send(r)
	body := harness.Parse(t, a.Body)
	if keys := harness.Keys(body); a.Status != 200 || strings.Join(keys, " ") != "expires_at session vnc_url workstation_id" {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	harness.WantIDs(t, vncOfOne, a)
	url, _ := harness.At(body, "vnc_url").(string)
	if !regexp.MustCompile(`^[a-z2-7]{26}\.vnc\.localhost:` + strconv.Itoa(h.Ports.VNC) + `$`).MatchString(url) {
		t.Errorf("vnc_url %q", url)
	}
	if harness.At(body, "workstation_id") != "one" {
		t.Errorf("workstation_id %v", harness.At(body, "workstation_id"))
	}
	text, _ := harness.At(body, "expires_at").(string)
	expires, err := time.Parse(time.RFC3339, text)
	if low, high := before.Add(5*time.Minute), time.Now().Add(5*time.Minute); err != nil || expires.Before(low) || expires.After(high) || expires.Location() != time.UTC {
		t.Errorf("expires_at %s, %v, want five minutes from now in UTC", text, err)
	}
	for name, want := range map[string]any{
		"resolution": "1280x720", "color_depth": harness.Number("24"), "frame_rate": harness.Number("30"), "encoding": "tight", "jpeg": true, "view_only": false, "shared": false,
	} {
		if got := harness.At(body, "session", name); got != want {
			t.Errorf("session.%s is %v, want %v", name, got, want)
		}
	}
	for _, empty := range []string{"", "{}", " \n"} { // the body may be missing
		if a := h.Client.Do("POST", vncOfOne, "connect", empty); a.Status != 200 {
			t.Errorf("body %q: %d %s", empty, a.Status, a.Body)
		}
	}
	row := h.Records.Row(a.Header.Get("X-Request-Id"))
	if harness.At(row, "workstation") != "one" || harness.At(row, "status") != harness.Number("200") || harness.At(row, "key") != "connect" {
		t.Errorf("row %v", row)
	}
}

func TestVNCTheBodyOfAnIssueMaySaySoMuch(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "max_duration 1h\nmax_tokens 32\n" + d.As("one", "")})
	a := h.Client.Want(200, "POST", vncOfOne, "connect", `{"view_only":true,"shared":true,"expires_in":60}`)
	body := harness.Parse(t, a.Body)
	text, _ := harness.At(body, "expires_at").(string)
	expires, _ := time.Parse(time.RFC3339, text)
	if harness.At(body, "session", "view_only") != true || harness.At(body, "session", "shared") != true || time.Until(expires) > time.Minute || time.Until(expires) < 0 {
		t.Errorf("%s", a.Body)
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
		a := h.Client.Do("POST", vncOfOne, "connect", c.body)
		harness.WantRefusal(t, vncOfOne, a, 400, c.code)
		if param, _ := harness.At(harness.Parse(t, a.Body), "error", "param").(string); param != c.param {
			t.Errorf("%s: param %q, want %q", c.body, param, c.param)
		}
	}
	harness.WantRefusal(t, vncOfOne, h.Client.Do("POST", vncOfOne, "connect", `{"shared":`+strings.Repeat(" ", 64<<10)+`true}`), 413, "request_too_large")
}

func TestVNCWhoMayNotHaveAnAddressGetsNone(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: d.As("one", "") + d.As("gone", "") + d.As("theirs", "tenant other")})
	h.VNC.Release("gone")
	for _, key := range []string{"", "nobody"} {
		harness.WantRefusal(t, vncOfOne, h.Client.Do("POST", vncOfOne, key, "{}"), 401, "invalid_api_key")
	}
	for _, key := range []string{"full", "manage"} {
		a := h.Client.Do("POST", vncOfOne, key, "{}")
		harness.WantRefusal(t, vncOfOne, a, 403, "insufficient_scope")
		if !strings.Contains(string(a.Body), "workstations:connect") {
			t.Errorf("the scope is not named: %s", a.Body)
		}
	}
	unknown := h.Client.Do("POST", "/v1/workstations/nothing/vnc", "connect", "{}")
	harness.WantRefusal(t, vncOfOne, unknown, 404, "not_found")
	foreign := h.Client.Do("POST", "/v1/workstations/theirs/vnc", "connect", "{}")
	harness.WantRefusal(t, vncOfOne, foreign, 404, "not_found")
	if want := strings.ReplaceAll(string(unknown.Body), "nothing", "theirs"); string(foreign.Body) != want {
		t.Errorf("another tenant's workstation can be told from none:\n%s%s", foreign.Body, want)
	}
	harness.WantRefusal(t, vncOfOne, h.Client.Do("POST", "/v1/workstations/gone/vnc", "connect", "{}"), 404, "not_found")
	a := h.Client.Do("GET", vncOfOne, "connect", "")
	harness.WantRefusal(t, vncOfOne, a, 405, "method_not_allowed")
	if a.Header.Get("Allow") != "POST" {
		t.Errorf("Allow %q", a.Header.Get("Allow"))
	}
	if n := d.Connections(); n != 0 {
		t.Errorf("the workstation was reached %d times", n)
	}
}

func TestVNCAWorkstationHasAFewLiveTokensOnly(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "max_tokens 2\n" + d.As("one", "") + d.As("two", "")})
	h.VNC.Issue("connect", "one", "")
	h.VNC.Issue("connect", "one", `{"expires_in":1}`)
	a := h.Client.Do("POST", vncOfOne, "connect", "")
	harness.WantRefusal(t, vncOfOne, a, 429, "workstation_tokens_exceeded")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	h.VNC.Issue("connect", "two", "")
	if !harness.Eventually(func() bool { return h.Client.Do("POST", vncOfOne, "connect", "").Status == 200 }) {
		t.Error("an expired token is still in the way")
	}
}

// The single modules authenticate by themselves, wherever a site puts them.
func TestVNCTheSingleModulesNeverRunUnauthenticated(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "register_networks 10.0.0.0/8\n" + d.As("one", ""), Site: `
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
			harness.WantRefusal(t, c.path, h.Client.Do(c.method, c.path, key, c.body), 401, "invalid_api_key")
		}
		harness.WantRefusal(t, c.path, h.Client.Do(c.method, c.path, "full", c.body), 403, "insufficient_scope")
	}
	for _, c := range calls {
		if a := h.Client.Do(c.method, c.path, "desk", c.body); a.Status >= 300 && !strings.Contains(c.path, "vnc-") {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Status, a.Body)
		}
	}
	for _, path := range []string{"/a/workstations/one", "/b/elsewhere", "/b/workstations/one/vnc"} {
		harness.WantRefusal(t, path, h.Client.Do("POST", path, "desk", "{}"), 404, "unknown_url")
	}
}
