package l4vnc

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
	"github.com/gatehouse-proxy/gatehouse/internal/testcard"
	"github.com/gatehouse-proxy/gatehouse/internal/vncrelay"
)

// The viewer is shown what is wrong with a workstation, and the operator finds a code and a cause.
func TestAWorkstationThatCannotBeOpenedIsReported(t *testing.T) {
	const password, nonsense = "hunter2", "The workstation did not answer as a VNC server. Tell your administrator."
	trust := &tls.Config{RootCAs: roots(), ServerName: "desk." + domain}
	challenge := "S 0123456789abcdef"
	response, _ := rfb.RespondVNC([16]byte([]byte(challenge[2:])), password)
	vncAuth := conversation{greets, says38, "S \x01\x02", "C \x02", challenge, "C " + string(response[:])}
	for name, c := range map[string]struct {
		target     desktop.Target
		desktop    conversation
		code, text string
	}{
		"a wrong password": {desktop.Target{Password: password}, append(vncAuth[:6:6], refusal("Authentication failed")),
			"workstation_password", "The workstation refused the gateway's password. Tell your administrator."},
		"a blacklisting one": {desktop.Target{}, conversation{"S RFB 003.003\n", says33, "S \x00\x00\x00\x00" + counted("Too many security failures")},
			"workstation_blacklisted", "The workstation refuses connections for a while. Try again in a minute."},
		"a refusing one": {desktop.Target{}, conversation{greets, says38, "S \x00" + counted("Closed today")},
			"workstation_refused", "The workstation refused the connection. Tell your administrator."},
		"nothing in common": {desktop.Target{}, conversation{greets, says38, "S \x02\x10\x1e"},
			"workstation_security", "The workstation offers no security type that the gateway may use. Tell your administrator."},
		"no TLS": {desktop.Target{TLS: trust}, conversation{greets, says38, "S \x02\x01\x02"},
			"workstation_security", "The workstation offers no security type that the gateway may use. Tell your administrator."},
		"a foreign certificate": {desktop.Target{TLS: &tls.Config{ServerName: "other.test", RootCAs: roots()}},
			conversation{greets, says38, "S \x01\x13", "C \x13", "S \x00\x02", "C \x00\x02", "S \x00\x01\x00\x00\x01\x04", "C \x00\x00\x01\x04", "S \x01", "T "},
			"workstation_certificate", "The workstation did not show the expected certificate. Tell your administrator."},
		"a silent one":   {desktop.Target{}, conversation{"W 1h"}, "workstation_timeout", "The workstation did not answer in time. Try again later."},
		"a stalling one": {desktop.Target{}, append(desktopNone[:4:4], "W 1h"), "workstation_timeout", "The workstation did not answer in time. Try again later."},
		"an SSH server":  {desktop.Target{}, conversation{"S SSH-2.0-OpenSSH_9.2\r\n"}, "workstation_failed", nonsense},
		"no pixels": {desktop.Target{}, join(desktopNone, conversation{"C \x01", "S " + strings.Repeat("\x00", 24)}),
			"workstation_failed", nonsense},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGateway(t, options{Target: c.target, Desktop: c.desktop})
				begun := time.Now()
				g.converse(append(tlsFirst(g.Issue(desktop.Options{})+"."+domain), refusal(c.text)))
				if r := g.WantRecord(c.code, ""); r.Status != 502 || g.Marks().Dials != 1 {
					t.Errorf("status %d, %d dials", r.Status, g.Marks().Dials)
				}
				if took, step := time.Since(begun), 10*time.Second; c.code == "workstation_timeout" && took != step {
					t.Errorf("it took %v", took)
				}
				if c.code == "workstation_timeout" {
					time.Sleep(time.Hour) // the workstation's end
				}
			})
		})
	}
}

// The built-in desktop is for trying out: where others can reach it, the operator is warned.
func TestTheTestCardIsADesktop(t *testing.T) {
	for local, warnings := range map[string]int{"127.0.0.1:5900": 0, "192.0.2.100:5900": 1} {
		synctest.Test(t, func(t *testing.T) {
			g := newGateway(t, options{Target: desktop.Target{TestCard: testcard.Serve}})
			g.handler.settings.dial = vncrelay.DialWorkstation
			socket, viewer := net.Pipe()
			done := g.handle(wrapped(connection{socket, tcpAddr(local), tcpAddr(viewerAddress)}))
			join(tlsFirst(g.Issue(desktop.Options{})+"."+domain), conversation{accepted, "C \x00", "S \x05\x00\x02\xd0", "X "}).PlayToEnd(t, viewer)
			<-done
			g.WantRecord("", "viewer_left")
			if g.Marks().Demos != warnings {
				t.Errorf("%s: %d warnings", local, g.Marks().Demos)
			}
		})
	}
}
