package handlers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/desktoptest"
)

const address = `{"address":"10.0.0.5:5900"}`

func TestWorkstationsAreListedForTheirTenant(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	call(t, g, "PUT", "/v1/workstations/lab1", "manage", address).Want(t, 201, "", "")
	a := call(t, g, "GET", "/v1/workstations", "manage", "")
	if got := []any{a.At(t, "object"), a.At(t, "data", 0, "workstation_id"), a.At(t, "data", 1, "workstation_id"), a.At(t, "data", 1, "address")}; got[0] != "list" ||
		got[1] != "desk1" || got[2] != "lab1" || got[3] != "10.0.0.5:5900" {
		t.Errorf("%s", a.Body)
	}
	for target, want := range map[string]int{"": 2, "?tenant=default": 2, "?tenant=other": 0} {
		if a = call(t, g, "GET", "/v1/workstations"+target, "operator", ""); strings.Count(a.Body.String(), `"workstation_id"`) != want {
			t.Errorf("an operator sees with %q: %s", target, a.Body)
		}
	}
	if a = call(t, g, "GET", "/v1/workstations?tenant=default", "other", ""); a.Body.String() != `{"object":"list","data":[]}` {
		t.Errorf("another tenant asks by name: %s", a.Body)
	}
	if a = call(t, g, "GET", "/v1/workstations", "other", ""); a.Body.String() != `{"object":"list","data":[]}` {
		t.Errorf("another tenant: %s", a.Body)
	}
}

func TestAddressesAreForKeysThatManage(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	call(t, g, "PUT", "/v1/workstations/lab1", "manage", address).Want(t, 201, "", "")
	for _, path := range []string{"/v1/workstations", "/v1/workstations/lab1"} {
		for key, shown := range map[string]bool{"manage": true, "full": true, "connect": false} {
			a := call(t, g, "GET", path, key, "")
			if a.Code != 200 || strings.Contains(a.Body.String(), "10.0.0.5") != shown || !strings.Contains(a.Body.String(), "lab1") {
				t.Errorf("%s with %s: %d %s", path, key, a.Code, a.Body)
			}
		}
		call(t, g, "GET", path, "chat", "").Want(t, 403, "insufficient_scope", "workstations:connect")
	}
}

func TestWorkstationRoutesNeedTheirScope(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	for _, c := range []struct{ method, path, body, key, scope string }{
		{"PUT", "/v1/workstations/lab1", address, "connect", "workstations:manage"},
		{"DELETE", "/v1/workstations/desk1", "", "connect", "workstations:manage"},
		{"GET", "/v1/workstations/desk1/sessions", "", "connect", "workstations:manage"},
		{"DELETE", "/v1/workstations/desk1/sessions/s1", "", "connect", "workstations:manage"},
		{"POST", "/v1/workstations/desk1/vnc", "", "manage", "workstations:connect"},
	} {
		call(t, g, c.method, c.path, c.key, c.body).Want(t, 403, "insufficient_scope", c.scope)
	}
}

func TestAnotherTenantsWorkstationIsNotThere(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	for _, c := range []struct{ method, path string }{
		{"GET", "/v1/workstations/desk1"}, {"POST", "/v1/workstations/desk1/vnc"},
		{"GET", "/v1/workstations/desk1/sessions"}, {"DELETE", "/v1/workstations/desk1/sessions/s1"}, {"DELETE", "/v1/workstations/desk1"},
	} {
		call(t, g, c.method, c.path, "other", "").Want(t, 404, "not_found", "desk1")
	}
	if a := call(t, g, "GET", "/v1/workstations/desk1", "full", ""); a.At(t, "state") != "available" {
		t.Errorf("%s", a.Body)
	}
}

func TestRegistrationSaysWhetherItIsNew(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	a := call(t, g, "PUT", "/v1/workstations/lab1", "manage", `{"address":"10.0.0.5:5900","credential":"lab"}`)
	if a.Code != 201 || a.At(t, "workstation_id") != "lab1" || a.At(t, "address") != "10.0.0.5:5900" {
		t.Errorf("new: %d %s", a.Code, a.Body)
	}
	a = call(t, g, "PUT", "/v1/workstations/lab1", "manage", `{"address":"10.0.0.6:5900","credential":null}`)
	if a.Code != 200 || a.At(t, "address") != "10.0.0.6:5900" {
		t.Errorf("changed: %d %s", a.Code, a.Body)
	}
	for _, c := range []struct {
		body   string
		status int
		code   string
	}{
		{`{"address":1}`, 400, "invalid_value"}, {`{"credential":true,"address":"10.0.0.5:5900"}`, 400, "invalid_value"},
		{`{"password":"x"}`, 400, "unsupported_parameter"}, {`{}`, 400, "missing_required_parameter"},
		{`{"address":"10.0.0.5:5900","credential":"none"}`, 400, "invalid_value"},
	} {
		call(t, g, "PUT", "/v1/workstations/lab2", "manage", c.body).Want(t, c.status, c.code, "")
	}
	call(t, g, "PUT", "/v1/workstations/desk1", "manage", address).Want(t, 409, "workstation_conflict", "")
	found := rows(t, g)
	if first := found[len(found)-1]; first.Status != 201 || first.Workstation != "lab1" || first.Route != "PUT /v1/workstations/{id}" {
		t.Errorf("row %+v", first)
	}
}

func TestReleaseIsNoContentAsOftenAsItIsAsked(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	for range 2 {
		a := call(t, g, "DELETE", "/v1/workstations/desk1", "manage", "")
		if a.Code != 204 || a.Body.Len() != 0 {
			t.Errorf("%d %s", a.Code, a.Body)
		}
	}
	if found := rows(t, g); len(found) != 2 || found[0].Status != 204 || found[0].Code != "" {
		t.Errorf("rows %+v", found)
	}
	if a := call(t, g, "GET", "/v1/workstations/desk1", "manage", ""); a.At(t, "state") != "released" {
		t.Errorf("%s", a.Body)
	}
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", "").Want(t, 404, "not_found", "was released: PUT /v1/workstations/desk1 puts it in service again")
	call(t, g, "PUT", "/v1/workstations/desk1", "manage", "").Want(t, 200, "", "") // in service again
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	id := open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", ""))
	a := call(t, g, "GET", "/v1/workstations/desk1/sessions", "manage", "")
	if a.At(t, "object") != "list" || a.At(t, "data", 0, "session_id") != id || a.At(t, "data", 0, "key") != "connect" {
		t.Errorf("%s", a.Body)
	}
	call(t, g, "DELETE", "/v1/workstations/desk1/sessions/"+id+"x", "manage", "").Want(t, 404, "not_found", id+"x")
	if a := call(t, g, "DELETE", "/v1/workstations/desk1/sessions/"+id, "manage", ""); a.Code != 204 || a.Body.Len() != 0 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	if a := call(t, g, "GET", "/v1/workstations/desk1/sessions", "manage", ""); a.Body.String() != `{"object":"list","data":[]}` {
		t.Errorf("%s", a.Body)
	}
}

func TestAnAddressHasItsOptions(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	for _, c := range []struct {
		body             string
		viewOnly, shared bool
		expires          string
	}{
		{"", false, false, ""},
		{`{"view_only":true}`, true, false, ""},
		{`{"shared":true}`, false, true, ""},
		{`{"view_only":false,"shared":false,"expires_in":1}`, false, false, "2026-03-18T12:00:01Z"},
		{`{"expires_in":60}`, false, false, "2026-03-18T12:01:00Z"},
	} {
		a := call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", c.body)
		if a.Code != 200 || a.At(t, "session", "view_only") != c.viewOnly || a.At(t, "session", "shared") != c.shared || a.At(t, "workstation_id") != "desk1" {
			t.Errorf("%s: %d %s", c.body, a.Code, a.Body)
		}
		if got := a.At(t, "expires_at"); c.expires != "" && got != c.expires {
			t.Errorf("%s: until %v", c.body, got)
		}
	}
	for body, message := range map[string]string{
		`{"expires_in":0}`:       "want seconds, 1 to 2592000",
		`{"expires_in":-1}`:      "want seconds, 1 to 2592000",
		`{"expires_in":2592001}`: "want seconds, 1 to 2592000",
		`{"expires_in":2592000}`: "expires_in is at least 1s and at most", // of the configuration
	} {
		call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", body).Want(t, 400, "invalid_value", message)
	}
	found := rows(t, g)
	if last := found[len(found)-1]; last.Workstation != "desk1" || last.Route != "POST /v1/workstations/{id}/vnc" || last.Status != 200 {
		t.Errorf("row %+v", last)
	}
}

// An address ends with the key that it was issued to, also after a reload.
func TestAnAddressIsItsKeys(t *testing.T) {
	state := gateway.NewState(t.TempDir(), func() time.Time { return noon })
	g := startGateway(t, setup{Workstations: true, State: state})
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", "").Want(t, 200, "", "")
	var issuers []desktop.Issuer
	desktop.Commit(state.Workstations, gateway.VNCOf(g).Workstations(), func(by desktop.Issuer) bool {
		issuers = append(issuers, by)
		return true
	})
	want := desktop.Issuer{Tenant: "default", Key: "connect", KeyHash: rows(t, g)[0].KeyHash, Until: noon.Add(time.Hour)}
	if len(issuers) != 1 || issuers[0] != want || len(want.KeyHash) != 64 {
		t.Errorf("issuers %+v, want %+v", issuers, want)
	}
}

// workstationPaths are requests that need the service.
var workstationPaths = []struct{ method, path, body string }{
	{"GET", "/v1/workstations", ""}, {"GET", "/v1/workstations/desk1", ""}, {"PUT", "/v1/workstations/desk1", ""},
	{"DELETE", "/v1/workstations/desk1", ""}, {"POST", "/v1/workstations/desk1/vnc", ""},
	{"GET", "/v1/workstations/desk1/sessions", ""}, {"DELETE", "/v1/workstations/desk1/sessions/s", ""},
	{"GET", "/v1/sessions", ""}, {"DELETE", "/v1/sessions/s", ""},
}

func TestWorkstationsAnswerOnlyWhereThereAreAny(t *testing.T) {
	unreadable := new(desktoptest.Storage)
	unreadable.FailWith(errors.New("no such volume"))
	none, unready := startGateway(t, setup{}), startGateway(t, setup{Workstations: true, Storage: unreadable})
	for _, c := range workstationPaths {
		call(t, none, c.method, c.path, "full", c.body).Want(t, 404, "unknown_url", "the running configuration has no workstations: the option vnc is missing")
		call(t, unready, c.method, c.path, "full", c.body).Want(t, 503, "storage_unavailable", "have not been read yet")
	}
}
