package vnc

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestVNCAKeyEndsItsOwnOpenSession(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: "on_conflict share\n" + d.As("one", "")})
	own := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	other := h.VNC.View(h.VNC.Issue("desk", "one", ""))
	list := harness.Parse(t, h.Client.Want(200, "GET", "/v1/sessions", "connect", "").Body)
	id, _ := harness.At(list, "data", 0, "session_id").(string)
	for name, want := range map[string]any{
		"key": "connect", "viewer": own.LocalAddr().String(), "workstation_id": "one", "tenant": "default", "state": "open",
		"bytes_up": harness.Number("6"), "bytes_down": harness.Number("6"),
	} {
		if got := harness.At(list, "data", 0, name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if harness.At(list, "data", 1) != nil {
		t.Errorf("a key that does not manage sees %v", list)
	}
	for _, s := range h.VNC.Sessions("one") { // what others have open does not exist for it
		if s != id {
			harness.WantRefusal(t, "/v1/sessions", h.Client.Do("DELETE", "/v1/sessions/"+s, "connect", ""), 404, "not_found")
		}
	}
	harness.WantRefusal(t, "/v1/sessions", h.Client.Do("DELETE", "/v1/sessions/"+id, "foreign", ""), 404, "not_found")
	h.Client.Want(204, "DELETE", "/v1/sessions/"+id, "connect", "")
	if own.End(); own.Err != nil {
		t.Error(own.Err)
	}
	harness.WantRefusal(t, "/v1/sessions", h.Client.Do("DELETE", "/v1/sessions/"+id, "connect", ""), 404, "not_found")
	if got := h.VNC.Sessions("one"); len(got) != 1 || got[0] == id {
		t.Errorf("sessions %v", got)
	}
	if row := vncRecord(h, "one"); harness.At(row, "id") != id || harness.At(row, "ended") != "ended" {
		t.Errorf("row %v", row)
	}
	other.Leave()
}
