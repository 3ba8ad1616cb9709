//go:build linux

package main

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// release gives the workstation back, and checks that its desktop leaves the
// screen.
func (s *session) release(ctx context.Context) bool {
	began := time.Now()
	if !s.Check("the workstation is released", s.gateway.release(ctx, s.desktop.name)) {
		return false
	}
	err := s.wait(ctx, releasePatience-time.Since(began), func(img *image.RGBA) error {
		if s.desktop.shown.check(img, s.origin) == nil {
			return fmt.Errorf("the desktop is still on the screen")
		}
		return nil
	})
	return s.Check(fmt.Sprintf("the desktop leaves the screen within %v", releasePatience), err)
}

// ends checks that the viewer ends by itself, as one whose connection was closed,
// not cut: with exit code 0 and no question.
func (s *session) ends(ctx context.Context, patience time.Duration) {
	err := process.Eventually(ctx, patience, func() error {
		if !s.viewer.Running() {
			return nil
		}
		titles, _ := s.x.windows()
		return fmt.Errorf("it runs; windows: %q", titles)
	})
	if err == nil {
		if code := s.viewer.State().ExitCode(); code != 0 {
			err = fmt.Errorf("the exit code is %d", code)
		}
	}
	s.Check("the viewer ends by itself, with exit code 0", err)
}
