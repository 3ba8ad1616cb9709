package agents

import (
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/features/agents"
	"github.com/gatehouse-proxy/gatehouse/internal/features/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/screen"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/handlerstest"
)

func TestTheInputOfAWorkstationIsTakenAndReturnedByThoseWhoMay(t *testing.T) {
	g := handlerstest.Start(t, handlerstest.Setup{Workstations: true, OnConflict: desktop.Share, Features: func(c gateway.Core) []gateway.Feature {
		tools := []gateway.Feature{mcp.New(c, nil).Feature()}
		return append(tools, agents.Feature(c, tools, screen.Limits{}))
	}})
	host := handlerstest.Open(t, g, handlerstest.Call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", ""))
	second := handlerstest.Open(t, g, handlerstest.Call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", ""))
	const path = "/v1/workstations/desk1/control"
	for _, c := range []struct {
		method, key, body string
		status            int
		code, text        string // of a refusal; else who holds it then, "" for nobody
	}{
		{"GET", "connect", "", 200, "", ""},
		{"GET", "manage", "", 200, "", ""},
		{"GET", "agent", "", 200, "", ""},
		{"GET", "chat", "", 403, "insufficient_scope", "workstations:connect"},
		{"GET", "other", "", 404, "not_found", "desk1"},
		{"POST", "agent", `{"action":"take"}`, 403, "insufficient_scope", "workstations:connect"},
		{"POST", "manage", `{"action":"take"}`, 403, "insufficient_scope", "workstations:connect"},
		{"POST", "colleague", `{"action":"take"}`, 404, "not_found", "no open session"},
		{"POST", "connect", `{"action":"take"}`, 200, "", second},
		{"POST", "connect", `{"action":"take","session_id":"` + host + `"}`, 200, "", host},
		{"GET", "agent", "", 200, "", host},
		{"POST", "agent", `{"action":"return"}`, 403, "insufficient_scope", "workstations:connect"},
		{"POST", "colleague", `{"action":"return"}`, 409, "control_held", "a person"},
		{"POST", "agent", `{"action":"request_help","note":"a code"}`, 200, "", host},
		{"POST", "agent", `{"action":"request_help","note":"\u0007"}`, 400, "invalid_value", "note"},
		{"POST", "connect", `{"action":"return"}`, 200, "", ""},
		{"POST", "connect", `{"action":"take","session_id":null}`, 200, "", second},
		{"POST", "manage", `{"action":"return"}`, 200, "", ""},
		{"POST", "connect", `{"action":"give"}`, 400, "invalid_value", "action: want"},
		{"POST", "connect", `{"action":1}`, 400, "invalid_value", "action: want"},
		{"POST", "connect", `{}`, 400, "invalid_value", "action: want"},
		{"POST", "connect", `{"action":"take","force":true}`, 400, "unsupported_parameter", "force"},
	} {
		a := handlerstest.Call(t, g, c.method, path, c.key, c.body)
		if c.code != "" || a.Code != 200 {
			a.Want(t, c.status, c.code, c.text)
			continue
		}
		holder, session := a.At(t, "holder"), a.At(t, "session_id")
		if c.text == "" && (holder != "none" || session != nil) || c.text != "" && (holder != "human" || session != c.text || a.At(t, "key") != "connect") {
			t.Errorf("%+v: %s", c, a.Body)
		}
	}
	if !slices.ContainsFunc(handlerstest.RowsOf(t, g, "default"), func(r activity.Record) bool {
		return r.Route == "POST "+"/v1/workstations/{id}/control" && r.Status == 409 && r.Workstation == "desk1" && r.Code == "control_held"
	}) {
		t.Error("no row")
	}
}
