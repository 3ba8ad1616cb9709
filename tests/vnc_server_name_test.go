package tests

import (
	"strings"
	"testing"
)

// libvncclient takes the first encrypted type it knows, sends no server name,
// and comes again: then it must be asked for a password.
func TestVNCAViewerWithoutServerNameIsAskedForThePasswordNextTime(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: silent, vnc: d.as("one", "")})
	a := h.issue("connect", "one", "")
	first := h.dialVNC("127.0.0.21").greeted("RFB 003.008\n", 19)
	if offered := first.veNCrypt(260); first.err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v at first", offered)
	}
	if reason := first.startTLS("").refusal(); first.err != nil || !strings.Contains(reason, "as the password") {
		t.Errorf("without a name: %q, %v", reason, first.err)
	}
	h.refusedSoon("no_server_name", 1)
	h.dialVNC("127.0.0.21").hear("RFB 003.008\n").leave() // a health check does not use the memory up
	second := h.dialVNC("127.0.0.21").greeted("RFB 003.008\n", 19)
	if offered := second.veNCrypt(262); second.err == nil && (len(offered) != 2 || offered[0] != 262) {
		t.Errorf("sub-types %v the second time", offered)
	}
	second.startTLS("").plain("", a.token).accepted().echo(5, 6)
	second.leave()
	third := h.dialVNC("127.0.0.21").greeted("RFB 003.008\n", 19) // a neighbour that sends names
	if offered := third.veNCrypt(260); third.err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v the third time", offered)
	}
	third.leave()
	elsewhere := h.dialVNC("127.0.0.22").greeted("RFB 003.008\n", 19)
	if offered := elsewhere.veNCrypt(260); elsewhere.err == nil && offered[0] != 260 {
		t.Errorf("sub-types %v from elsewhere", offered)
	}
	elsewhere.leave()
	if second.err != nil || third.err != nil || elsewhere.err != nil {
		t.Error(second.err, third.err, elsewhere.err)
	}
}

// A wrapper that does TLS and names no address (websockify --ssl-target, stunnel by IP address) is
// asked for the token inside its TLS.
func TestVNCTheTokenIsThePasswordInsideTLSWithoutAName(t *testing.T) {
	d := newVNCServer(t, asNone)
	vnc := "on_conflict share\n" + d.as("one", "")
	h := startVNC(t, setup{vnc: vnc})
	a := h.issue("connect", "one", "")
	inside := func(name, version string, types ...any) *wire {
		w := h.dialVNC("")
		return w.startTLSWith(h.trusting(name)).hear("RFB 003.008\n").say(version).hear(types...)
	}
	venCrypt := func(w *wire) *wire {
		return w.say(19).hear(0, 2).say(0, 2).hear(0, 2, uint32(256), uint32(262))
	}
	for name, way := range map[string]struct {
		security string
		w        *wire
	}{
		"no name":              {"TLSFirstPlain", venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).say(uint32(256)).plain("any", a.token)},
		"RFB 3.7":              {"TLSFirstPlain", venCrypt(inside("", "RFB 003.007\n", 1, 19)).say(uint32(256)).plain("", a.token)},
		"the gateway's name":   {"TLSFirstPlain", venCrypt(inside("gw."+vncDomain, "RFB 003.008\n", 2, 19, 1)).say(uint32(256)).plain("", a.url)},
		"another domain":       {"TLSFirstPlain", venCrypt(inside("gw.example.com", "RFB 003.008\n", 2, 19, 1)).say(uint32(256)).plain("", a.token)},
		"TLS once more":        {"TLSFirstX509Plain", venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).say(uint32(262)).hear(1).startTLS("").plain("", a.token)},
		"a name at the second": {"TLSFirstX509Plain", venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).say(uint32(262)).hear(1).startTLS(a.host).plain("", "")},
	} {
		if way.w.accepted().echo(1, 2); way.w.err != nil {
			t.Errorf("%s: %v", name, way.w.err)
		}
		list := parse(t, h.want(200, "GET", workstations+"/one/sessions", "manage", "").body)
		found := false
		for i := range 6 {
			found = found || at(list, "data", i, "viewer") == way.w.LocalAddr().String() && at(list, "data", i, "security") == way.security
		}
		if !found {
			t.Errorf("%s: no session by %s: %v", name, way.security, list)
		}
	}
	wrong := venCrypt(inside("", "RFB 003.008\n", 2, 19, 1)).say(uint32(256)).plain("", strings.Repeat("a2", 13))
	if text := wrong.refusal(); wrong.err != nil || !strings.Contains(text, "not valid") {
		t.Errorf("a wrong token: %q, %v", text, wrong.err)
	}
	old := inside("", "RFB 003.003\n", uint32(0))
	if text := old.text(); old.err != nil || !strings.Contains(text, "as the password") {
		t.Errorf("RFB 3.3: %q, %v", text, old.err)
	}
	h.refusedSoon("unknown", 1)
	h.refusedSoon("no_server_name", 1)

	h.become(setup{vnc: "vncauth on\n" + vnc})
	a = h.issue("connect", "one", "")
	for name, w := range map[string]*wire{
		"VNC authentication":          inside("", "RFB 003.008\n", 3, 19, 2, 1).say(2),
		"VNC authentication, RFB 3.3": inside("", "RFB 003.003\n", uint32(2)),
	} {
		if w.answerChallenge(a.token).accepted().echo(1, 2); w.err != nil {
			t.Errorf("%s: %v", name, w.err)
		}
	}
	if line := h.vncLogLine(`"msg":"vnc session"`, `"ended"`); line == nil {
		t.Error("no line")
	}
}
