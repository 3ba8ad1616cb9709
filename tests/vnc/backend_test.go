package vnc

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

func TestVNCEveryKindOfWorkstationIsReached(t *testing.T) {
	const password = "password {env.DESK_PASSWORD}\n"
	ca := newAuthority(t)
	leaf := ca.leaf("desk.example")
	trust := "tls {\ntrust_pool file " + ca.file + "\n}\n"
	pinned := "tls {\npinned_key " + pin(t, leaf) + "\n}\n"
	kinds := []struct {
		name, options string
		greet         func(*harness.Conn)
	}{
		{"none", "", harness.NoSecurity},
		{"none-3.3", "", func(w *harness.Conn) { w.Send("RFB 003.003\n").Expect("RFB 003.003\n").Send(uint32(1)) }},
		{"none-3.7", "", func(w *harness.Conn) { w.Send("RFB 003.007\n").Expect("RFB 003.007\n").Send(1, 1).Expect(1) }},
		{"vncauth", password, harness.VNCAuth},
		{"vncauth-3.3", password, func(w *harness.Conn) {
			w.Send("RFB 003.003\n").Expect("RFB 003.003\n").Send(uint32(2)).CheckResponse()
		}},
		{"x509none-ca", trust, harness.VeNCrypt(260, leaf)},
		{"x509none-pin", pinned, harness.VeNCrypt(260, leaf)},
		{"x509vnc-ca", password + trust, harness.VeNCrypt(261, leaf)},
		{"x509vnc-pin", password + pinned, harness.VeNCrypt(261, leaf)},
		{"x509plain-ca", "user ann\n" + password + trust, harness.VeNCrypt(262, leaf)},
		{"x509plain-pin", "user ann\n" + password + pinned, harness.VeNCrypt(262, leaf)},
		{"x509none-name", "tls {\ntrust_pool file " + ca.file + "\nserver_name desk.example\n}\n", harness.VeNCrypt(260, leaf)},
	}
	vnc := ""
	servers := map[string]*harness.VNCServer{}
	for _, k := range kinds {
		servers[k.name] = harness.NewVNCServer(t, k.greet)
		vnc += servers[k.name].As(k.name, k.options)
	}
	h := harness.StartVNC(t, harness.Setup{VNC: vnc})
	for _, k := range kinds {
		w := h.VNC.TLSFirst(h.VNC.Issue("connect", k.name, "").Host).Accepted().Echo(11, 12)
		if w.Leave(); w.Err != nil {
			t.Errorf("%s: %v", k.name, w.Err)
		}
		if n := servers[k.name].Connections(); n != 1 {
			t.Errorf("%s: %d connections", k.name, n)
		}
	}
}
