package tests

import "testing"

func TestVNCAKeyEndsItsOwnOpenSession(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vnc: "on_conflict share\n" + d.as("one", "")})
	own := h.view(h.issue("connect", "one", ""))
	other := h.view(h.issue("desk", "one", ""))
	list := parse(t, h.want(200, "GET", "/v1/sessions", "connect", "").body)
	id, _ := at(list, "data", 0, "session_id").(string)
	for name, want := range map[string]any{
		"key": "connect", "viewer": own.LocalAddr().String(), "workstation_id": "one", "tenant": "default", "state": "open",
		"bytes_up": number("6"), "bytes_down": number("6"),
	} {
		if got := at(list, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if at(list, "data", 1) != nil {
		t.Errorf("a key that does not manage sees %v", list)
	}
	for _, s := range h.sessions("one") { // what others have open does not exist for it
		if s != id {
			wantRefusal(t, "/v1/sessions", h.do("DELETE", "/v1/sessions/"+s, "connect", ""), 404, "not_found")
		}
	}
	wantRefusal(t, "/v1/sessions", h.do("DELETE", "/v1/sessions/"+id, "foreign", ""), 404, "not_found")
	h.want(204, "DELETE", "/v1/sessions/"+id, "connect", "")
	if own.over(); own.err != nil {
		t.Error(own.err)
	}
	wantRefusal(t, "/v1/sessions", h.do("DELETE", "/v1/sessions/"+id, "connect", ""), 404, "not_found")
	if got := h.sessions("one"); len(got) != 1 || got[0] == id {
		t.Errorf("sessions %v", got)
	}
	other.leave()
	rows := parse(t, h.want(200, "GET", "/api/v1/activity?key=connect", "desk", "").body)
	ended := false
	for i := 0; at(rows, "data", i) != nil; i++ {
		ended = ended || at(rows, "data", i, "id") == id && at(rows, "data", i, "ended") == "ended"
	}
	if !ended {
		t.Errorf("no row says that the session was ended: %v", rows)
	}
}
