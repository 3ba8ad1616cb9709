package vnc

import (
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Each level that the configuration has, and the request.
func TestVNCASessionHasTheRulesOfEachLevel(t *testing.T) {
	const viewOnly = "session {\nview_only\n}\n"
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	all := [][]byte{pixelFormat, keyEvent, cutText, setSize}
	for _, c := range []struct {
		level string
		setup harness.Setup
		body  string
		want  [][]byte
	}{
		{"gateway", harness.Setup{VNC: "session {\nclipboard_in off\n}\n" + d.As("one", "")}, `{"session":{"clipboard_in":"on"}}`, [][]byte{pixelFormat, keyEvent, setSize}},
		{"tenant", harness.Setup{VNC: d.As("one", ""), Options: "tenant default {\n" + viewOnly + "}\ntenant other {\n}\n"}, `{"view_only":false}`, [][]byte{pixelFormat}},
		{"another tenant", harness.Setup{VNC: d.As("one", ""), Options: "tenant other {\n" + viewOnly + "}\n"}, "", all},
		{"workstation", harness.Setup{VNC: d.As("one", viewOnly)}, `{"session":{"view_only":false}}`, [][]byte{pixelFormat}},
		{"key", harness.Setup{VNC: d.As("one", ""), Keys: harness.FullKey("") + "key chat {\nsecret {env.KEY_CHAT}\nscopes workstations:connect\n" + viewOnly + "}\n"}, "", [][]byte{pixelFormat}},
		{"request", harness.Setup{VNC: d.As("one", "")}, `{"session":{"clipboard_in":"off"}}`, [][]byte{pixelFormat, keyEvent, setSize}},
	} {
		h.Become(c.setup)
		key := "connect"
		if c.level == "key" {
			key = "chat" // its secret
		}
		wantMessages(h, c.level, arrived(h, d, h.VNC.Issue(key, "one", c.body), all...), c.want...)
	}
}

// The server of these tests answers a pointer with what no server sends, which only a session whose stream
// is followed does not carry.
func TestVNCAStreamIsFollowedOnlyWhereARuleNeedsIt(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "")})
	w := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	mustSucceed(h, w.Echo(1, 2))
	w.Leave()
	h.VNC.WaitClosed()
	w = h.VNC.TLSFirst(h.VNC.Issue("connect", "one", `{"session":{"clipboard_out":"off"}}`).Host).Accepted().Send([]byte{5, 0, 0, 1, 0, 2})
	if w.End(); w.Err != nil {
		t.Error(w.Err)
	}
	vncLogLine(h, `"ended":"protocol_error"`, "reading the workstation's messages")
}

// invite asks for an address for a guest of the session at a workstation.
func invite(h *harness.Gateway, key, workstation, body string) harness.Address {
	h.T.Helper()
	ids := h.VNC.Sessions(workstation)
	a := h.Client.Want(200, "POST", "/v1/sessions/"+ids[0]+"/guests", key, body)
	harness.WantDocumented(h.T, "vnc.md", "/guests", string(a.Body))
	url, _ := harness.At(harness.Parse(h.T, a.Body), "vnc_url").(string)
	return harness.ParseAddress(url)
}

func TestVNCAGuestSeesCannotTypeAndEndsWithItsHost(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNC: d.As("one", "session {\nmax_guests 1\n}")})
	host := h.VNC.View(h.VNC.Issue("connect", "one", ""))
	address := invite(h, "connect", "one", `{"label":"helpdesk"}`)
	refusal := h.Client.Want(429, "POST", "/v1/sessions/"+h.VNC.Sessions("one")[0]+"/guests", "connect", "")
	if harness.At(harness.Parse(t, refusal.Body), "error", "code") != "workstation_guests_exceeded" {
		t.Errorf("%s", refusal.Body)
	}
	guest := h.VNC.TLSFirst(address.Host).Accepted()
	refusedWith(h, address, "As many guests as allowed are there already. Try again later.")
	d.Forget()
	mustSucceed(h, guest.Send(keyEvent).Send(updateAll))
	if got := d.Messages(1); len(got) != 1 || got[0][0] != updateAll[0] {
		t.Errorf("the guest's key arrived: %v", got)
	}
	mustSucceed(h, host.Echo(3, 4))
	begun := time.Now()
	host.Leave()
	if guest.End(); guest.Err != nil || time.Since(begun) > oneSecond+atOnce {
		t.Errorf("the guest ended after %v: %v", time.Since(begun), guest.Err)
	}
	line := vncLogLine(h, `"ended":"host_left"`)
	if harness.At(line, "role") != "guest" || harness.At(line, "joined") == nil {
		t.Errorf("%v", line)
	}
	refusedWith(h, address, "The session that you were invited to has ended.")
}
