package vnc

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

const workstations = "/v1/workstations"

// names are the workstations that a key sees, with their states.
func names(h *harness.Gateway, key string) string {
	h.T.Helper()
	a := h.Client.Want(200, "GET", workstations, key, "")
	if harness.At(harness.Parse(h.T, a.Body), "object") != "list" {
		h.T.Errorf("no list: %s", a.Body)
	}
	var names []string
	list, _ := harness.At(harness.Parse(h.T, a.Body), "data").([]any)
	for _, w := range list {
		id, _ := harness.At(w, "workstation_id").(string)
		state, _ := harness.At(w, "state").(string)
		names = append(names, id+" "+state)
	}
	return strings.Join(names, ", ")
}

func TestVNCWorkstationsComeAndGoAtRunTime(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "register_networks 127.0.0.1/32 10.0.0.0/8\n" + d.As("fixed", "") + d.As("theirs", "tenant other")})
	if got := names(h, "desk"); got != "fixed available" {
		t.Fatalf("at first: %s", got)
	}
	body := `{"address":"` + d.Address() + `"}`
	a := h.Client.Want(201, "PUT", workstations+"/two", "manage", body)
	if v := harness.Parse(t, a.Body); harness.At(v, "workstation_id") != "two" || harness.At(v, "source") != "registered" || harness.At(v, "address") != d.Address() || harness.At(v, "registered_at") == nil {
		t.Errorf("registered: %s", a.Body)
	}
	h.Client.Want(200, "PUT", workstations+"/two", "manage", body)
	h.Client.Want(200, "PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901"}`)
	h.Client.Want(200, "PUT", workstations+"/two", "manage", body)
	if got := names(h, "desk"); got != "fixed available, two available" {
		t.Errorf("with a second: %s", got)
	}
	w := h.VNC.View(h.VNC.Issue("connect", "two", ""))
	one := harness.Parse(t, h.Client.Want(200, "GET", workstations+"/two", "manage", "").Body)
	if harness.At(one, "sessions") != harness.Number("1") || harness.At(one, "tokens") != harness.Number("1") {
		t.Errorf("with a session: %v", one)
	}
	h.Client.Want(204, "DELETE", workstations+"/two", "manage", "")
	h.Client.Want(204, "DELETE", workstations+"/two", "manage", "") // repeated
	if w.End(); w.Err != nil {
		t.Error(w.Err)
	}
	if got := names(h, "desk"); got != "fixed available, two released" {
		t.Errorf("released: %s", got)
	}
	if n := h.Client.Want(200, "PUT", workstations+"/two", "manage", body); harness.At(harness.Parse(t, n.Body), "state") != "available" {
		t.Errorf("again: %s", n.Body)
	}
	h.VNC.Issue("connect", "two", "")

	// The same name of another tenant is another workstation.
	h.Client.Want(201, "PUT", workstations+"/two", "foreign", body)
	h.Client.Want(204, "DELETE", workstations+"/two", "foreign", "")
	h.VNC.Issue("connect", "two", "")
	if got := names(h, "foreign"); got != "theirs available, two released" {
		t.Errorf("the other tenant sees %s", got)
	}
}

func TestVNCADeclaredWorkstationIsReleasedAndRestoredButNotReplaced(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "register_networks 10.0.0.0/8\n" + d.As("one", "")})
	const path = workstations + "/one"
	a := h.Client.Do("PUT", path, "manage", `{"address":"10.0.0.7:5901"}`)
	harness.WantRefusal(t, path, a, 409, "workstation_conflict")
	if a.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("SDKs repeat a 409 without %v", a.Header)
	}
	before := h.VNC.Issue("connect", "one", "")
	h.Client.Want(204, "DELETE", path, "manage", "")
	h.Client.Want(204, "DELETE", path, "manage", "")
	harness.WantRefusal(t, path, h.Client.Do("POST", path+"/vnc", "connect", ""), 404, "not_found")
	harness.WantRefusal(t, path, h.Client.Do("PUT", path, "manage", `{"address":"10.0.0.7:5901"}`), 409, "workstation_conflict")
	if got := harness.At(harness.Parse(t, h.Client.Want(200, "GET", path, "connect", "").Body), "state"); got != "released" {
		t.Errorf("state %v", got)
	}
	for _, body := range []string{"{}", ""} { // the same again, and when there is nothing to undo
		if a := h.Client.Want(200, "PUT", path, "manage", body); harness.At(harness.Parse(t, a.Body), "state") != "available" || harness.At(harness.Parse(t, a.Body), "source") != "declared" {
			t.Errorf("restored: %s", a.Body)
		}
	}
	w := h.VNC.TLSFirst(before.Host) // what was issued before stays dead
	if text := w.Refusal(); w.Err != nil || !strings.Contains(text, "released") {
		t.Errorf("a token of before: %q, %v", text, w.Err)
	}
	w = h.VNC.View(h.VNC.Issue("connect", "one", ""))
	w.Leave()
}

func TestVNCSessionsAreListedAndEnded(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "on_conflict share\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	b := h.VNC.Issue("desk", "one", `{"view_only":true}`)
	first, second := h.VNC.View(a), h.VNC.TLSFirst(b.Host).Accepted()
	mustSucceed(h, second)
	list := harness.Parse(t, h.Client.Want(200, "GET", workstations+"/one/sessions", "manage", "").Body)
	for name, want := range map[string]any{
		"key": "connect", "viewer": first.LocalAddr().String(), "security": "TLSFirst", "view_only": false, "shared": true,
		"bytes_up": harness.Number("6"), "bytes_down": harness.Number("6"),
	} {
		if got := harness.At(list, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if harness.At(list, "data", 1, "view_only") != true || harness.At(list, "data", 1, "key") != "desk" || harness.At(list, "data", 2) != nil {
		t.Errorf("list %v", list)
	}
	ids := h.VNC.Sessions("one")
	path := workstations + "/one/sessions/"
	harness.WantRefusal(t, path, h.Client.Do("DELETE", path+"vnc-0000000000000000", "manage", ""), 404, "not_found")
	harness.WantRefusal(t, path, h.Client.Do("DELETE", path+ids[0], "foreign", ""), 404, "not_found")
	harness.WantRefusal(t, path, h.Client.Do("DELETE", path+ids[0], "connect", ""), 403, "insufficient_scope")
	h.Client.Want(204, "DELETE", path+ids[0], "manage", "")
	harness.WantRefusal(t, path, h.Client.Do("DELETE", path+ids[0], "manage", ""), 404, "not_found")
	if first.End(); first.Err != nil {
		t.Error(first.Err)
	}
	back := h.VNC.TLSFirst(a.Host) // a viewer that reconnects by itself does not come back
	if text := back.Refusal(); back.Err != nil || !strings.Contains(text, "withdrawn") {
		t.Errorf("its token: %q, %v", text, back.Err)
	}
	if got := h.VNC.Sessions("one"); len(got) != 1 || got[0] != ids[1] {
		t.Errorf("sessions %v, want %v", got, ids[1:])
	}
	second.Leave()
}

func TestVNCRoutesAskForTheirScopes(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.Start(t, harness.Setup{VNC: "register_networks 10.0.0.0/8\n" + d.As("one", "")})
	for _, c := range []struct {
		method, path, body string
		connect            int // the status with workstations:connect alone
	}{
		{"GET", workstations, "", 200},
		{"GET", workstations + "/one", "", 200},
		{"GET", workstations + "/one/sessions", "", 403},
		{"PUT", workstations + "/two", `{"address":"10.0.0.7:5901"}`, 403},
		{"DELETE", workstations + "/one", "", 403},
		{"DELETE", workstations + "/one/sessions/vnc-1", "", 403},
		{"GET", "/v1/sessions", "", 200},
		{"DELETE", "/v1/sessions/vnc-1", "", 404},
	} {
		if a := h.Client.Do(c.method, c.path, "connect", c.body); a.Status != c.connect {
			t.Errorf("%s %s with connect: %d %s", c.method, c.path, a.Status, a.Body)
		}
		harness.WantRefusal(t, c.path, h.Client.Do(c.method, c.path, "full", c.body), 403, "insufficient_scope")
		harness.WantRefusal(t, c.path, h.Client.Do(c.method, c.path, "", c.body), 401, "invalid_api_key")
	}
	// Only keys that may manage a workstation see its address.
	h.Client.Want(201, "PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901"}`)
	for _, path := range []string{workstations, workstations + "/two"} {
		if body := string(h.Client.Get(path, "connect").Body); strings.Contains(body, "10.0.0.7") {
			t.Errorf("%s with connect: %s", path, body)
		}
		if body := string(h.Client.Get(path, "manage").Body); !strings.Contains(body, "10.0.0.7:5901") {
			t.Errorf("%s with manage: %s", path, body)
		}
	}
	for _, path := range []string{workstations + "/nothing", workstations + "/nothing/sessions"} {
		harness.WantRefusal(t, path, h.Client.Get(path, "manage"), 404, "not_found")
	}
	harness.WantRefusal(t, workstations, h.Client.Do("DELETE", workstations+"/nothing", "manage", ""), 404, "not_found")
	if a := h.Client.Do("PATCH", workstations+"/one", "manage", "{}"); a.Status != 405 || a.Header.Get("Allow") != "GET, PUT, DELETE" {
		t.Errorf("PATCH: %d, Allow %q", a.Status, a.Header.Get("Allow"))
	}
}

// Without desktops there are none of these URLs.
func TestVNCAGatewayOfModelsOnlyHasNoWorkstations(t *testing.T) {
	h := harness.Start(t, harness.Setup{Keys: harness.DefaultKeys + harness.VNCKeys})
	for _, c := range [][2]string{{"GET", workstations}, {"POST", vncOfOne}, {"DELETE", workstations + "/one"}} {
		harness.WantRefusal(t, c[1], h.Client.Do(c[0], c[1], "desk", ""), 404, "unknown_url")
	}
	if a := h.Client.Post(harness.ChatV1, "full", harness.Chat("fake/echo", "")); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
}
