//go:build linux

package main

import (
	"context"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// TigerVNC does TLS inside RFB and sends the host name there. It ends silently when its connection
// is closed, and asks whether to reconnect when it is interrupted.

// tigerByName starts it as a person does, with the address and nothing else.
func (p programs) tigerByName(ctx context.Context, s *session) {
	before := s.desktop.Said()
	if !s.trustTiger() || !s.issue(ctx, workstation) || !s.open(p.tiger, s.address) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	s.nothingAsked(ctx, desktop.Title)
	s.refused(ctx, "a name that is no token", p.tiger, s.nobody(), "This VNC address is not valid. Ask for a new one.")
	another, err := s.gateway.address(ctx, workstation)
	if !s.Must("another address is issued", err) {
		return
	}
	s.refused(ctx, "a second viewer", p.tiger, another, "Another viewer is connected.")
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
		s.Check("the desktop came in the encoding Tight with JPEG", process.Eventually(ctx, inputTimeout, func() error {
			if now := s.desktop.Said(); !strings.Contains(now[len(before):], "Tight (JPEG):") {
				return fmt.Errorf("the VNC server has not said so: %q", now[len(before):])
			}
			return nil
		}))
		s.refused(ctx, "a released address", p.tiger, s.address, "This workstation was released.")
		recorded(ctx, s)
	}
}

// tigerByPassword uses a host name without a token, like viewers that send none, and the token as
// the password.
func (p programs) tigerByPassword(ctx context.Context, s *session) {
	if !s.trustTiger() || !s.issue(ctx, workstation) ||
		!s.open("VNC_USERNAME=anybody", "VNC_PASSWORD="+s.token(), p.tiger, "-SecurityTypes", "X509Plain", s.nobody()) ||
		!s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	s.nothingAsked(ctx, desktop.Title)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
	}
}

// keyControl is the left one, as X11 names keys.
const keyControl = 0xffe3

// tigerHolds holds a key and a button down while the viewer is gone from one moment to the next, as
// after a crash. Neither may stay down on the desktop: the next person's w would close a window.
func (p programs) tigerHolds(ctx context.Context, s *session) {
	if !s.trustTiger() || !s.issue(ctx, s.desktop.Name) || !s.open(p.tiger, s.address) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	held := func(want string) error {
		return process.Eventually(ctx, inputTimeout, func() error {
			now, err := s.desktop.Held()
			if err == nil && now != want {
				err = fmt.Errorf("the desktop has %q down, not %q", now, want)
			}
			return err
		})
	}
	err := s.x.Hold(keyControl, s.origin.Add(image.Pt(640, 360)))
	if err == nil {
		err = held("keys [0xffe3], buttons 0b1")
	}
	if !s.Must("a key and a button are down on the desktop", err) {
		return
	}
	if !s.Must("the viewer is killed", syscall.Kill(s.viewer.PID(), syscall.SIGKILL)) {
		return
	}
	s.Check("both are up when the viewer is gone", held(""))
}

// tigerAtX11vnc views a desktop of the other server.
func (p programs) tigerAtX11vnc(ctx context.Context, s *session) {
	if !s.trustTiger() || !s.issue(ctx, x11vncWorkstation) || !s.open(p.tiger, s.address) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	s.nothingAsked(ctx, desktop.Title)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
	}
}

// tigerKeepsTLS takes the first security type of the server's list that it knows: the option
// vncauth must not make it connect without TLS.
func (p programs) tigerKeepsTLS(ctx context.Context, s *session) {
	before := s.gateway.Said()
	if !s.trustTiger() || !s.issue(ctx, workstation) || !s.open(p.tiger, s.address) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.nothingAsked(ctx, desktop.Title)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
		s.Check("its session was inside TLS", process.Eventually(ctx, inputTimeout, func() error {
			if now := s.gateway.Said(); !strings.Contains(now[len(before):], `"security":"X509None"`) {
				return fmt.Errorf("the gateway has not said so: %q", now[len(before):])
			}
			return nil
		}))
	}
}

// tigerAfterwards connects from an address from which another viewer has sent no host name before.
// Nothing is asked, because that viewer's second attempt has used up the gateway's memory of it.
func (p programs) tigerAfterwards(ctx context.Context, s *session) {
	if !s.Must("the workstation is there again", s.gateway.restore(ctx, workstation)) || !s.trustTiger() || !s.issue(ctx, workstation) ||
		!s.open(p.tiger, s.address) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.nothingAsked(ctx, desktop.Title)
}

// nobody is an address below the domain whose name is not a token.
func (s *session) nobody() string { return fmt.Sprintf("nobody.%s:%d", domain, s.gateway.port) }

func (s *session) trustTiger() bool { return s.trust(filepath.Join(s.home, ".vnc", "x509_ca.pem")) }

// refused opens an address while the screen shows something else, and checks that the viewer
// shows why it gets no desktop.
func (s *session) refused(ctx context.Context, which, tiger, address, reason string) {
	second, err := s.run(filepath.Join(s.dir, "refused.log"), tiger, address)
	if !s.Must("a second viewer starts", err) {
		return
	}
	defer second.Stop()
	if err = s.window(ctx, "TigerVNC Viewer"); err == nil {
		err = second.Says("Authentication failure: " + reason)
	}
	s.Check(which+" gets no desktop, but the reason", err)
}

// Where the built-in desktop shows its input, and where something moves.
var (
	cardPointer = image.Rect(36, 578, 1244, 602)
	cardKey     = image.Rect(36, 608, 1244, 632)
	cardRoad    = image.Rect(0, 640, 1280, 720)
)

// tigerTestCard views the built-in desktop, which has no VNC server.
func (p programs) tigerTestCard(ctx context.Context, s *session) {
	if !s.trustTiger() || !s.issue(ctx, testCard) || !s.open(p.tiger, s.address) || !s.look(ctx, desktop.TestCard()) {
		return
	}
	for _, part := range []struct {
		what  string
		where image.Rectangle
		do    func() error
	}{
		{"something moves on the test card", cardRoad, func() error { return nil }},
		{"the test card shows where the pointer is", cardPointer, func() error { return s.x.Move(s.origin.Add(image.Pt(700, 300))) }},
		{"the test card shows the last key", cardKey, func() error { return s.x.Write("g") }},
	} {
		before, err := s.x.Picture()
		if err == nil {
			err = part.do()
		}
		if err == nil {
			err = s.wait(ctx, inputTimeout, func(now *image.RGBA) error {
				if desktop.Same(before, now, part.where.Add(s.origin)) {
					return fmt.Errorf("nothing changes in %v", part.where)
				}
				return nil
			})
		}
		s.Check(part.what, err)
	}
	s.nothingAsked(ctx, "")
}

// tigerBehindStunnel begins with TLS, which stunnel does; the viewer does not notice it.
func (p programs) tigerBehindStunnel(ctx context.Context, s *session) {
	if !s.issue(ctx, workstation) {
		return
	}
	ports, err := process.FreePorts(1)
	if !s.Must("there is a port for stunnel", err) {
		return
	}
	near, file := fmt.Sprintf("127.0.0.1:%d", ports[0]), filepath.Join(s.dir, "stunnel.conf")
	text := strings.Join([]string{
		"foreground = yes", "pid =", "[workstation]", "client = yes", "accept = " + near, "connect = " + s.address,
		"sni = " + s.host(), "verifyChain = yes", "checkHost = " + s.host(), "CAfile = " + s.gateway.ca, "",
	}, "\n")
	if !s.Must("stunnel has a configuration", os.WriteFile(file, []byte(text), 0o600)) {
		return
	}
	stunnel, err := s.run(filepath.Join(s.dir, "stunnel.log"), p.stunnel, file)
	if !s.Must("stunnel starts", err) {
		return
	}
	defer stunnel.Stop()
	const timeout = 10 * time.Second
	if !s.Must("stunnel listens", process.Eventually(ctx, timeout, func() error { return stunnel.Says("Configuration successful") })) {
		return
	}
	if !s.open(p.tiger, fmt.Sprintf("127.0.0.1::%d", ports[0])) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	s.nothingAsked(ctx, desktop.Title)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
	}
}

// tigerByCommand comes over TLS at port 5900.
func (p programs) tigerByCommand(ctx context.Context, s *session) {
	if openByCommand(s, p.tiger) && s.look(ctx, s.desktop.Shown) {
		s.nothingAsked(ctx, desktop.Title)
		finish(ctx, s)
	}
}
