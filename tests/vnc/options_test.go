package vnc

import (
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Clients that know all fields send null for those they do not set.
func TestVNCNullLeavesAnOptionAsItIs(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "view_only\nregister_networks 10.0.0.0/8\n" + d.As("one", "")})
	for _, body := range []string{`{"expires_in":null}`, `{"view_only":null,"shared":null}`, `{"expires_in": null ,"view_only":null,"shared":null}`} {
		before := time.Now().Truncate(time.Second)
		a := h.Client.Want(200, "POST", vncOfOne, "connect", body)
		v := harness.Parse(t, a.Body)
		text, _ := harness.At(v, "expires_at").(string)
		expires, err := time.Parse(time.RFC3339, text)
		if low, high := before.Add(5*time.Minute), time.Now().Add(5*time.Minute); err != nil || expires.Before(low) || expires.After(high) {
			t.Errorf("%s: expires_at %q", body, text)
		}
		if harness.At(v, "session", "view_only") != true || harness.At(v, "session", "shared") != false {
			t.Errorf("%s: %s", body, a.Body)
		}
	}
	h.Client.Want(201, "PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901","credential":null}`)
	h.Client.Want(200, "PUT", workstations+"/one", "manage", `{"address":null,"credential":null}`) // a declared one is restored
}

func TestVNCAValueOfAnotherTypeIsRefusedWithTheWantedOne(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "register_networks 10.0.0.0/8\n" + d.As("one", "")})
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
		a := h.Client.Do(c.method, c.path, "desk", c.body)
		harness.WantRefusal(t, c.path, a, 400, "invalid_value")
		e := harness.At(harness.Parse(t, a.Body), "error")
		if message, _ := harness.At(e, "message").(string); harness.At(e, "param") != c.param || !strings.Contains(message, c.want) || strings.Contains(message, "int64") {
			t.Errorf("%s: %v", c.body, e)
		}
	}
}

// The table says where a single module's own part of the path begins, with any prefix before it.
func TestVNCTheSingleModulesWorkBehindAnyPrefix(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "max_tokens 32\n" + d.As("one", "") + d.As("workstations", ""), Site: `
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
			a := h.Client.Want(200, "POST", path+"/vnc", "connect", "")
			if got := harness.At(harness.Parse(t, a.Body), "workstation_id"); got != name {
				t.Errorf("%s: an address of %v", path, got)
			}
			v := h.Client.Want(200, "GET", path, "manage", "")
			if got := harness.At(harness.Parse(t, v.Body), "workstation_id"); got != name {
				t.Errorf("%s: shows %v", path, got)
			}
		}
	}
	const path = "/workstations-api/vnc"
	harness.WantRefusal(t, path, h.Client.Do("POST", path, "connect", ""), 404, "unknown_url")
}
