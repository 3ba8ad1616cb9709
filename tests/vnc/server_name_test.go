package vnc

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// libvncclient takes the first encrypted type it knows, sends no server name,
// and comes again: then it must be asked for a password.
func TestVNCAViewerWithoutServerNameIsAskedForThePasswordNextTime(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent, VNC: d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	first := h.VNC.Dial("127.0.0.21").Greet("RFB 003.008\n", 19)
	if offered := first.VeNCrypt(260); first.Err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v at first", offered)
	}
	if reason := first.StartTLS("").Refusal(); first.Err != nil || !strings.Contains(reason, "as the password") {
		t.Errorf("without a name: %q, %v", reason, first.Err)
	}
	refusedSoon(h, "no_server_name", 1)
	h.VNC.Dial("127.0.0.21").Expect("RFB 003.008\n").Leave() // a health check does not use the memory up
	second := h.VNC.Dial("127.0.0.21").Greet("RFB 003.008\n", 19)
	if offered := second.VeNCrypt(262); second.Err == nil && (len(offered) != 2 || offered[0] != 262) {
		t.Errorf("sub-types %v the second time", offered)
	}
	second.StartTLS("").Plain("", a.Token).Accepted().Echo(5, 6)
	second.Leave()
	third := h.VNC.Dial("127.0.0.21").Greet("RFB 003.008\n", 19) // a neighbour that sends names
	if offered := third.VeNCrypt(260); third.Err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v the third time", offered)
	}
	third.Leave()
	elsewhere := h.VNC.Dial("127.0.0.22").Greet("RFB 003.008\n", 19)
	if offered := elsewhere.VeNCrypt(260); elsewhere.Err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v from elsewhere", offered)
	}
	elsewhere.Leave()
	if second.Err != nil || third.Err != nil || elsewhere.Err != nil {
		t.Error(second.Err, third.Err, elsewhere.Err)
	}
}

// A wrapper that does TLS and names no address (websockify --ssl-target, stunnel by IP address) is
// asked for the token inside its TLS.
func TestVNCTheTokenIsThePasswordInsideTLSWithoutAName(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	vnc := "on_conflict share\n" + d.As("one", "")
	h := harness.StartVNC(t, harness.Setup{VNC: vnc})
	a := h.VNC.Issue("connect", "one", "")
	inside := func(name, version string, types ...any) *harness.Conn {
		w := h.VNC.Dial("")
		return w.StartTLSWith(trusting(h, name)).Expect("RFB 003.008\n").Send(version).Expect(types...)
	}
	venCrypt := func(w *harness.Conn) *harness.Conn {
		return w.Send(19).Expect(0, 2).Send(0, 2).Expect(0, 2, uint32(256), uint32(262))
	}
	for name, way := range map[string]struct {
		security string
		w        *harness.Conn
	}{
		"no name":              {"TLSFirstPlain", venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).Send(uint32(256)).Plain("any", a.Token)},
		"RFB 3.7":              {"TLSFirstPlain", venCrypt(inside("", "RFB 003.007\n", 1, 19)).Send(uint32(256)).Plain("", a.Token)},
		"the gateway's name":   {"TLSFirstPlain", venCrypt(inside("gw."+harness.VNCDomain, "RFB 003.008\n", 2, 19, 1)).Send(uint32(256)).Plain("", a.URL)},
		"another domain":       {"TLSFirstPlain", venCrypt(inside("gw.example.com", "RFB 003.008\n", 2, 19, 1)).Send(uint32(256)).Plain("", a.Token)},
		"TLS once more":        {"TLSFirstX509Plain", venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).Send(uint32(262)).Expect(1).StartTLS("").Plain("", a.Token)},
		"a name at the second": {"TLSFirstX509Plain", venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).Send(uint32(262)).Expect(1).StartTLS(a.Host).Plain("", "")},
	} {
		if way.w.Accepted().Echo(1, 2); way.w.Err != nil {
			t.Errorf("%s: %v", name, way.w.Err)
		}
		list := harness.Parse(t, h.Client.Want(200, "GET", workstations+"/one/sessions", "manage", "").Body)
		found := false
		for i := range 6 {
			found = found || harness.At(list, "data", i, "viewer") == way.w.LocalAddr().String() && harness.At(list, "data", i, "security") == way.security
		}
		if !found {
			t.Errorf("%s: no session by %s: %v", name, way.security, list)
		}
	}
	wrong := venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).Send(uint32(256)).Plain("", strings.Repeat("a2", 13))
	if text := wrong.Refusal(); wrong.Err != nil || !strings.Contains(text, "not valid") {
		t.Errorf("a wrong token: %q, %v", text, wrong.Err)
	}
	old := inside("", "RFB 003.003\n", uint32(0))
	if text := old.Text(); old.Err != nil || !strings.Contains(text, "as the password") {
		t.Errorf("RFB 3.3: %q, %v", text, old.Err)
	}
	refusedSoon(h, "unknown", 1)
	refusedSoon(h, "no_server_name", 1)

	h.Become(harness.Setup{VNC: "vncauth on\n" + vnc})
	a = h.VNC.Issue("connect", "one", "")
	for name, w := range map[string]*harness.Conn{
		"VNC authentication":          inside("", "RFB 003.008\n", 3, 19, 2, 1).Send(2),
		"VNC authentication, RFB 3.3": inside("", "RFB 003.003\n", uint32(2)),
	} {
		if w.AnswerChallenge(a.Token).Accepted().Echo(1, 2); w.Err != nil {
			t.Errorf("%s: %v", name, w.Err)
		}
	}
	if line := vncLogLine(h, `"msg":"vnc session"`, `"ended"`); line == nil {
		t.Error("no line")
	}
}
