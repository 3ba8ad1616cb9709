//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// ssvncAlone begins with TLS: its script starts stunnel and the viewer, and needs a terminal.
func (p programs) ssvncAlone(ctx context.Context, s *session) {
	if !s.issue(ctx, workstation) {
		return
	}
	command := fmt.Sprintf("exec %s -verify %s %s", p.ssvnc, s.gateway.ca, s.withDisplay())
	if !s.open(p.script, "-qefc", command, "/dev/null") || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	s.nothingAsked(ctx, desktop.Title)
	if s.release(ctx) {
		const timeout = 10 * time.Second // the script waits for stunnel
		s.ends(ctx, timeout)
	}
}

// xtightvncviewer supports only VNC authentication, which has 8 characters, and no TLS.

// tightRefused is without the option vncauth: the viewer is refused.
func (p programs) tightRefused(ctx context.Context, s *session) {
	if !s.issue(ctx, workstation) || !s.open(p.tight, s.withPort()) {
		return
	}
	err := process.Eventually(ctx, lookTimeout, func() error {
		if s.viewer.Running() {
			return errors.New("it runs")
		}
		return nil
	})
	s.Check("the viewer ends", err)
	s.Check("it says that it knows none of the security types", s.viewer.Says("Server did not offer supported security type"))
}

// tightByPrefix is with it: the first characters of the token are the password.
func (p programs) tightByPrefix(ctx context.Context, s *session) {
	const characters = 8
	if !s.issue(ctx, workstation) || !s.open(p.tight, s.withPort()) || !s.Check("it asks for a password", s.window(ctx, "assword")) {
		return
	}
	if !s.Must("the password can be typed", errors.Join(s.x.Write(s.token()[:characters]), s.x.Press(desktop.KeyReturn))) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
	}
}

// tightByCommand comes over a WebSocket, and is asked for a password: it is as a viewer that knows VNC
// Authentication alone.
func (p programs) tightByCommand(ctx context.Context, s *session) {
	if !openByCommand(s, p.tight, "--https", "--password") || !s.Check("it asks for a password", s.window(ctx, "assword")) {
		return
	}
	password := ""
	err := process.Eventually(ctx, lookTimeout, func() error {
		_, text, ok := strings.Cut(s.viewer.Said(), "Password, good once: ")
		if password, _, _ = strings.Cut(text, " "); !ok {
			return fmt.Errorf("the command has said %q", s.viewer.Said())
		}
		return nil
	})
	if s.Must("the password can be typed", errors.Join(err, s.x.Write(password), s.x.Press(desktop.KeyReturn))) && s.look(ctx, s.desktop.Shown) {
		finish(ctx, s)
	}
}
