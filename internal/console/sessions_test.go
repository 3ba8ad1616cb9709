package console

import (
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

const twoSessions = `200 {"object":"list","data":[
	{"session_id":"vnc-1","workstation_id":"desk1","tenant":"acme","state":"open","key":"dev","user":"ada@example.com","token":"ab","viewer":"[2001:db8::1]:4000","security":"browser",
	 "view_only":true,"shared":true,"started_at":"2026-11-23T02:00:00Z","until":"2026-11-23T14:00:00Z","bytes_up":2048,"bytes_down":5242880,"node":"gw-1"},
	{"session_id":"vnc-2","workstation_id":"desk2","tenant":"acme","state":"open","key":"2222222222222222222222222222222222222222222222222222222222222222","token":"cd","viewer":"192.0.2.7:4000",
	 "security":"x509none","started_at":"2026-11-23T02:19:00Z","until":"2026-11-23T02:50:00Z","bytes_up":0,"bytes_down":0,"guests":2,"rules":{"clipboard_out":"off","fps":30,"bandwidth":1500000,"idle_timeout":1800}},
	{"session_id":"vnc-3","workstation_id":"desk2","tenant":"acme","state":"open","key":"dev","token":"ef","viewer":"192.0.2.8:4000","security":"x509none","view_only":true,"shared":true,
	 "started_at":"2026-11-23T02:19:00Z","until":"2026-11-23T02:50:00Z","bytes_up":0,"bytes_down":0,"role":"guest","joined":"vnc-2","label":"helpdesk"}]}`

func TestOpenSessionsAreShown(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/sessions": twoSessions})
	a.shows(a.visit("/console/sessions?workstation=desk1&key=dev", nil), 200,
		"desk1 view only shared dev ada@example.com 2001:db8::1 browser 20 minutes ago in 12 hours 5.0 MiB 2.0 KiB gw-1 Invite a guest End…",
		"desk2 2 guests no clipboard out, 1.5 Mbit/s, idle for 30 minutes 222222222222… 192.0.2.7 x509none 1 minute ago in 30 minutes 0 bytes 0 bytes Invite a guest End…",
		"desk2 view only guest helpdesk dev 192.0.2.8 x509none 1 minute ago in 30 minutes 0 bytes 0 bytes End…")
	if q := a.asked[0].query; q.Get("workstation") != "desk1" || q.Get("key") != "dev" {
		t.Errorf("asked %v", q)
	}
	a.answers["GET /v1/sessions"] = `200 {"object":"list","data":[]}`
	a.shows(a.visit("/console/sessions", nil), 200, "Nobody has a desktop open", "To the workstations")
	a.shows(a.visit("/console/sessions?key=x", nil), 200, "No open session is like that", "Show all")
	a.key.Scopes = keys.WorkstationsConnect
	a.shows(a.visit("/console/sessions", nil), 200, "Only the sessions of this key. With workstations:manage")
	a.answers["GET /v1/sessions"] = `404 {"error":{"message":"this gateway has no workstations","code":"unknown_url"}}`
	a.shows(a.visit("/console/sessions", nil), 200, "This gateway has no workstations")
}

func TestTheEndOfASessionIsAskedForFirst(t *testing.T) {
	a := newManageAPI(t, map[string]string{"GET /v1/sessions": twoSessions, "DELETE /v1/sessions/vnc-1": "204 "})
	a.shows(a.visit("/console/sessions/vnc-1/end", nil), 200, "End the session at desk1?", "The viewer at 2001:db8::1 is disconnected",
		"The session of ada@example.com (key dev), open for 20 minutes.", "Its VNC address", "End the session")
	a.wantRedirect(a.visit("/console/sessions/vnc-1/end", url.Values{}), "/console/sessions?done=ended")
	a.answers["DELETE /v1/sessions/vnc-1"] = `503 {"error":{"message":"try again","code":"storage_unavailable"}}`
	a.shows(a.visit("/console/sessions/vnc-1/end", url.Values{}), 503, "try again", "End the session at desk1?")
	a.shows(a.visit("/console/sessions/vnc-9/end", nil), 404, "has ended already")
}

func TestAGuestIsInvitedByTheKeysThatMay(t *testing.T) {
	a := newManageAPI(t, map[string]string{
		"GET /v1/sessions":               twoSessions,
		"POST /v1/sessions/vnc-1/guests": `200 {"workstation_id":"desk1","vnc_url":"tok.vnc.example.com:5900","expires_at":"2026-11-23T02:25:00Z"}`,
	})
	a.shows(a.visit("/console/sessions/vnc-1/guests", url.Values{}), 200, "Address for a guest at desk1", "vncviewer tok.vnc.example.com:5900")
	if last := a.asked[len(a.asked)-1]; last.body != `{"view_only":true}` {
		t.Errorf("sent %s", last.body)
	}
	a.key.Name, a.key.Scopes = "dev", keys.WorkstationsConnect
	if page := a.visit("/console/sessions", nil).Body.String(); strings.Count(page, "Invite a guest") != 1 { // of its own, which is no guest
		t.Errorf("%s", page)
	}
	a.answers["POST /v1/sessions/vnc-1/guests"] = `429 {"error":{"message":"session may have 3 guests","code":"workstation_guests_exceeded"}}`
	a.shows(a.visit("/console/sessions/vnc-1/guests", url.Values{}), 429, "may have 3 guests")
}

func TestAPageKnowsHowManyGuestsWatchItAndWhoHasControl(t *testing.T) {
	const control = "GET /v1/workstations/desk2/control"
	a := newManageAPI(t, map[string]string{"GET /v1/sessions": twoSessions, control: `200 {"holder":"none","requests":[]}`})
	ask := func(token, want string) {
		t.Helper()
		if w := a.visit("/console/workstations/desk2/control?token="+token, nil); w.Code != 200 || w.Body.String() != want {
			t.Errorf("%q: %d %s, want %s", token, w.Code, w.Body, want)
		}
	}
	for token, want := range map[string]string{"cd": `{"guests":2`, "ab": `{"guests":0`, "": `{"guests":0`} {
		ask(token, want+`,"control":{"holder":"none","own":false}}`)
	}
	if q := a.asked[0].query; q.Get("workstation") != "desk2" || q.Get("key") != a.key.Name {
		t.Errorf("asked %v", q)
	}
	a.answers[control] = `200 {"holder":"human","key":"dev","user":"Ann","session_id":"vnc-2","since":"2026-11-23T02:19:00Z","requests":[{"key":"bot","note":"a <code>"},{"key":"b2","user":"Ben"}]}`
	const asks = `"who":"Ann","asks":[{"who":"bot","note":"a \u003ccode\u003e"},{"who":"Ben"}]}}`
	ask("cd", `{"guests":2,"control":{"holder":"human","own":true,`+asks)
	ask("ab", `{"guests":0,"control":{"holder":"human","own":false,`+asks)
}

func TestAPageTakesControlForItsOwnSession(t *testing.T) {
	const control = "POST /v1/workstations/desk two/control"
	a := newManageAPI(t, map[string]string{"GET /v1/sessions": twoSessions, control: `200 {"holder":"human","key":"dev","session_id":"vnc-2","requests":[]}`})
	change := func(body string) *httptest.ResponseRecorder {
		v := ordering(t, body, a.ServeHTTP)
		v.r.SetPathValue("id", "desk two")
		if err := changeDesk(v); err != nil {
			t.Fatal(err)
		}
		return v.w.(*httptest.ResponseRecorder)
	}
	for body, sent := range map[string]string{
		`{"action":"take","token":"cd"}`:   `{"action":"take","session_id":"vnc-2"}`,
		`{"action":"return","token":"cd"}`: `{"action":"return","session_id":"vnc-2"}`,
		`{"action":"take","token":"zz"}`:   `{"action":"take"}`, // the session has ended: the gateway says so
	} {
		w := change(body)
		if last := a.asked[len(a.asked)-1]; w.Code != 200 || last.body != sent || !jsontest.Has(t, w.Body.String(), `{"holder":"human"}`) {
			t.Errorf("%s: %d %s, sent %s", body, w.Code, w.Body, last.body)
		}
	}
	a.answers[control] = `404 {"error":{"message":"key has no open session","code":"not_found"}}`
	if w := change(`{"action":"take"}`); w.Code != 404 || !jsontest.Has(t, w.Body.String(), `{"message":"Key has no open session."}`) {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := change(`take`); w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
