//go:build linux

package main

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// release releases the workstation, and checks that its desktop disappears from the screen.
func (s *session) release(ctx context.Context) bool {
	began := time.Now()
	if !s.Check("the workstation is released", s.gateway.release(ctx, s.desktop.Name)) {
		return false
	}
	err := s.wait(ctx, releaseTimeout-time.Since(began), func(img *image.RGBA) error {
		if s.desktop.Shown.Check(img, s.origin) == nil {
			return fmt.Errorf("the desktop is still on the screen")
		}
		return nil
	})
	return s.Check(fmt.Sprintf("the desktop leaves the screen within %v", releaseTimeout), err)
}

// ends checks that the viewer ends by itself, like one whose connection was closed and not
// interrupted: with exit code 0 and no question.
func (s *session) ends(ctx context.Context, timeout time.Duration) {
	err := process.Eventually(ctx, timeout, func() error {
		if !s.viewer.Running() {
			return nil
		}
		titles, _ := s.x.Windows()
		return fmt.Errorf("it runs; windows: %q", titles)
	})
	if err == nil {
		if code := s.viewer.State().ExitCode(); code != 0 {
			err = fmt.Errorf("the exit code is %d", code)
		}
	}
	s.Check("the viewer ends by itself, with exit code 0", err)
}
