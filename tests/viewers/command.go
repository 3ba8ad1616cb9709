//go:build linux

package main

import "context"

// openByCommand starts a viewer by `caddy gatehouse desktop`, with which it is not known that there is a
// gateway.
func openByCommand(s *session, viewer string, flags ...string) bool {
	command := []string{"GATEWAY_API_KEY=" + s.gateway.key, s.gateway.Path(), "gatehouse", "desktop", workstation, "--gateway", s.gateway.origin, "--ca", s.gateway.ca, "--viewer", viewer}
	return s.open(append(command, flags...)...)
}

// finish uses the desktop until its release, which ends the viewer and the command.
func finish(ctx context.Context, s *session) {
	s.use(ctx)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
	}
}
