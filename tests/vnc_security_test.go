package tests

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
)

// Dialogues of viewers that are accepted, byte by byte. The workstation's ServerInit and the echo
// of a pointer event show that it is the desktop.

func TestVNCEveryWayOfShowingATokenOpensTheDesktop(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: both, vnc: "on_conflict share\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	veNCrypt := func(w *wire, version string, sub uint32) *wire {
		if offered := w.greeted(version, 19).veNCrypt(sub); w.err == nil && (len(offered) != 2 || offered[0] != 260 || offered[1] != 262) {
			w.fail("sub-types %v", offered)
		}
		return w
	}
	for _, way := range []struct {
		name, security string
		come           func(w *wire) *wire
	}{
		{"X509None, the server name decides", "X509None", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.008\n", 260).startTLS(a.host).accepted()
		}},
		{"X509None, a server name as it was typed", "X509None", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.008\n", 260).startTLS(strings.ToUpper(a.host)).accepted()
		}},
		{"X509Plain, the password decides", "X509Plain", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.008\n", 262).startTLS("").plain("", a.token).accepted()
		}},
		{"X509Plain, the whole address as password", "X509Plain", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.008\n", 262).startTLS("").plain("anybody", a.url).accepted()
		}},
		{"X509Plain, the server name decides", "X509Plain", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.008\n", 262).startTLS(a.host).plain("ann", "whatever").accepted()
		}},
		{"X509Plain, a wrong server name and a right password", "X509Plain", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.008\n", 262).startTLS("nobody."+vncDomain).plain("", a.token).accepted()
		}},
		{"RFB 3.7: a result behind VeNCrypt", "X509None", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.007\n", 260).startTLS(a.host).accepted()
		}},
		{"a version above 3.8", "X509None", func(w *wire) *wire {
			return veNCrypt(w, "RFB 003.889\n", 260).startTLS(a.host).accepted()
		}},
		{"TLS first", "TLSFirst", func(w *wire) *wire {
			return w.startTLS(a.host).hear("RFB 003.008\n").say("RFB 003.008\n").hear(1, 1).say(1).accepted()
		}},
		{"TLS first, RFB 3.7: no result", "TLSFirst", func(w *wire) *wire {
			return w.startTLS(a.host).hear("RFB 003.008\n").say("RFB 003.007\n").hear(1, 1).say(1).desktop(0)
		}},
		{"TLS first, RFB 3.3: no choice, no result", "TLSFirst", func(w *wire) *wire {
			return w.startTLS(a.host).hear("RFB 003.008\n").say("RFB 003.003\n").hear(uint32(1)).desktop(0)
		}},
		{"TLS 1.2", "X509None", func(w *wire) *wire {
			veNCrypt(w, "RFB 003.008\n", 260)
			return w.startTLSWith(&tls.Config{ServerName: a.host, RootCAs: h.roots(), MaxVersion: tls.VersionTLS12}).accepted()
		}},
	} {
		t.Run(way.name, func(t *testing.T) {
			w := way.come(h.dialVNC(""))
			defer w.leave()
			if w.echo(3, 4).echo(1000, 700); w.err != nil {
				t.Fatal(w.err)
			}
			a := h.do("GET", "/v1/workstations/one/sessions", "desk", "")
			if s := at(parse(t, a.body), "data", 0); at(s, "security") != way.security || at(s, "viewer") != w.LocalAddr().String() {
				t.Errorf("session %v, want security %s of %s", s, way.security, w.LocalAddr())
			}
			if err := w.halfClose(); err != nil {
				t.Fatal(err)
			}
			if w.over(); w.err != nil {
				t.Error(w.err)
			}
			h.vncClosed()
		})
	}
}

// halfClose ends the viewer's direction, as a viewer does that closes its window.
func (w *wire) halfClose() error {
	switch conn := w.Conn.(type) {
	case *tls.Conn:
		return conn.CloseWrite()
	case *net.TCPConn:
		return conn.CloseWrite()
	}
	return nil
}

func TestVNCAuthenticationIsThereOnlyWhereItIsOn(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: silent, vnc: "vncauth on\non_conflict share\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	outer := func(version string) *wire {
		return h.dialVNC("").hear("RFB 003.008\n").say(version)
	}
	for name, w := range map[string]*wire{
		"VncAuth, 3.8": outer("RFB 003.008\n").hear(2, 19, 2).say(2).answerChallenge(a.token).accepted(),
		"VncAuth, 3.7": outer("RFB 003.007\n").hear(2, 19, 2).say(2).answerChallenge(a.token[:8]).accepted(),
		"VncAuth, 3.3": outer("RFB 003.003\n").hear(uint32(2)).answerChallenge(a.token).accepted(),
		"X509Vnc": func() *wire {
			w := outer("RFB 003.008\n").hear(2, 19, 2).say(19)
			if offered := w.veNCrypt(261); len(offered) != 3 || offered[0] != 260 {
				w.fail("sub-types %v", offered)
			}
			return w.startTLS("").answerChallenge(a.token).accepted()
		}(),
		"X509Plain, 8 characters": func() *wire {
			w := outer("RFB 003.008\n").hear(2, 19, 2).say(19)
			w.veNCrypt(262)
			return w.startTLS("").plain("anybody", a.token[:8]).accepted()
		}(),
	} {
		if w.echo(1, 2); w.err != nil {
			t.Errorf("%s: %v", name, w.err)
		}
		w.leave()
	}
	w := outer("RFB 003.008\n").hear(2, 19, 2).say(2).answerChallenge("aaaaaaaa")
	if reason := w.refusal(); w.err != nil || !strings.Contains(reason, "not valid") {
		t.Errorf("a wrong password: %q, %v", reason, w.err)
	}
	h.refusedSoon("unknown", 1)

	// Off: old viewers are refused with a reason, and no list has it.
	h.become(setup{vncHandler: silent, vnc: d.as("one", "")})
	w = outer("RFB 003.003\n").hear(uint32(0))
	if reason := w.text(); w.err != nil || !strings.Contains(reason, "too old") {
		t.Errorf("RFB 3.3: %q, %v", reason, w.err)
	}
	if w.over(); w.err != nil {
		t.Error(w.err)
	}
	h.refusedSoon("too_old", 1)
	w = outer("RFB 003.008\n").hear(1, 19)
	if w.leave(); w.err != nil {
		t.Error("types without vncauth: ", w.err)
	}
	a = h.issue("connect", "one", "")
	w = outer("RFB 003.008\n").hear(1, 19).say(19)
	w.veNCrypt(262)
	if reason := w.startTLS("").plain("anybody", a.token[:8]).refusal(); w.err != nil || !strings.Contains(reason, "not valid") {
		t.Errorf("8 characters: %q, %v", reason, w.err)
	}
}

// TigerVNC, TurboVNC, UltraVNC and libvncclient take the first type of the list that they know: one
// that can encrypt must find VeNCrypt before VncAuth, and inside it the type that needs no
// password.
func TestVNCNoViewerThatKnowsTLSComesInWithoutIt(t *testing.T) {
	d := newVNCServer(t, asNone)
	h := startVNC(t, setup{vncHandler: silent, vnc: "vncauth on\n" + d.as("one", "")})
	a := h.issue("connect", "one", "")
	w := h.dialVNC("").hear("RFB 003.008\n").say("RFB 003.008\n").hear(2, 19, 2).say(19)
	w.hear(0, 2).say(0, 2).hear(0).hear(3, uint32(260), uint32(262), uint32(261)).say(uint32(260)).hear(1)
	w.startTLS(a.host).accepted().echo(1, 2)
	if w.leave(); w.err != nil {
		t.Error(w.err)
	}
	h.vncLogLine(`"security":"X509None"`)
}

func TestVNCTheTestCardIsADesktop(t *testing.T) {
	h := startVNC(t, setup{vnc: "workstation demo {\ntest_card\n}"})
	w := h.tlsFirst(h.issue("connect", "demo", "").host).hear(uint32(0)).say(1)
	if size := w.hear(5, 0, 2, 0xd0).take(16); w.err == nil && size[0] != 32 {
		t.Errorf("pixel format %v", size)
	}
	if name := w.text(); !strings.Contains(name, "demo") {
		t.Errorf("name %q", name)
	}
	// All of it, at once; a FramebufferUpdate comes.
	w.say(3, 0, 0, 0, 0, 0, 5, 0, 2, 0xd0).hear(0)
	h.good(w)
	h.release("demo")
	if w.over(); w.err != nil {
		t.Error(w.err)
	}
}
