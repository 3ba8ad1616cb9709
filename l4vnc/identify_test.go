package l4vnc

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// offeredWithVNCAuth is the choice of VeNCrypt where VncAuth is on.
var offeredWithVNCAuth = conversation{greets, says38, "S \x02\x13\x02", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x03\x00\x00\x01\x04\x00\x00\x01\x06\x00\x00\x01\x05"}

// Each way of showing a token opens the desktop, byte by byte.
func TestEveryWayOfShowingATokenOpensTheDesktop(t *testing.T) {
	offered := conversation{greets, says38, "S \x02\x13\x01", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x02\x00\x00\x01\x00\x00\x00\x01\x06"}
	for name, way := range map[string]struct {
		security string
		vncAuth  bool
		come     func(token, host string) conversation // up to the result
	}{
		"X509None, by server name": {"X509None", false, func(_, host string) conversation { return veNCrypt(subX509None, host) }},
		"X509None, a server name in capitals": {"X509None", false, func(_, host string) conversation {
			return veNCrypt(subX509None, strings.ToUpper(host[:26])+host[26:])
		}},
		"X509Plain, by password": {"X509Plain", false, func(token, _ string) conversation {
			return append(veNCrypt(subX509Plain, ""), plain(token))
		}},
		"X509Plain, the whole address as password": {"X509Plain", false, func(_, host string) conversation {
			return append(veNCrypt(subX509Plain, ""), plain(" "+host+":5900"))
		}},
		"X509Plain, by server name": {"X509Plain", false, func(_, host string) conversation {
			return append(veNCrypt(subX509Plain, host), plain("anything"))
		}},
		"X509Plain, a wrong server name and a right password": {"X509Plain", false, func(token, _ string) conversation {
			return append(veNCrypt(subX509Plain, "nobody."+domain), plain(token))
		}},
		"X509None where VncAuth is on": {"X509None", true, func(_, host string) conversation {
			return join(offeredWithVNCAuth, conversation{"C \x00\x00\x01\x04", "S \x01", "T " + host})
		}},
		"X509Plain, 8 characters": {"X509Plain", true, func(token, _ string) conversation {
			return join(offeredWithVNCAuth, conversation{"C \x00\x00\x01\x06", "S \x01", "T ", plain(strings.ToUpper(token[:8]))})
		}},
		"TLS first, by server name": {"TLSFirst", false, func(_, host string) conversation { return tlsFirst(host) }},
		"TLS first, Plain": {"TLSFirstPlain", false, func(token, _ string) conversation {
			return join(conversation{"T "}, offered, conversation{"C \x00\x00\x01\x00" + plain(token)[2:]})
		}},
		"TLS first, another TLS inside": {"TLSFirstX509Plain", false, func(token, _ string) conversation {
			return join(conversation{"T other.test"}, offered, conversation{"C \x00\x00\x01\x06", "S \x01", "T ", plain(token)})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, options{Policy: desktop.Policy{VNCAuth: way.vncAuth}})
				token := g.Issue(desktop.Options{})
				viewer, done := g.connect()
				last, err := join(way.come(token, token+"."+domain), opened).Play(viewer, 'C')
				if err != nil {
					t.Fatal(err)
				}
				sessions, err := g.Service.Sessions("default", "one")
				if err != nil || len(sessions) != 1 || sessions[0].Security != way.security || sessions[0].Viewer != netip.MustParseAddrPort(viewerAddress) {
					t.Errorf("sessions %+v, %v; want security %s", sessions, err, way.security)
				}
				_ = last.Close()
				<-done
				g.WantRecord("", "viewer_left")
				g.WantRefused()
			})
		})
	}
}

// The challenge is random, so these are not written out as conversations.
func TestVNCAuthenticationOpensTheDesktop(t *testing.T) {
	for name, open := range map[string]conversation{
		"3.8": {greets, says38, "S \x02\x13\x02", "C \x02"},
		"3.7": {greets, says37, "S \x02\x13\x02", "C \x02"},
		"3.3": {greets, says33, "S \x00\x00\x00\x02"},
		"X509Vnc": {greets, says38, "S \x02\x13\x02", "C \x13", "S \x00\x02", "C \x00\x02",
			"S \x00\x03\x00\x00\x01\x04\x00\x00\x01\x06\x00\x00\x01\x05", "C \x00\x00\x01\x05", "S \x01", "T "},
		"TLS first": {"T ", greets, says38, "S \x03\x13\x02\x01", "C \x02"},
	} {
		for _, right := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, options{Policy: desktop.Policy{VNCAuth: true}})
				password := g.Issue(desktop.Options{})
				if !right {
					password = "11111111" // no token has this character
				}
				viewer, done := g.connect()
				conn, err := open.Play(viewer, 'C')
				var challenge [16]byte
				if err == nil {
					_, err = conn.Read(challenge[:])
				}
				response, _ := rfb.RespondVNC(challenge, password)
				end := opened
				if !right {
					end = conversation{refusal("This VNC address is not valid. Ask for a new one.")}
					if name == "3.7" || name == "3.3" {
						end = conversation{"S \x00\x00\x00\x01"} // a reason came with 3.8
					}
				}
				if err == nil {
					_, err = append(conversation{"C " + string(response[:])}, end...).Play(conn, 'C')
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				_ = viewer.Close()
				<-done
				if right {
					g.WantRecord("", "viewer_left")
				} else {
					g.WantRefused("unknown")
				}
			})
		}
	}
}

// libvncclient takes X509None, sends no server name, and reconnects: then it finds a type with a
// password first.
func TestAViewerWithoutServerNameIsAskedForAPasswordNextTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{})
		token := g.Issue(desktop.Options{})
		g.converse(append(veNCrypt(subX509None, ""), refusal(desktop.NewRefusal(desktop.RefusedNoServerName).Text)))
		again := veNCrypt(subX509Plain, "")
		again[6] = "S \x00\x02\x00\x00\x01\x06\x00\x00\x01\x04"
		g.converse(join(again, conversation{plain(token)}, opened, conversation{"X "}))
		g.WantRecord("", "viewer_left")
		// Once: the next viewer may send a name.
		g.converse(append(veNCrypt(subX509None, "nobody."+domain), refusal("This VNC address is not valid. Ask for a new one.")))
		g.WantRefused("no_server_name", "unknown")
	})
}

// After 30 wrong short passwords in a minute, a network has one try every two seconds, and beyond
// ten seconds of waiting none.
func TestShortPasswordsWaitAfterManyWrongOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t, options{Policy: desktop.Policy{VNCAuth: true}})
		g.handler.settings.tlsFirstWait = -1
		token := g.Issue(desktop.Options{})
		try := func(password string) (took time.Duration, answer uint32) {
			viewer, done := g.connect()
			_, err := (conversation{greets, says33, "S \x00\x00\x00\x02"}).Play(viewer, 'C')
			var challenge [16]byte
			if err == nil {
				_, err = viewer.Read(challenge[:])
			}
			response, _ := rfb.RespondVNC(challenge, password)
			begun := time.Now()
			result := make([]byte, 4)
			if err == nil {
				_, err = viewer.Write(response[:])
			}
			if err == nil {
				_, err = viewer.Read(result)
			}
			if err != nil {
				t.Fatal(err)
			}
			took = time.Since(begun)
			_ = viewer.Close()
			<-done
			return took, binary.BigEndian.Uint32(result)
		}
		for range 30 {
			if took, answer := try("11111111"); took != 0 || answer != 1 {
				t.Fatalf("a wrong password: %d after %v", answer, took)
			}
		}
		try("11111111")
		if took, answer := try(token[:8]); took != 2*time.Second || answer != 0 {
			t.Errorf("a right password: %d after %v", answer, took)
		}
		begun := time.Now()
		g.converse(join(offeredWithVNCAuth, conversation{"C \x00\x00\x01\x06", "S \x01", "T ", plain(token)}, opened, conversation{"X "}))
		if took := time.Since(begun); took != 0 {
			t.Errorf("a whole token waited for %v", took)
		}
		waiting := make(chan time.Duration, 8)
		for range 8 {
			go func() { took, _ := try("11111111"); waiting <- took }()
		}
		longest := time.Duration(0)
		for range 8 {
			longest = max(longest, <-waiting)
		}
		refused := strings.Join(g.Marks().Refused, " ")
		if n := strings.Count(refused, "too_many_failures"); longest != 10*time.Second || n != 3 {
			t.Errorf("the longest wait was %v, and %d found no turn", longest, n)
		}
	})
}
