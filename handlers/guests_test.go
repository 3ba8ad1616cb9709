package handlers

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

func TestGuestsAreInvitedByThoseWhoMay(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	host := open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", ""))
	path := "/v1/sessions/" + host + "/guests"
	for _, c := range []struct{ key, body, code, text string }{
		{"connect", `{"view_only":false,"expires_in":600,"label":"helpdesk"}`, "", ""},
		{"observer", `{"label":"audit"}`, "", ""},
		{"observer", `{"view_only":false}`, "invalid_value", "view_only: only the session's own key"},
		{"colleague", ``, "not_found", host},
		{"other", ``, "not_found", host},
		{"operator", ``, "insufficient_scope", "workstations:connect"},
		{"manage", ``, "insufficient_scope", "workstations:connect"},
		{"connect", `{"label":"a\u0007b"}`, "invalid_value", "label"},
		{"connect", `{"label":"` + strings.Repeat("a", 65) + `"}`, "invalid_value", "label"},
		{"connect", `{"expires_in":0}`, "invalid_value", "expires_in"},
		{"connect", `{"once":true}`, "unsupported_parameter", "once"},
	} {
		a := call(t, g, "POST", path, c.key, c.body)
		status := map[string]int{"": 200, "not_found": 404, "insufficient_scope": 403}[c.code]
		if status == 0 {
			status = 400
		}
		a.Want(t, status, c.code, c.text)
		if c.code != "" {
			continue
		}
		if a.At(t, "session_id") != host || a.At(t, "workstation_id") != "desk1" || a.At(t, "session", "view_only") != (c.key == "observer") || a.At(t, "guest_id") == nil {
			t.Errorf("%s: %s", c.key, a.Body)
		}
		open(t, g, a)
	}
	list := call(t, g, "GET", "/v1/sessions", "observer", "")
	seen := map[any]int{} // by label
	for i := range 3 {
		at := func(member string) any { return list.At(t, "data", i, member) }
		switch label := at("label"); {
		case label == nil && at("session_id") == host && at("guests") == 2.0 && at("role") == nil,
			label == "helpdesk" && at("view_only") == false && at("role") == "guest" && at("joined") == host,
			label == "audit" && at("view_only") == true && at("role") == "guest" && at("joined") == host:
			seen[label]++
		}
	}
	if len(seen) != 3 {
		t.Errorf("%v of %s", seen, list.Body)
	}
	if !slices.ContainsFunc(rowsOf(t, g, "default"), func(r activity.Record) bool {
		return r.Route == "POST /v1/sessions/{id}/guests" && r.Status == 200 && r.Workstation == "desk1"
	}) {
		t.Error("no row")
	}
	call(t, g, "POST", path, "connect", "").Want(t, 200, "", "")
	call(t, g, "POST", path, "connect", "").Want(t, 429, "workstation_guests_exceeded", "may have 3 guests")
	call(t, g, "DELETE", "/v1/sessions/"+host, "connect", "")
	if left := call(t, g, "GET", "/v1/sessions", "manage", ""); left.At(t, "data", 0) != nil {
		t.Errorf("without the host: %s", left.Body)
	}
	call(t, g, "POST", path, "connect", "").Want(t, 404, "not_found", host)
}
