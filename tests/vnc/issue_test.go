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
