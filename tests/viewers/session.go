//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

const (
	// lookTimeout is how long a person waits for a window or a desktop.
	lookTimeout = 25 * time.Second
	// inputTimeout is how long a key, a click or a change may take to be visible.
	inputTimeout = 5 * time.Second
	// releaseTimeout is how long a desktop may stay on the screen after its release: the gateway
	// has one second, the viewer the rest.
	releaseTimeout = 2 * time.Second
)

// session is one viewer at one screen, from its address to its end.
type session struct {
	*process.Result
	*screen
	dir     string
	gateway *gateway
	desktop *desktop.Desktop

	address string // <token>.<domain>:<port>
	viewer  *desktop.Program
	origin  image.Point // of the desktop on the screen
	seen    []string    // titles of all windows so far
}

// issue requests an address of a workstation.
func (s *session) issue(ctx context.Context, workstation string) bool {
	address, err := s.gateway.address(ctx, workstation)
	token, ok := strings.CutSuffix(address, fmt.Sprintf(".%s:%d", domain, s.gateway.port))
	if err == nil && (!ok || token == "" || strings.Contains(token, ".")) {
		err = fmt.Errorf("the address is %q", address)
	}
	s.address = address
	return s.Check("an address is issued, <token>."+domain+" and the port", err)
}

// token is the part of the address that authenticates.
func (s *session) token() string {
	token, _, _ := strings.Cut(s.address, ".")
	return token
}

// host is the address without its port.
func (s *session) host() string {
	host, _, _ := strings.Cut(s.address, ":")
	return host
}

// open starts the viewer, and ends the previous one. The checks that follow show whether it works.
func (s *session) open(command ...string) bool {
	s.end()
	s.seen = nil
	var err error
	s.viewer, err = s.run(filepath.Join(s.dir, "viewer.log"), command...)
	return s.Must("the viewer starts", err)
}

// end ends the viewer if there is one.
func (s *session) end() {
	if s.viewer != nil {
		s.viewer.Stop()
		s.viewer = nil
	}
}

// explain shows details of a failure: the viewer's log and, in the folder keep unless that is
// empty, a picture of the screen.
func (s *session) explain(keep string) {
	if s.viewer != nil {
		s.viewer.ShowLog(os.Stdout)
	}
	if keep == "" {
		return
	}
	img, err := s.x.Picture()
	if err == nil {
		err = writePNG(filepath.Join(keep, strings.ReplaceAll(s.Name, "/", "-")+".png"), img)
	}
	if err != nil {
		fmt.Println(err)
	}
}

// look waits until the screen shows the whole scene at its own size.
func (s *session) look(ctx context.Context, of desktop.Scene) bool {
	err := s.wait(ctx, lookTimeout, func(img *image.RGBA) (err error) {
		s.origin, err = of.Find(img)
		return err
	})
	return s.Check("the screen shows the desktop, 1280x720, each area in its colour", err)
}

// wait looks at the screen until check returns nil, and records the windows on it.
func (s *session) wait(ctx context.Context, timeout time.Duration, check func(*image.RGBA) error) error {
	return process.Eventually(ctx, timeout, func() error {
		titles, err := s.x.Windows()
		if err != nil {
			return err
		}
		for _, title := range titles {
			if !slices.Contains(s.seen, title) {
				s.seen = append(s.seen, title)
			}
		}
		img, err := s.x.Picture()
		if err != nil {
			return err
		}
		if err = check(img); err != nil {
			err = fmt.Errorf("%w; windows: %q", err, titles)
		}
		return err
	})
}

// window waits for one whose title contains part and that has the keyboard.
func (s *session) window(ctx context.Context, part string) error {
	return s.wait(ctx, lookTimeout, func(*image.RGBA) error {
		title, err := s.x.Focused()
		if err == nil && !strings.Contains(title, part) {
			err = fmt.Errorf("no window %q with the keyboard", part)
		}
		return err
	})
}

// nothingAsked checks that the desktop's window was the only one. The list of windows may come after the
// picture.
func (s *session) nothingAsked(ctx context.Context, title string) {
	err := s.wait(ctx, lookTimeout, func(*image.RGBA) error {
		if len(s.seen) == 0 {
			return errors.New("no window is listed")
		}
		return nil
	})
	if err == nil && (len(s.seen) != 1 || !strings.Contains(s.seen[0], title)) {
		err = fmt.Errorf("the windows were %q", s.seen)
	}
	s.Check("nothing is asked: the desktop's is the only window there was", err)
}

// use checks that the desktop works: changes on it are visible, and input at the screen arrives.
func (s *session) use(ctx context.Context) {
	s.Check("a change of the desktop is seen", s.change(ctx))
	s.Check("clicks arrive where they are made", s.click(ctx))
	s.Check("keys arrive in order", s.keys(ctx))
}

// changedOne and changedOther are the areas of a scene that change.
const changedOne, changedOther = 9, 22

// change gives two areas other colours for a while.
func (s *session) change(ctx context.Context) error {
	before := s.desktop.Shown
	after := changed(before)
	defer func() { _ = s.desktop.Paint(before) }() // the next viewer shows whether it worked
	if err := s.desktop.Paint(after); err != nil {
		return err
	}
	return s.wait(ctx, inputTimeout, func(img *image.RGBA) error {
		for _, i := range []int{changedOne, changedOther} {
			if err := after[i:i+1].Check(img, s.origin); err != nil {
				return err
			}
		}
		return after.Check(img, s.origin)
	})
}

// click presses the button at two points and leaves the pointer at a third.
func (s *session) click(ctx context.Context) error {
	s.desktop.Forget()
	points, rest := []image.Point{{333, 222}, {1201, 655}}, image.Pt(640, 360)
	for i, p := range points {
		if err := s.x.Click(s.origin.Add(p)); err != nil {
			return err
		}
		// A viewer may merge the motions of a moment, but no clicks.
		if err := s.arrived(ctx, points[:i+1], p); err != nil {
			return err
		}
	}
	if err := s.x.Move(s.origin.Add(rest)); err != nil {
		return err
	}
	return s.arrived(ctx, points, rest)
}

// arrived waits until the desktop has received these clicks, and its pointer is there.
func (s *session) arrived(ctx context.Context, clicks []image.Point, pointer image.Point) error {
	return process.Eventually(ctx, inputTimeout, func() error {
		if got, at := s.desktop.Clicked(); !slices.Equal(got, clicks) || at != pointer {
			return fmt.Errorf("clicks at %v and a pointer at %v arrived, not %v and %v", got, at, clicks, pointer)
		}
		return nil
	})
}

func (s *session) keys(ctx context.Context) error {
	s.desktop.Forget()
	const text = "gate house 5900"
	if err := s.x.Write(text); err != nil {
		return err
	}
	return process.Eventually(ctx, inputTimeout, func() error {
		if typed := s.desktop.Typed(); typed != text {
			return fmt.Errorf("%q arrived, %q was typed", typed, text)
		}
		return nil
	})
}
