package tests

import (
	"net"
	"testing"
)

// A credential is for many workstations: each shows a certificate for the host
// under which it was registered, unless the credential names one for all.
func TestVNCARegisteredWorkstationIsReachedByTLS(t *testing.T) {
	const password = "password {env.DESK_PASSWORD}\n"
	ca, other := newAuthority(t), newAuthority(t)
	trust := "tls {\ntrust_pool file " + ca.file + "\n"
	cases := []struct {
		name, credential, host, refused string
		greet                           func(*wire)
	}{
		{"none-address", "bare", "127.0.0.1", "", asVeNCrypt(260, ca.leaf())},
		{"vnc-address", "secret", "127.0.0.1", "", asVeNCrypt(261, ca.leaf())},
		{"plain-name", "plain", "localhost", "", asVeNCrypt(262, ca.leaf("localhost"))},
		{"named", "named", "localhost", "", asVeNCrypt(261, ca.leaf("desk.example"))},
		{"another-name", "secret", "localhost", "desk.example, not localhost", asVeNCrypt(261, ca.leaf("desk.example"))},
		{"another-ca", "secret", "127.0.0.1", "unknown authority", asVeNCrypt(261, other.leaf("localhost"))},
	}
	h := startVNC(t, setup{vnc: "register_networks 127.0.0.1/32 ::1/128\n" +
		"credential bare {\n" + trust + "}\n}\n" +
		"credential secret {\n" + password + trust + "}\n}\n" +
		"credential plain {\nuser ann\n" + password + trust + "}\n}\n" +
		"credential named {\n" + password + trust + "server_name desk.example\n}\n}\n"})
	for _, c := range cases {
		d := newVNCServer(t, c.greet)
		_, port, _ := net.SplitHostPort(d.address())
		h.want(201, "PUT", workstations+"/"+c.name, "manage", `{"address":"`+net.JoinHostPort(c.host, port)+`","credential":"`+c.credential+`"}`)
		w := h.tlsFirst(h.issue("connect", c.name, "").host)
		if c.refused == "" {
			if w.accepted().echo(3, 4); w.err != nil {
				t.Errorf("%s: %v %s", c.name, w.err, h.vncLogLines(c.name))
			}
			w.leave()
			continue
		}
		const text = "The workstation did not show the expected certificate. Tell your administrator."
		if got := w.refusal(); w.err != nil || got != text {
			t.Errorf("%s: told %q, %v", c.name, got, w.err)
		}
		h.vncLogLine(`"code":"workstation_certificate"`, `"workstation":"`+c.name+`"`, c.refused)
	}
}
