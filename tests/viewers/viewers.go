//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// programs are the programs from outside, as paths or names.
type programs struct {
	xvnc, x11vnc, xvfb, openbox                               string
	tiger, gvnc, virt, remmina, ssvnc, stunnel, tight, script string
}

// viewer is one way to view the desktop.
type viewer struct {
	name    string
	vncAuth bool // whether the gateway admits viewers without TLS
	x11vnc  bool // whether it views x11vnc
	run     func(programs, context.Context, *session)
}

// viewers are all tested ways.
var viewers = []viewer{
	{name: "tigervnc", run: programs.tigerByName},
	{name: "tigervnc/x509plain", run: programs.tigerByPassword},
	{name: "tigervnc/test-card", run: programs.tigerTestCard},
	{name: "tigervnc/clipboard", run: programs.tigerClipboard},
	{name: "tigervnc/stunnel", run: programs.tigerBehindStunnel},
	{name: "tigervnc/x11vnc", x11vnc: true, run: programs.tigerAtX11vnc},
	{name: "tigervnc/held", run: programs.tigerHolds},
	{name: "tigervnc/x11vnc/held", x11vnc: true, run: programs.tigerHolds},
	{name: "ssvnc", run: programs.ssvncAlone},
	{name: "gvncviewer", run: programs.gvncviewer},
	{name: "virt-viewer", run: programs.virtViewer},
	{name: "tigervnc/desktop", run: programs.tigerByCommand},
	{name: "xtightvncviewer/desktop", run: programs.tightByCommand},
	{name: "virt-viewer/desktop", run: programs.virtByCommand},
	{name: "xtightvncviewer/refused", run: programs.tightRefused},
	{name: "remmina", run: programs.remminaProfile},
	{name: "tigervnc/vncauth", vncAuth: true, run: programs.tigerKeepsTLS},
	{name: "xtightvncviewer/vncauth", vncAuth: true, run: programs.tightByPrefix},
}

// trust writes the gateway's authority to the file that a viewer reads.
func (s *session) trust(file string) bool {
	ca, err := os.ReadFile(s.gateway.ca)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = os.WriteFile(file, ca, 0o600)
	}
	return s.Must("the authority of the gateway can be trusted", err)
}

// withDisplay is the address for viewers to which host:number is always a display; display 0 is
// port 5900.
func (s *session) withDisplay() string { return fmt.Sprintf("%s:%d", s.host(), s.gateway.port-5900) }

// withPort is the address for viewers to which host:number may be a display.
func (s *session) withPort() string { return fmt.Sprintf("%s::%d", s.host(), s.gateway.port) }
