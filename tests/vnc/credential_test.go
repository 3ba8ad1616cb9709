package vnc

import (
	"net"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// A credential is for many workstations: each shows a certificate for the host
// under which it was registered, unless the credential names one for all.
func TestVNCARegisteredWorkstationIsReachedByTLS(t *testing.T) {
	const password = "password {env.DESK_PASSWORD}\n"
	ca, other := newAuthority(t), newAuthority(t)
	trust := "tls {\ntrust_pool file " + ca.file + "\n"
	cases := []struct {
		name, credential, host, refused string
		greet                           func(*harness.Conn)
	}{
		{"none-address", "bare", "127.0.0.1", "", harness.VeNCrypt(260, ca.leaf())},
		{"vnc-address", "secret", "127.0.0.1", "", harness.VeNCrypt(261, ca.leaf())},
		{"plain-name", "plain", "localhost", "", harness.VeNCrypt(262, ca.leaf("localhost"))},
		{"named", "named", "localhost", "", harness.VeNCrypt(261, ca.leaf("desk.example"))},
		{"another-name", "secret", "localhost", "desk.example, not localhost", harness.VeNCrypt(261, ca.leaf("desk.example"))},
		{"another-ca", "secret", "127.0.0.1", "unknown authority", harness.VeNCrypt(261, other.leaf("localhost"))},
	}
	h := harness.StartVNC(t, harness.Setup{VNC: "register_networks 127.0.0.1/32 ::1/128\n" +
		"credential bare {\n" + trust + "}\n}\n" +
		"credential secret {\n" + password + trust + "}\n}\n" +
		"credential plain {\nuser ann\n" + password + trust + "}\n}\n" +
		"credential named {\n" + password + trust + "server_name desk.example\n}\n}\n"})
	for _, c := range cases {
		d := harness.NewVNCServer(t, c.greet)
		_, port, _ := net.SplitHostPort(d.Address())
		h.Client.Want(201, "PUT", workstations+"/"+c.name, "manage", `{"address":"`+net.JoinHostPort(c.host, port)+`","credential":"`+c.credential+`"}`)
		w := h.VNC.TLSFirst(h.VNC.Issue("connect", c.name, "").Host)
		if c.refused == "" {
			if w.Accepted().Echo(3, 4); w.Err != nil {
				t.Errorf("%s: %v %s", c.name, w.Err, vncLogLines(h, c.name))
			}
			w.Leave()
			continue
		}
		const text = "The workstation did not show the expected certificate. Tell your administrator."
		if got := w.Refusal(); w.Err != nil || got != text {
			t.Errorf("%s: told %q, %v", c.name, got, w.Err)
		}
		vncLogLine(h, `"code":"workstation_certificate"`, `"workstation":"`+c.name+`"`, c.refused)
	}
}
