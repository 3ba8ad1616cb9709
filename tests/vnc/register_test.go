package vnc

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// The address that is dialled counts. The viewer's text says nothing about the network to the
// tenant that registered it.
func TestVNCARegisteredAddressIsCheckedAgainWhenItIsDialled(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	_, port, _ := net.SplitHostPort(d.Address())
	const text = "The workstation cannot be reached. Try again later."
	h := harness.StartVNC(t, harness.Setup{VNC: "register_networks 127.0.0.0/8 ::/0 0.0.0.0/0\n"})
	refused := func(name, cause string) {
		t.Helper()
		w := h.VNC.TLSFirst(h.VNC.Issue("connect", name, "").Host)
		if got := w.Refusal(); w.Err != nil || got != text {
			t.Errorf("%s: %q, %v", name, got, w.Err)
		}
		vncLogLine(h, "vnc connection refused", `"workstation":"`+name+`"`, `"code":"workstation_unreachable"`, cause)
	}
	const outside = "the address is outside the networks of register_networks"
	h.Client.Want(201, "PUT", workstations+"/name", "manage", `{"address":"localhost:`+port+`"}`)
	refused("name", outside)
	if own := ownInterface(); own != "" {
		h.Client.Want(201, "PUT", workstations+"/own", "manage", `{"address":"`+net.JoinHostPort(own, port)+`"}`)
		refused("own", outside)
	}
	if n := d.Connections(); n != 0 {
		t.Errorf("the workstation was reached %d times", n)
	}
	h.Become(harness.Setup{VNC: "register_networks 127.0.0.1/32 ::1/128\n"})
	w := h.VNC.View(h.VNC.Issue("connect", "name", ""))
	w.Leave()
	h.Client.Want(201, "PUT", workstations+"/closed", "manage", `{"address":"127.0.0.1:1"}`)
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

func TestVNCCredentialsAndTokensStayWhereTheyAre(t *testing.T) {
	good, bad := harness.NewVNCServer(t, harness.VNCAuth), harness.NewVNCServer(t, func(w *harness.Conn) {
		harness.Offer(w, 2).Expect(2).Send("0123456789abcdef").ReadN(16)
		w.Refuse("Authentication failed for " + harness.DeskPassword) // it may say what it likes
	})
	password := "password {env.DESK_PASSWORD}"
	h := harness.StartVNC(t, harness.Setup{VNC: "register_networks 127.0.0.1/32\ncredential lab {\n" + password + "\n}\n" + good.As("one", password) + bad.As("two", password)})
	var answers bytes.Buffer
	keep := func(a harness.Answer) harness.Answer {
		_ = a.Header.Write(&answers)
		answers.Write(a.Body)
		return a
	}
	keep(h.Client.Do("PUT", workstations+"/three", "manage", `{"address":"`+good.Address()+`","credential":"lab"}`))
	var tokens []string
	for _, name := range []string{"one", "two", "three"} {
		a := h.VNC.Issue("desk", name, "")
		tokens = append(tokens, a.Token)
		w := h.VNC.TLSFirst(a.Host)
		if name == "two" {
			answers.WriteString(w.Refusal())
		} else {
			w.Accepted().Echo(1, 2)
			keep(h.Client.Get(workstations+"/"+name+"/sessions", "manage"))
		}
		w.Leave()
	}
	h.VNC.WaitClosed()
	keep(h.Client.Get(workstations, "manage"))
	keep(h.Client.Get("/api/v1/activity?limit=1000", "desk"))
	keep(h.Client.Get("/metrics", ""))
	keep(h.Client.Do("DELETE", workstations+"/two", "manage", ""))
	h.Stop()
	seen := map[string]string{"an answer": answers.String(), "the log": harness.Log.Text(), "the data": harness.DataFiles(h), "the storage": stored(h)}
	if !strings.Contains(seen["an answer"], "gatehouse_vnc_sessions_total") || !jsontest.Has(t, seen["the storage"], `{"name":"three"}`) {
		t.Error("nothing to look at")
	}
	for where, text := range seen {
		for _, canary := range append(tokens, harness.DeskPassword) {
			if i := strings.Index(text, canary); i >= 0 {
				t.Errorf("%s holds a secret: …%s…", where, text[max(0, i-200):i+20])
			}
		}
	}
}

// stored is everything below Caddy's storage that is Gatehouse's.
func stored(h *harness.Gateway) string {
	h.T.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(filepath.Join(h.Dir, "storage", "gatehouse"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		h.T.Error(err)
	}
	return all.String()
}
