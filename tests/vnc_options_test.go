package tests

import (
	"strings"
	"testing"
	"time"
)

// Clients that know all fields send null for those they do not set.
func TestVNCNullLeavesAnOptionAsItIs(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: "view_only\nregister_networks 10.0.0.0/8\n" + d.as("one", "")})
	for _, body := range []string{`{"expires_in":null}`, `{"view_only":null,"shared":null}`, `{"expires_in": null ,"view_only":null,"shared":null}`} {
		before := time.Now().Truncate(time.Second)
		a := h.want(200, "POST", vncOfOne, "connect", body)
		v := parse(t, a.body)
		text, _ := at(v, "expires_at").(string)
		expires, err := time.Parse(time.RFC3339, text)
		if low, high := before.Add(5*time.Minute), time.Now().Add(5*time.Minute); err != nil || expires.Before(low) || expires.After(high) {
			t.Errorf("%s: expires_at %q", body, text)
		}
		if at(v, "session", "view_only") != true || at(v, "session", "shared") != false {
			t.Errorf("%s: %s", body, a.body)
		}
	}
	h.want(201, "PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901","credential":null}`)
	h.want(200, "PUT", workstations+"/one", "manage", `{"address":null,"credential":null}`) // a declared one is restored
}

func TestVNCAValueOfAnotherTypeIsRefusedWithTheWantedOne(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: "register_networks 10.0.0.0/8\n" + d.as("one", "")})
	for _, c := range []struct{ method, path, body, param, want string }{
		{"POST", vncOfOne, `{"expires_in":"60"}`, "expires_in", "want seconds"},
		{"POST", vncOfOne, `{"expires_in":1.5}`, "expires_in", "want seconds"},
		{"POST", vncOfOne, `{"expires_in":0}`, "expires_in", "want seconds"},
		{"POST", vncOfOne, `{"expires_in":99999999}`, "expires_in", "want seconds"},
		{"POST", vncOfOne, `{"view_only":"yes"}`, "view_only", "want true or false"},
		{"POST", vncOfOne, `{"shared":1}`, "shared", "want true or false"},
		{"PUT", workstations + "/two", `{"address":7}`, "address", "want a string"},
		{"PUT", workstations + "/two", `{"address":"10.0.0.7:5901","credential":[]}`, "credential", "want a string"},
	} {
		a := h.do(c.method, c.path, "desk", c.body)
		wantRefusal(t, c.path, a, 400, "invalid_value")
		e := at(parse(t, a.body), "error")
		if message, _ := at(e, "message").(string); at(e, "param") != c.param || !strings.Contains(message, c.want) || strings.Contains(message, "int64") {
			t.Errorf("%s: %v", c.body, e)
		}
	}
}

// The table says where a single module's own part of the path begins, with any prefix before it.
func TestVNCTheSingleModulesWorkBehindAnyPrefix(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: "max_tokens 32\n" + d.as("one", "") + d.as("workstations", ""), site: `
	@issue path */vnc
	route @issue {
		gatehouse_vnc_url
	}
	route {
		gatehouse_workstations
	}
`})
	for _, prefix := range []string{"", "/v1", "/workstations-api", "/workstations-api/v1", "/workstations", "/workstations/workstations", "/a/my-workstations/b"} {
		for _, name := range []string{"one", "workstations"} {
			path := prefix + "/workstations/" + name
			a := h.want(200, "POST", path+"/vnc", "connect", "")
			if got := at(parse(t, a.body), "workstation_id"); got != name {
				t.Errorf("%s: an address of %v", path, got)
			}
			v := h.want(200, "GET", path, "manage", "")
			if got := at(parse(t, v.body), "workstation_id"); got != name {
				t.Errorf("%s: shows %v", path, got)
			}
		}
	}
	const path = "/workstations-api/vnc"
	wantRefusal(t, path, h.do("POST", path, "connect", ""), 404, "unknown_url")
}
