//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// swayConfig is a desktop without a screen: one window fills it. The compositor draws the pointer into
// the picture, and hides it a moment after it has moved.
const swayConfig = `xwayland force
output HEADLESS-1 resolution 1280x720 position 0 0
default_border none
seat * hide_cursor 100
exec echo display=$DISPLAY wayland=$WAYLAND_DISPLAY
`

// wayvncConfig has a keyboard whose keys all exist for X programs: with the usual one, the dollar is typed
// by a key with a number above 255.
const wayvncConfig = "xkb_rules=base\nxkb_layout=us\n"

// asNobody starts a program in a namespace where root is user 65534: the compositor refuses to be root's,
// and Xwayland lets in no user but its own, who is still the suite's.
var asNobody = []string{"unshare", "--user", "--map-user=65534", "--map-group=65534"}

var swayReady = regexp.MustCompile(`display=:(\d+) wayland=(wayland-\d+)`)

// wayvncServer is wayvnc at a headless compositor, where X programs run in Xwayland.
func (p programs) wayvncServer(ctx context.Context, dir string) (*server, error) {
	s := &server{name: "wayvnc", paste: "ascii"}
	home := filepath.Join(dir, "wayland")
	config, keyboard := filepath.Join(home, "sway.conf"), filepath.Join(home, "wayvnc.conf")
	err := errors.Join(os.Mkdir(home, 0o700), os.WriteFile(config, []byte(swayConfig), 0o600), os.WriteFile(keyboard, []byte(wayvncConfig), 0o600))
	if err != nil {
		return nil, err
	}
	as := []string{"env"}
	if os.Getuid() == 0 {
		as = asNobody
	}
	command := func(env string, program ...string) *exec.Cmd {
		all := append(as[:len(as):len(as)], program...)
		cmd := exec.Command(all[0], all[1:]...)
		cmd.Dir = home
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "LIBSEAT_BACKEND=noop",
			"WLR_BACKENDS=headless", "WLR_LIBINPUT_NO_DEVICES=1", "WLR_RENDERER=pixman", env,
		}
		return cmd
	}
	sway, err := desktop.StartProgram(command("", p.sway, "-c", config), filepath.Join(dir, "sway.log"))
	if err != nil {
		return nil, err
	}
	s.started = append(s.started, sway)
	var ready []string
	err = s.wait(ctx, func() error {
		if ready = swayReady.FindStringSubmatch(sway.Said()); ready == nil {
			return fmt.Errorf("sway is not ready: %s", sway.Said())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = s.run(ctx, dir, func(port int) *exec.Cmd {
		return command("WAYLAND_DISPLAY="+ready[2], p.wayvnc, "-C", keyboard, "127.0.0.1", fmt.Sprint(port))
	})
	if err != nil {
		return nil, err
	}
	if err := s.showForm(ready[1]); err != nil {
		return nil, fmt.Errorf("%w: %s", err, strings.TrimSpace(sway.Said()))
	}
	return s, nil
}
