package tests

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestVNCRegistrationIsOffByDefault(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := start(t, setup{vnc: d.as("one", "")})
	a := h.do("PUT", workstations+"/two", "manage", `{"address":"10.0.0.7:5901"}`)
	wantRefusal(t, workstations, a, 400, "unsupported_parameter")
	if !strings.Contains(string(a.body), "register_networks") {
		t.Errorf("%s", a.body)
	}
}

func TestVNCARegistrationIsChecked(t *testing.T) {
	h := start(t, setup{vnc: `
		register_networks 10.0.0.0/8 127.0.0.0/8 169.254.0.0/16 fd00::/8
		credential lab {
			password {env.DESK_PASSWORD}
			tenants other
		}
		workstation demo {
			test_card
		}`})
	for _, c := range []struct{ body, code, param string }{
		{`{}`, "missing_required_parameter", "address"},
		{`{"address":""}`, "missing_required_parameter", "address"},
		{`{"address":"10.0.0.7"}`, "invalid_value", "address"},
		{`{"address":"10.0.0.7:0"}`, "invalid_value", "address"},
		{`{"address":"10.0.0.7:70000"}`, "invalid_value", "address"},
		{`{"address":"11.0.0.7:5901"}`, "invalid_value", "address"},
		{`{"address":"127.0.0.1:5901"}`, "invalid_value", "address"}, // no /32 names it
		{`{"address":"[::ffff:127.0.0.1]:5901"}`, "invalid_value", "address"},
		{`{"address":"0x7f000001:5901"}`, "invalid_value", "address"},
		{`{"address":"127.1:5901"}`, "invalid_value", "address"},
		{`{"address":"169.254.169.254:80"}`, "invalid_value", "address"},
		{`{"address":"[fd00:ec2::254]:80"}`, "invalid_value", "address"},
		{`{"address":"[fe80::1%eth0]:5901"}`, "invalid_value", "address"},
		{`{"address":"{env.DESK_PASSWORD}:5901"}`, "invalid_value", "address"},
		{`{"address":"10.0.0.7:5901","credential":"lab"}`, "invalid_value", "credential"}, // another tenant's
		{`{"address":"10.0.0.7:5901","credential":"none"}`, "invalid_value", "credential"},
		{`{"address":"10.0.0.7:5901","password":"x"}`, "unsupported_parameter", "password"},
		{`{"address":7}`, "invalid_value", "address"},
	} {
		a := h.do("PUT", workstations+"/two", "manage", c.body)
		wantRefusal(t, workstations, a, 400, c.code)
		if param, _ := at(parse(t, a.body), "error", "param").(string); param != c.param {
			t.Errorf("%s: param %q, want %q", c.body, param, c.param)
		}
	}
	for _, name := range []string{".hidden", strings.Repeat("x", 129), "a%2Fb", "ä"} {
		if a := h.do("PUT", workstations+"/"+name, "manage", `{"address":"10.0.0.7:5901"}`); a.status != 400 && a.status != 404 {
			t.Errorf("name %s: %d %s", name, a.status, a.body)
		}
	}
	h.want(201, "PUT", workstations+"/two", "foreign", `{"address":"[fd00::7]:5901","credential":"lab"}`)
	if got := h.names("manage"); got != "demo available" {
		t.Errorf("workstations: %s", got)
	}
}

// The address that is dialled counts. The viewer's text says nothing about the network to the
// tenant that registered it.
func TestVNCARegisteredAddressIsCheckedAgainWhenItIsDialled(t *testing.T) {
	d := newVNCServer(t, asNone)
	_, port, _ := net.SplitHostPort(d.address())
	const text = "The workstation cannot be reached. Try again later."
	h := startVNC(t, setup{vnc: "register_networks 127.0.0.0/8 ::/0 0.0.0.0/0\n"})
	refused := func(name, cause string) {
		t.Helper()
		w := h.tlsFirst(h.issue("connect", name, "").host)
		if got := w.refusal(); w.err != nil || got != text {
			t.Errorf("%s: %q, %v", name, got, w.err)
		}
		h.vncLogLine("vnc connection refused", `"workstation":"`+name+`"`, `"code":"workstation_unreachable"`, cause)
	}
	const outside = "the address is outside the networks of register_networks"
	h.want(201, "PUT", workstations+"/name", "manage", `{"address":"localhost:`+port+`"}`)
	refused("name", outside)
	if own := ownInterface(); own != "" {
		h.want(201, "PUT", workstations+"/own", "manage", `{"address":"`+net.JoinHostPort(own, port)+`"}`)
		refused("own", outside)
	}
	if n := d.connections(); n != 0 {
		t.Errorf("the workstation was reached %d times", n)
	}
	h.become(setup{vnc: "register_networks 127.0.0.1/32 ::1/128\n"})
	w := h.view(h.issue("connect", "name", ""))
	w.leave()
	h.want(201, "PUT", workstations+"/closed", "manage", `{"address":"127.0.0.1:1"}`)
	refused("closed", "connection refused")
}

// ownInterface is an address of this machine that is not loopback, "" without one.
func ownInterface() string {
	addresses, _ := net.InterfaceAddrs()
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return ""
}

func TestVNCARegisteredWorkstationUsesADeclaredCredential(t *testing.T) {
	d := newVNCServer(t, asVNCAuth)
	credential := "credential lab {\npassword {env.DESK_PASSWORD}\n}\n"
	h := startVNC(t, setup{vnc: "register_networks 127.0.0.1/32\n" + credential})
	h.want(201, "PUT", workstations+"/two", "manage", `{"address":"`+d.address()+`","credential":"lab"}`)
	a := h.issue("connect", "two", "")
	w := h.view(a)
	w.leave()
	// A credential that the configuration has no more opens nothing.
	h.become(setup{vnc: "register_networks 127.0.0.1/32\n"})
	w = h.tlsFirst(a.host)
	if text := w.refusal(); w.err != nil || !strings.Contains(text, "cannot be reached") {
		t.Errorf("%q, %v", text, w.err)
	}
	h.refusedSoon("unavailable", 1)
}

func TestVNCCredentialsAndTokensStayWhereTheyAre(t *testing.T) {
	good, bad := newVNCServer(t, asVNCAuth), newVNCServer(t, func(w *wire) {
		offering(w, 2).hear(2).say("0123456789abcdef").take(16)
		w.refuse("Authentication failed for " + deskPassword) // it may say what it likes
	})
	password := "password {env.DESK_PASSWORD}"
	h := startVNC(t, setup{vnc: "register_networks 127.0.0.1/32\ncredential lab {\n" + password + "\n}\n" + good.as("one", password) + bad.as("two", password)})
	var answers bytes.Buffer
	keep := func(a answer) answer {
		_ = a.header.Write(&answers)
		answers.Write(a.body)
		return a
	}
	keep(h.do("PUT", workstations+"/three", "manage", `{"address":"`+good.address()+`","credential":"lab"}`))
	var tokens []string
	for _, name := range []string{"one", "two", "three"} {
		a := h.issue("desk", name, "")
		tokens = append(tokens, a.token)
		w := h.tlsFirst(a.host)
		if name == "two" {
			answers.WriteString(w.refusal())
		} else {
			w.accepted().echo(1, 2)
			keep(h.get(workstations+"/"+name+"/sessions", "manage"))
		}
		w.leave()
	}
	h.vncClosed()
	keep(h.get(workstations, "manage"))
	keep(h.get("/api/v1/activity?limit=1000", "desk"))
	keep(h.get("/metrics", ""))
	keep(h.do("DELETE", workstations+"/two", "manage", ""))
	h.stop()
	seen := map[string]string{"an answer": answers.String(), "the log": logs.text(), "the data": h.files(), "the storage": h.stored()}
	if !strings.Contains(seen["an answer"], "gatehouse_vnc_sessions_total") || !strings.Contains(seen["the storage"], `"name":"three"`) {
		t.Error("nothing to look at")
	}
	for where, text := range seen {
		for _, canary := range append(tokens, deskPassword) {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s holds a secret: …%s…", where, text[max(0, i-200):i+20])
			}
		}
	}
}

// stored is everything below Caddy's storage that is Gatehouse's.
func (h *harness) stored() string {
	h.t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(filepath.Join(h.dir, "storage", "gatehouse"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		h.t.Error(err)
	}
	return all.String()
}
