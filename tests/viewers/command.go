//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// openByCommand starts a viewer by `caddy gatehouse desktop`, with which it is not known that there is a
// gateway.
func (p programs) openByCommand(s *session, viewer string, flags ...string) bool {
	command := []string{"GATEWAY_API_KEY=" + s.gateway.key, s.gateway.Path(), "gatehouse", "desktop", workstation, "--gateway", s.gateway.origin, "--ca", s.gateway.ca, "--viewer", viewer}
	return s.open(append(command, flags...)...)
}

// finish uses the desktop until its release, which ends the viewer and the command.
func (p programs) finish(ctx context.Context, s *session) {
	s.use(ctx)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
	}
}

// tigerByCommand comes over TLS at port 5900.
func (p programs) tigerByCommand(ctx context.Context, s *session) {
	if p.openByCommand(s, p.tiger) && s.look(ctx, s.desktop.Shown) {
		s.nothingAsked(desktop.Title)
		p.finish(ctx, s)
	}
}

// tightByCommand comes over a WebSocket, and is asked for a password: it is as a viewer that knows VNC
// Authentication alone.
func (p programs) tightByCommand(ctx context.Context, s *session) {
	if !p.openByCommand(s, p.tight, "--https", "--password") || !s.Check("it asks for a password", s.window(ctx, "assword")) {
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
		p.finish(ctx, s)
	}
}

// virtByCommand names the port in its own way.
func (p programs) virtByCommand(ctx context.Context, s *session) {
	if p.openByCommand(s, p.virt+" vnc://127.0.0.1:{port}", "--https") && s.look(ctx, s.desktop.Shown) {
		s.use(ctx)
		s.release(ctx)
	}
}
