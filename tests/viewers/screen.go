//go:build linux

package main

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// A screen is larger than the desktop, so that a viewer shows it at its own size, with its frame
// and its bars.
const screenSize = "1600x1000x24"

// screen is the environment of one viewer: an X server, a window manager and an empty home folder.
type screen struct {
	*desktop.Display
	x       *desktop.Screen
	manager *desktop.Program
	home    string
	env     []string
}

func startScreen(ctx context.Context, dir, xvfb, openbox string) (*screen, error) {
	s := &screen{home: filepath.Join(dir, "home")}
	if err := os.Mkdir(s.home, 0o700); err != nil {
		return nil, err
	}
	var err error
	if s.Display, err = desktop.StartDisplay(dir, xvfb, "-screen", "0", screenSize); err != nil {
		return nil, err
	}
	s.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "DISPLAY=:" + s.Number, "LANG=C.UTF-8", "TMPDIR=" + dir,
		"XDG_RUNTIME_DIR=" + dir, "DBUS_SESSION_BUS_ADDRESS=disabled:", "NO_AT_BRIDGE=1", "GSETTINGS_BACKEND=memory",
	}
	if err := s.prepare(ctx, dir, openbox); err != nil {
		s.stop()
		return nil, fmt.Errorf("preparing a screen: %w", err)
	}
	return s, nil
}

// prepare returns when the window manager is ready: a window that a viewer shows before has no
// frame and gets no keys.
func (s *screen) prepare(ctx context.Context, dir, openbox string) (err error) {
	if s.x, err = desktop.OpenScreen(s.Number); err != nil {
		return err
	}
	if s.manager, err = s.run(filepath.Join(dir, "openbox.log"), openbox, "--sm-disable"); err != nil {
		return err
	}
	const timeout = 10 * time.Second
	return process.Eventually(ctx, timeout, func() error {
		name, err := s.x.Property(s.x.Root, "_NET_SUPPORTING_WM_CHECK")
		if err == nil && len(name) == 0 {
			err = fmt.Errorf("no window manager")
		}
		return err
	})
}

// run starts a program as the person at this screen. NAME=VALUE before the program adds to its
// environment.
func (s *screen) run(log string, command ...string) (*desktop.Program, error) {
	env := s.env
	for strings.Contains(command[0], "=") {
		env, command = append(env[:len(env):len(env)], command[0]), command[1:]
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir, cmd.Env = s.home, env
	return desktop.StartProgram(cmd, log)
}

func (s *screen) stop() {
	if s.manager != nil {
		s.manager.Stop()
	}
	if s.x != nil {
		s.x.Close()
	}
	s.Display.Stop()
}

func writePNG(file string, img image.Image) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := png.Encode(f, img); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
