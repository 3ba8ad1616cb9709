package handlers

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

func TestOpenSessionsAreSeenByThoseWhoMay(t *testing.T) {
	g := startGateway(t, setup{Workstations: true, OnConflict: desktop.Share})
	mine := open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", ""))
	theirs := open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "full", ""))
	for _, c := range []struct {
		key, query   string
		mine, theirs bool
	}{
		{"manage", "", true, true},
		{"manage", "?key=full", false, true},
		{"manage", "?workstation=desk1&key=connect", true, false},
		{"manage", "?workstation=desk2", false, false},
		{"manage", "?tenant=default", true, true},
		{"manage", "?tenant=other", false, false},
		{"connect", "", true, false},
		{"connect", "?key=full", false, false},
		{"other", "", false, false},
		{"other", "?tenant=default", false, false},
		{"operator", "", true, true},
		{"operator", "?tenant=default", true, true},
		{"operator", "?tenant=ops", false, false},
	} {
		a := call(t, g, "GET", "/v1/sessions"+c.query, c.key, "")
		if a.Code != 200 || strings.Contains(a.Body.String(), mine) != c.mine || strings.Contains(a.Body.String(), theirs) != c.theirs {
			t.Errorf("%s with %q: %d %s", c.key, c.query, a.Code, a.Body)
		}
	}
	a := call(t, g, "GET", "/v1/sessions", "connect", "")
	for name, want := range map[string]string{
		"session_id": mine, "tenant": "default", "workstation_id": "desk1", "state": "open", "key": "connect", "viewer": "192.0.2.1:40000",
		"security": "x509none", "started_at": "2026-03-18T12:00:00Z",
	} {
		if got := a.At(t, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %q", name, got, want)
		}
	}
	for _, method := range []string{"GET", "DELETE"} {
		path := "/v1/sessions"
		if method == "DELETE" {
			path += "/" + mine
		}
		call(t, g, method, path, "chat", "").Want(t, 403, "insufficient_scope", "workstations:connect")
	}
}

func TestAnOpenSessionIsEndedByThoseWhoMay(t *testing.T) {
	for _, c := range []struct {
		key, tenant string
		may         bool
	}{
		{"connect", "default", true}, {"manage", "default", true}, {"full", "default", true}, {"operator", "ops", true},
		{"colleague", "default", false}, {"other", "other", false},
	} {
		g := startGateway(t, setup{Workstations: true})
		id := open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", ""))
		a := call(t, g, "DELETE", "/v1/sessions/"+id, c.key, "")
		row := rowsOf(t, g, c.tenant)[0]
		if row.Route != "DELETE /v1/sessions/{id}" || row.Status != a.Code {
			t.Errorf("%s: row %+v", c.key, row)
		}
		left := call(t, g, "GET", "/v1/sessions", "manage", "").Body.String()
		if !c.may {
			a.Want(t, 404, "not_found", id)
			if !strings.Contains(left, id) {
				t.Errorf("%s ended it: %s", c.key, left)
			}
			continue
		}
		if a.Code != 204 || strings.Contains(left, id) || row.Workstation != "desk1" {
			t.Errorf("%s: %d %s, left %s, row %+v", c.key, a.Code, a.Body, left, row)
		}
		call(t, g, "DELETE", "/v1/sessions/"+id, c.key, "").Want(t, 404, "not_found", id) // it has ended
	}
}
