package tests

import (
	"strings"
	"testing"
)

const workstations = "/v1/workstations"

// names are the workstations that a key sees, with their states.
func (h *harness) names(key string) string {
	h.t.Helper()
	a := h.want(200, "GET", workstations, key, "")
	if at(parse(h.t, a.body), "object") != "list" {
		h.t.Errorf("no list: %s", a.body)
	}
	var names []string
	list, _ := at(parse(h.t, a.body), "data").([]any)
	for _, w := range list {
		id, _ := at(w, "workstation_id").(string)
		state, _ := at(w, "state").(string)
		names = append(names, id+" "+state)
	}
	return strings.Join(names, ", ")
}

func TestVNCWorkstationsComeAndGoAtRunTime(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "register_networks 127.0.0.1/32 10.0.0.0/8\n" + d.as("fixed", "") + d.as("theirs", "tenant other")})
	if got := h.names("desk"); got != "fixed available" {
		t.Fatalf("at first: %s", got)
	}
	body := `{"address":"` + d.address() + `"}`
	a := h.want(201, "PUT", workstations+"/two", "manage", body)
	if v := parse(t, a.body); at(v, "workstation_id") != "two" || at(v, "source") != "registered" || at(v, "address") != d.address() || at(v, "registered_at") == nil {
		t.Errorf("registered: %s", a.body)
	}
	h.want(200, "PUT", workstations+"/two", "manage", body)
	h.want(200, "PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901"}`)
	h.want(200, "PUT", workstations+"/two", "manage", body)
	if got := h.names("desk"); got != "fixed available, two available" {
		t.Errorf("with a second: %s", got)
	}
	w := h.view(h.issue("connect", "two", ""))
	one := parse(t, h.want(200, "GET", workstations+"/two", "manage", "").body)
	if at(one, "sessions") != number("1") || at(one, "tokens") != number("1") {
		t.Errorf("with a session: %v", one)
	}
	h.want(204, "DELETE", workstations+"/two", "manage", "")
	h.want(204, "DELETE", workstations+"/two", "manage", "") // repeated
	if w.over(); w.err != nil {
		t.Error(w.err)
	}
	if got := h.names("desk"); got != "fixed available, two released" {
		t.Errorf("released: %s", got)
	}
	if n := h.want(200, "PUT", workstations+"/two", "manage", body); at(parse(t, n.body), "state") != "available" {
		t.Errorf("again: %s", n.body)
	}
	h.issue("connect", "two", "")

	// The same name of another tenant is another workstation.
	h.want(201, "PUT", workstations+"/two", "foreign", body)
	h.want(204, "DELETE", workstations+"/two", "foreign", "")
	h.issue("connect", "two", "")
	if got := h.names("foreign"); got != "theirs available, two released" {
		t.Errorf("the other tenant sees %s", got)
	}
}

func TestVNCADeclaredWorkstationIsReleasedAndRestoredButNotReplaced(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "register_networks 10.0.0.0/8\n" + d.as("one", "")})
	const path = workstations + "/one"
	a := h.do("PUT", path, "manage", `{"address":"10.0.0.7:5901"}`)
	wantRefusal(t, path, a, 409, "workstation_conflict")
	if a.header.Get("X-Should-Retry") != "false" {
		t.Errorf("SDKs repeat a 409 without %v", a.header)
	}
	before := h.issue("connect", "one", "")
	h.want(204, "DELETE", path, "manage", "")
	h.want(204, "DELETE", path, "manage", "")
	wantRefusal(t, path, h.do("POST", path+"/vnc", "connect", ""), 404, "not_found")
	wantRefusal(t, path, h.do("PUT", path, "manage", `{"address":"10.0.0.7:5901"}`), 409, "workstation_conflict")
	if got := at(parse(t, h.want(200, "GET", path, "connect", "").body), "state"); got != "released" {
		t.Errorf("state %v", got)
	}
	for _, body := range []string{"{}", ""} { // the same again, and when there is nothing to undo
		if a := h.want(200, "PUT", path, "manage", body); at(parse(t, a.body), "state") != "available" || at(parse(t, a.body), "source") != "declared" {
			t.Errorf("restored: %s", a.body)
		}
	}
	w := h.tlsFirst(before.host) // what was issued before stays dead
	if text := w.refusal(); w.err != nil || !strings.Contains(text, "released") {
		t.Errorf("a token of before: %q, %v", text, w.err)
	}
	w = h.view(h.issue("connect", "one", ""))
	w.leave()
}

func TestVNCSessionsAreListedAndEnded(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "on_conflict share\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	b := h.issue("desk", "one", `{"view_only":true}`)
	first, second := h.view(a), h.tlsFirst(b.host).accepted()
	h.good(second)
	list := parse(t, h.want(200, "GET", workstations+"/one/sessions", "manage", "").body)
	for name, want := range map[string]any{
		"key": "connect", "viewer": first.LocalAddr().String(), "security": "TLSFirst", "view_only": false, "shared": true,
		"bytes_up": number("6"), "bytes_down": number("6"),
	} {
		if got := at(list, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if at(list, "data", 1, "view_only") != true || at(list, "data", 1, "key") != "desk" || at(list, "data", 2) != nil {
		t.Errorf("list %v", list)
	}
	ids := h.sessions("one")
	path := workstations + "/one/sessions/"
	wantRefusal(t, path, h.do("DELETE", path+"vnc-0000000000000000", "manage", ""), 404, "not_found")
	wantRefusal(t, path, h.do("DELETE", path+ids[0], "foreign", ""), 404, "not_found")
	wantRefusal(t, path, h.do("DELETE", path+ids[0], "connect", ""), 403, "insufficient_scope")
	h.want(204, "DELETE", path+ids[0], "manage", "")
	wantRefusal(t, path, h.do("DELETE", path+ids[0], "manage", ""), 404, "not_found")
	if first.over(); first.err != nil {
		t.Error(first.err)
	}
	back := h.tlsFirst(a.host) // a viewer that reconnects by itself does not come back
	if text := back.refusal(); back.err != nil || !strings.Contains(text, "withdrawn") {
		t.Errorf("its token: %q, %v", text, back.err)
	}
	if got := h.sessions("one"); len(got) != 1 || got[0] != ids[1] {
		t.Errorf("sessions %v, want %v", got, ids[1:])
	}
	second.leave()
}

func TestVNCRoutesAskForTheirScopes(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: "register_networks 10.0.0.0/8\n" + d.as("one", "")})
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
		if a := h.do(c.method, c.path, "connect", c.body); a.status != c.connect {
			t.Errorf("%s %s with connect: %d %s", c.method, c.path, a.status, a.body)
		}
		wantRefusal(t, c.path, h.do(c.method, c.path, "full", c.body), 403, "insufficient_scope")
		wantRefusal(t, c.path, h.do(c.method, c.path, "", c.body), 401, "invalid_api_key")
	}
	// Only keys that may manage a workstation see its address.
	h.want(201, "PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901"}`)
	for _, path := range []string{workstations, workstations + "/two"} {
		if body := string(h.get(path, "connect").body); strings.Contains(body, "10.0.0.7") {
			t.Errorf("%s with connect: %s", path, body)
		}
		if body := string(h.get(path, "manage").body); !strings.Contains(body, "10.0.0.7:5901") {
			t.Errorf("%s with manage: %s", path, body)
		}
	}
	for _, path := range []string{workstations + "/nothing", workstations + "/nothing/sessions"} {
		wantRefusal(t, path, h.get(path, "manage"), 404, "not_found")
	}
	wantRefusal(t, workstations, h.do("DELETE", workstations+"/nothing", "manage", ""), 404, "not_found")
	if a := h.do("PATCH", workstations+"/one", "manage", "{}"); a.status != 405 || a.header.Get("Allow") != "GET, PUT, DELETE" {
		t.Errorf("PATCH: %d, Allow %q", a.status, a.header.Get("Allow"))
	}
}

// Without desktops there are none of these URLs.
func TestVNCAGatewayOfModelsOnlyHasNoWorkstations(t *testing.T) {
	h := start(t, setup{keys: defaultKeys + vncKeys})
	for _, c := range [][2]string{{"GET", workstations}, {"POST", vncOfOne}, {"DELETE", workstations + "/one"}} {
		wantRefusal(t, c[1], h.do(c[0], c[1], "desk", ""), 404, "unknown_url")
	}
	if a := h.post(chatV1, "full", chat("fake/echo", "")); a.status != 200 {
		t.Errorf("%d %s", a.status, a.body)
	}
}
