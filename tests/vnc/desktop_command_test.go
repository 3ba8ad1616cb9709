package vnc

import (
	"bufio"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// helper is `caddy gatehouse desktop`, as another process.
type helper struct {
	t        *testing.T
	cmd      *exec.Cmd
	password string
	address  string
	stdout   *bufio.Reader
	failure  strings.Builder
}

// root is the file of the local CA.
func root(h *harness.Gateway) string {
	return filepath.Join(h.Dir, "storage", "pki", "authorities", "local", "root.crt")
}

// desktopCommand starts the command with key connect. It returns once a viewer may connect.
func desktopCommand(h *harness.Gateway, args ...string) *helper {
	h.T.Helper()
	c := newDesktopCommand(h, args...)
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	h.T.Cleanup(func() { _ = c.cmd.Process.Kill() })
	c.stdout = bufio.NewReader(stdout)
	for c.address == "" {
		line, err := c.stdout.ReadString('\n')
		if err != nil {
			h.T.Fatalf("it does not listen: %v %s", c.cmd.Wait(), c.failure.String())
		}
		what, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if strings.HasPrefix(what, "Password") {
			c.password = text
		} else {
			c.address = strings.Replace(text, "::", ":", 1)
		}
	}
	return c
}

func newDesktopCommand(h *harness.Gateway, args ...string) *helper {
	h.T.Helper()
	self, err := os.Executable()
	if err != nil {
		h.T.Fatal(err)
	}
	c := &helper{t: h.T, cmd: exec.CommandContext(h.T.Context(), self)}
	c.cmd.Args = append([]string{"caddy", "gatehouse", "desktop"}, args...)
	c.cmd.Env = append(os.Environ(), "GATEWAY_API_KEY="+harness.Secret("connect"))
	c.cmd.Stderr = &c.failure
	return c
}

// connect is a viewer on this machine.
func (c *helper) connect() *harness.Conn {
	c.t.Helper()
	conn, err := net.Dial("tcp", c.address)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = conn.Close() })
	return &harness.Conn{Conn: conn}
}

// ended waits for the command's end and returns what it has said.
func (c *helper) ended() (string, error) {
	err := c.cmd.Wait()
	return c.failure.String(), err
}

// Viewers that know no TLS, no server name and no more than an old version come by the command, at port
// 5900 and over HTTPS alone.
func TestVNCAnyViewerComesByTheCommand(t *testing.T) {
	desk := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Secure: true, VNC: desk.As("one", "")})
	plain := []string{"one", "--gateway", h.Client.Origin, "--ca", root(h)}
	secure := []string{"one", "--gateway", h.Client.Secure, "--https", "--ca", root(h)}
	none := func(w *harness.Conn, _ string) { w.Greet("RFB 003.008\n", 1).Expect(uint32(0)) }
	password := func(w *harness.Conn, text string) {
		w.Greet("RFB 003.008\n", 2).AnswerChallenge(text).Expect(uint32(0))
	}
	for name, c := range map[string]struct {
		args   []string
		viewer func(w *harness.Conn, password string)
		row    string // security
	}{
		"port 5900":           {plain, none, "TLSFirst"},
		"HTTPS":               {secure, none, "socket"},
		"a password":          {append(plain, "--password"), password, "TLSFirst"},
		"a password by HTTPS": {append(secure, "--password"), password, "socket"},
		"RFB 3.3":             {plain, func(w *harness.Conn, _ string) { w.Expect("RFB 003.008\n").Send("RFB 003.003\n").Expect(uint32(1)) }, "TLSFirst"},
		"RFB 3.7":             {secure, func(w *harness.Conn, _ string) { w.Greet("RFB 003.007\n", 1) }, "socket"},
		"RFB 3.3, a password": {append(secure, "--password"), func(w *harness.Conn, text string) {
			w.Expect("RFB 003.008\n").Send("RFB 003.003\n").Expect(uint32(2)).AnswerChallenge(text).Expect(uint32(0))
		}, "socket"},
	} {
		c0 := desktopCommand(h, c.args...)
		w := c0.connect()
		c.viewer(w, c0.password)
		if w.Desktop(0).Echo(3, 4); w.Err != nil {
			t.Errorf("%s: %v", name, w.Err)
		}
		if _, err := net.Dial("tcp", c0.address); err == nil {
			t.Errorf("%s: it listens for another viewer", name)
		}
		w.Leave()
		if text, err := c0.ended(); err != nil {
			t.Errorf("%s: %v: %s", name, err, text)
		}
		h.VNC.WaitClosed()
		if got := harness.At(vncRecord(h, "one"), "ended"); got != "viewer_left" {
			t.Errorf("%s: ended %v", name, got)
		}
		if n := h.Records.Metric(`gatehouse_vnc_sessions_total{ended="viewer_left",security="` + c.row + `"}`); n == 0 {
			t.Errorf("%s: no session with security %s is counted", name, c.row)
		}
	}
}

// The person hears why there is no desktop, in the viewer and from the command.
func TestVNCTheCommandSaysWhyThereIsNoDesktop(t *testing.T) {
	desk := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{Secure: true, VNC: desk.As("one", "")})
	secure := []string{"--gateway", h.Client.Secure, "--https", "--ca", root(h)}

	for _, args := range [][]string{{"one", "--gateway", h.Client.Origin, "--ca", root(h)}, append([]string{"one"}, secure...)} {
		c := desktopCommand(h, args...)
		h.VNC.Release("one")
		w := c.connect().Greet("RFB 003.008\n", 1)
		if reason := w.Refusal(); w.Err != nil || !strings.Contains(reason, "was released") {
			t.Errorf("%v: the viewer shows %q, %v", args, reason, w.Err)
		}
		if text, err := c.ended(); err == nil || !strings.Contains(text, "was released") {
			t.Errorf("%v: %v: %s", args, err, text)
		}
		restoreWorkstation(h, "one")
	}

	c := desktopCommand(h, append([]string{"one"}, secure...)...)
	w := c.connect().Greet("RFB 003.008\n", 1).Accepted()
	h.VNC.Release("one")
	w.End()
	said, _ := io.ReadAll(c.stdout)
	if text, err := c.ended(); w.Err != nil || err != nil || string(said) != "The key \"desk\" released the workstation.\n" {
		t.Errorf("an open desktop: %v, %v: %s%s", w.Err, err, said, text)
	}
	restoreWorkstation(h, "one")

	c = desktopCommand(h, append([]string{"one", "--password"}, secure...)...)
	w = c.connect().Greet("RFB 003.008\n", 2).AnswerChallenge("wrong")
	if reason := w.Refusal(); w.Err != nil || reason != "The password is wrong." {
		t.Errorf("a wrong password: %q, %v", reason, w.Err)
	}
	if text, err := c.ended(); err == nil || !strings.Contains(text, "password is wrong") {
		t.Errorf("a wrong password: %v: %s", err, text)
	}

	for want, args := range map[string][]string{
		`there is no workstation "two"`:  append([]string{"two"}, secure...),
		"name the CA with --ca: that of": {"one", "--gateway", h.Client.Secure},
		"not on the loopback interface":  append([]string{"one", "--listen", "0.0.0.0:0"}, secure...),
		"would be sent the key in clear": {"one", "--gateway", "http://gateway.example.com"},
		"executable file not found":      append([]string{"one", "--viewer", "no-such-viewer"}, secure...),
		"the viewer has ended":           append([]string{"one", "--viewer", "true {port}"}, secure...),
	} {
		c := newDesktopCommand(h, args...)
		if err := c.cmd.Run(); err == nil || !strings.Contains(c.failure.String(), want) {
			t.Errorf("%v: %v: %q, want %q", args, err, c.failure.String(), want)
		}
	}
}
