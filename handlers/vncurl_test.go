package handlers

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/manual"
)

func TestAnAddressForOneSession(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	issued := call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", `{"once":true}`)
	if issued.Code != 200 || issued.At(t, "session", "once") != true {
		t.Fatalf("%d %s", issued.Code, issued.Body)
	}
	open(t, g, issued)
	if a := call(t, g, "GET", "/v1/workstations/desk1", "connect", ""); a.At(t, "tokens") != 0.0 || a.At(t, "sessions") != 1.0 {
		t.Errorf("%s", a.Body)
	}
}

// A page asks before it takes a workstation from somebody; it needs to know from whom.
func TestAWorkstationInUseIsTakenOnlyIfThatIsAskedFor(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	session := open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", `{"shared":true}`))
	for _, c := range []struct {
		key, body string
		own       bool
	}{{"colleague", `{"take_over":false}`, false}, {"colleague", `{"take_over":true}`, false}, {"connect", `{"take_over":false}`, true}} {
		a := call(t, g, "POST", "/v1/workstations/desk1/vnc", c.key, c.body)
		a.Want(t, 409, "workstation_occupied", `in use by key "connect" since 2026-03-18T12:00:00Z`)
		if err := manual.Compare("..", "docs/vnc.md", "is in use by key", a.Body.String()); err != nil {
			t.Error(err)
		}
		holder := func(member string) any { return a.At(t, "error", "details", "sessions", 0, member) }
		if holder("session_id") != session || holder("key") != "connect" || holder("own") != c.own || holder("started_at") != "2026-03-18T12:00:00Z" ||
			a.At(t, "error", "details", "joinable") != true || a.At(t, "error", "details", "workstation_id") != "desk1" || a.Header().Get("X-Should-Retry") != "false" {
			t.Errorf("%s as %s: %s", c.body, c.key, a.Body)
		}
	}
	for _, c := range []struct{ key, body string }{
		{"colleague", ``}, {"colleague", `{"take_over":false,"shared":true,"view_only":true}`}, {"connect", `{"take_over":true}`}, {"full", `{"take_over":true}`},
	} {
		call(t, g, "POST", "/v1/workstations/desk1/vnc", c.key, c.body).Want(t, 200, "", "")
	}
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "full", `{"take_over":"yes"}`).Want(t, 400, "invalid_value", "take_over: want true or false")
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "other", `{"take_over":false}`).Want(t, 404, "not_found", "desk1") // of another tenant
	open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "full", `{"take_over":true,"once":true}`))
	if a := call(t, g, "GET", "/v1/workstations/desk1/sessions", "manage", ""); a.At(t, "data", 0, "key") != "full" {
		t.Errorf("%s", a.Body)
	}
}

// Where on_conflict is replace, a request can still ask to be refused instead.
func TestTheRuleForConflictsIsWhatARequestDoesNotSay(t *testing.T) {
	g := startGateway(t, setup{Workstations: true, OnConflict: desktop.Replace})
	open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", ""))
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "colleague", `{"take_over":false}`).Want(t, 409, "workstation_occupied", "")
	open(t, g, call(t, g, "POST", "/v1/workstations/desk1/vnc", "colleague", `{"take_over":true}`))
}

func TestTheRulesOfARequestAreItsSessions(t *testing.T) {
	g := startGateway(t, setup{Workstations: true})
	a := call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", `{"session":{"view_only":true,"fps":5,"clipboard_out":"off","bandwidth":1000000,"max_guests":0}}`)
	if a.Code != 200 || a.At(t, "session", "view_only") != true || a.At(t, "session", "frame_rate") != 5.0 || a.At(t, "session", "clipboard_out") != "off" ||
		a.At(t, "session", "bandwidth") != 1e6 || a.At(t, "session", "max_guests") != 0.0 {
		t.Errorf("%d %s", a.Code, a.Body)
	}
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", `{"session":null}`).Want(t, 200, "", "")
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", `{"session":{"fps":0}}`).Want(t, 400, "invalid_value", "session.fps: want updates a second, 1 to 1000")
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", `{"session":{"record":"on"}}`).Want(t, 400, "invalid_value", "session.record on: this gateway records nothing")
	call(t, g, "POST", "/v1/workstations/desk1/vnc", "connect", `{"session":{"file_transfer":"off"}}`).Want(t, 400, "unsupported_parameter", `unknown field "file_transfer" of session`)
}
