package vnc

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// Dialogues of viewers that are accepted, byte by byte. The workstation's ServerInit and the echo
// of a pointer event show that it is the desktop.

func TestVNCEveryWayOfShowingATokenOpensTheDesktop(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: both, VNC: "on_conflict share\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	veNCrypt := func(w *harness.Conn, version string, sub uint32) *harness.Conn {
		if offered := w.Greet(version, 19).VeNCrypt(sub); w.Err == nil && (len(offered) != 2 || offered[0] != 260 || offered[1] != 262) {
			w.Fail("sub-types %v", offered)
		}
		return w
	}
	for _, way := range []struct {
		name, security string
		come           func(w *harness.Conn) *harness.Conn
	}{
		{"X509None, the server name decides", "X509None", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.008\n", 260).StartTLS(a.Host).Accepted()
		}},
		{"X509None, a server name as it was typed", "X509None", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.008\n", 260).StartTLS(strings.ToUpper(a.Host)).Accepted()
		}},
		{"X509Plain, the password decides", "X509Plain", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.008\n", 262).StartTLS("").Plain("", a.Token).Accepted()
		}},
		{"X509Plain, the whole address as password", "X509Plain", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.008\n", 262).StartTLS("").Plain("anybody", a.URL).Accepted()
		}},
		{"X509Plain, the server name decides", "X509Plain", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.008\n", 262).StartTLS(a.Host).Plain("ann", "whatever").Accepted()
		}},
		{"X509Plain, a wrong server name and a right password", "X509Plain", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.008\n", 262).StartTLS("nobody."+harness.VNCDomain).Plain("", a.Token).Accepted()
		}},
		{"RFB 3.7: a result behind VeNCrypt", "X509None", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.007\n", 260).StartTLS(a.Host).Accepted()
		}},
		{"a version above 3.8", "X509None", func(w *harness.Conn) *harness.Conn {
			return veNCrypt(w, "RFB 003.889\n", 260).StartTLS(a.Host).Accepted()
		}},
		{"TLS first", "TLSFirst", func(w *harness.Conn) *harness.Conn {
			return w.StartTLS(a.Host).Expect("RFB 003.008\n").Send("RFB 003.008\n").Expect(1, 1).Send(1).Accepted()
		}},
		{"TLS first, RFB 3.7: no result", "TLSFirst", func(w *harness.Conn) *harness.Conn {
			return w.StartTLS(a.Host).Expect("RFB 003.008\n").Send("RFB 003.007\n").Expect(1, 1).Send(1).Desktop(0)
		}},
		{"TLS first, RFB 3.3: no choice, no result", "TLSFirst", func(w *harness.Conn) *harness.Conn {
			return w.StartTLS(a.Host).Expect("RFB 003.008\n").Send("RFB 003.003\n").Expect(uint32(1)).Desktop(0)
		}},
		{"TLS 1.2", "X509None", func(w *harness.Conn) *harness.Conn {
			veNCrypt(w, "RFB 003.008\n", 260)
			return w.StartTLSWith(&tls.Config{ServerName: a.Host, RootCAs: h.VNC.Roots(), MaxVersion: tls.VersionTLS12}).Accepted()
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			w := way.come(h.VNC.Dial(""))
			defer w.Leave()
			if w.Echo(3, 4).Echo(1000, 700); w.Err != nil {
				t.Fatal(w.Err)
			}
			a := h.Client.Do("GET", "/v1/workstations/one/sessions", "desk", "")
			if s := harness.At(harness.Parse(t, a.Body), "data", 0); harness.At(s, "security") != way.security || harness.At(s, "viewer") != w.LocalAddr().String() {
				t.Errorf("session %v, want security %s of %s", s, way.security, w.LocalAddr())
			}
			if err := halfClose(w); err != nil {
				t.Fatal(err)
			}
			if w.End(); w.Err != nil {
				t.Error(w.Err)
			}
			h.VNC.WaitClosed()
		})
	}
}

// halfClose ends the viewer's direction, as a viewer does that closes its window.
func halfClose(w *harness.Conn) error {
	switch conn := w.Conn.(type) {
	case *tls.Conn:
		return conn.CloseWrite()
	case *net.TCPConn:
		return conn.CloseWrite()
	}
	return nil
}

func TestVNCAuthenticationIsThereOnlyWhereItIsOn(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent, VNC: "vncauth on\non_conflict share\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	outer := func(version string) *harness.Conn {
		return h.VNC.Dial("").Expect("RFB 003.008\n").Send(version)
	}
	for name, w := range map[string]*harness.Conn{
		"VncAuth, 3.8": outer("RFB 003.008\n").Expect(2, 19, 2).Send(2).AnswerChallenge(a.Token).Accepted(),
		"VncAuth, 3.7": outer("RFB 003.007\n").Expect(2, 19, 2).Send(2).AnswerChallenge(a.Token[:8]).Accepted(),
		"VncAuth, 3.3": outer("RFB 003.003\n").Expect(uint32(2)).AnswerChallenge(a.Token).Accepted(),
		"X509Vnc": func() *harness.Conn {
			w := outer("RFB 003.008\n").Expect(2, 19, 2).Send(19)
			if offered := w.VeNCrypt(261); len(offered) != 3 || offered[0] != 260 {
				w.Fail("sub-types %v", offered)
			}
			return w.StartTLS("").AnswerChallenge(a.Token).Accepted()
		}(),
		"X509Plain, 8 characters": func() *harness.Conn {
			w := outer("RFB 003.008\n").Expect(2, 19, 2).Send(19)
			w.VeNCrypt(262)
			return w.StartTLS("").Plain("anybody", a.Token[:8]).Accepted()
		}(),
	} {
		if w.Echo(1, 2); w.Err != nil {
			t.Errorf("%s: %v", name, w.Err)
		}
		w.Leave()
	}
	w := outer("RFB 003.008\n").Expect(2, 19, 2).Send(2).AnswerChallenge("aaaaaaaa")
	if reason := w.Refusal(); w.Err != nil || !strings.Contains(reason, "not valid") {
		t.Errorf("a wrong password: %q, %v", reason, w.Err)
	}
	refusedSoon(h, "unknown", 1)

	// Off: old viewers are refused with a reason, and no list has it.
	h.Become(harness.Setup{VNCHandler: silent, VNC: d.As("one", "")})
	w = outer("RFB 003.003\n").Expect(uint32(0))
	if reason := w.Text(); w.Err != nil || !strings.Contains(reason, "too old") {
		t.Errorf("RFB 3.3: %q, %v", reason, w.Err)
	}
	if w.End(); w.Err != nil {
		t.Error(w.Err)
	}
	refusedSoon(h, "too_old", 1)
	w = outer("RFB 003.008\n").Expect(1, 19)
	if w.Leave(); w.Err != nil {
		t.Error("types without vncauth: ", w.Err)
	}
	a = h.VNC.Issue("connect", "one", "")
	w = outer("RFB 003.008\n").Expect(1, 19).Send(19)
	w.VeNCrypt(262)
	if reason := w.StartTLS("").Plain("anybody", a.Token[:8]).Refusal(); w.Err != nil || !strings.Contains(reason, "not valid") {
		t.Errorf("8 characters: %q, %v", reason, w.Err)
	}
}

// TigerVNC, TurboVNC, UltraVNC and libvncclient take the first type of the list that they know: one
// that can encrypt must find VeNCrypt before VncAuth, and inside it the type that needs no
// password.
func TestVNCNoViewerThatKnowsTLSComesInWithoutIt(t *testing.T) {
	d := harness.NewVNCServer(t, harness.NoSecurity)
	h := harness.StartVNC(t, harness.Setup{VNCHandler: silent, VNC: "vncauth on\n" + d.As("one", "")})
	a := h.VNC.Issue("connect", "one", "")
	w := h.VNC.Dial("").Expect("RFB 003.008\n").Send("RFB 003.008\n").Expect(2, 19, 2).Send(19)
	w.Expect(0, 2).Send(0, 2).Expect(0).Expect(3, uint32(260), uint32(262), uint32(261)).Send(uint32(260)).Expect(1)
	w.StartTLS(a.Host).Accepted().Echo(1, 2)
	if w.Leave(); w.Err != nil {
		t.Error(w.Err)
	}
	vncLogLine(h, `"security":"X509None"`)
}

func TestVNCTheTestCardIsADesktop(t *testing.T) {
	h := harness.StartVNC(t, harness.Setup{VNC: "workstation demo {\ntest_card\n}"})
	w := h.VNC.TLSFirst(h.VNC.Issue("connect", "demo", "").Host).Expect(uint32(0)).Send(1)
	if size := w.Expect(5, 0, 2, 0xd0).ReadN(16); w.Err == nil && size[0] != 32 {
		t.Errorf("pixel format %v", size)
	}
	if name := w.Text(); !strings.Contains(name, "demo") {
		t.Errorf("name %q", name)
	}
	// All of it, at once; a FramebufferUpdate comes.
	w.Send(3, 0, 0, 0, 0, 0, 5, 0, 2, 0xd0).Expect(0)
	mustSucceed(h, w)
	h.VNC.Release("demo")
	if w.End(); w.Err != nil {
		t.Error(w.Err)
	}
}
