//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

// gvncviewer, virt-viewer (both gtk-vnc) and Remmina (libvncclient) do TLS inside RFB, but send no
// host name. The person types the token as the password.

func (p programs) gvncviewer(ctx context.Context, s *session) {
	s.byPassword(ctx, func() []string { return []string{p.gvnc, s.withDisplay()} }, desktop.KeyTab, desktop.KeyTab, desktop.KeyReturn)
}

func (p programs) virtViewer(ctx context.Context, s *session) {
	s.byPassword(ctx, func() []string { return []string{p.virt, "vnc://" + s.address} }, desktop.KeyReturn)
}

// byPassword drives a viewer of gtk-vnc, which chooses the security type with a password itself.
// The keys press the form's button.
func (s *session) byPassword(ctx context.Context, command func() []string, button ...uint32) {
	home, ok := s.passwdHome()
	if !ok || !s.trust(filepath.Join(s.home, ".pki", "CA", "cacert.pem")) || !s.issue(ctx, workstation) ||
		!s.open(append(home, command()...)...) ||
		!s.Check("it asks for a user and a password", s.window(ctx, "Authentication required")) {
		return
	}
	if !s.Must("the form can be filled in", errors.Join(s.fillIn(), s.x.Press(button...))) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
	}
}

// fillIn types any user and the token.
func (s *session) fillIn() error {
	return errors.Join(s.x.Write("anybody"), s.x.Press(desktop.KeyTab), s.x.Write(s.token()))
}

// passwdHome is the environment in which getpwuid finds this screen's home folder: gtk-vnc looks
// for authorities there, not in $HOME.
func (s *session) passwdHome() (environment []string, ok bool) {
	passwd, group := filepath.Join(s.dir, "passwd"), filepath.Join(s.dir, "group")
	return []string{"LD_PRELOAD=libnss_wrapper.so", "NSS_WRAPPER_PASSWD=" + passwd, "NSS_WRAPPER_GROUP=" + group},
		s.Must("the person has a home folder", errors.Join(
			os.WriteFile(passwd, fmt.Appendf(nil, "person:x:%d:%d::%s:/bin/sh\n", os.Getuid(), os.Getgid(), s.home), 0o600),
			os.WriteFile(group, fmt.Appendf(nil, "person:x:%d:\n", os.Getgid()), 0o600)))
}

// remminaProfile opens a profile with the address and the authority. Remmina takes the first
// security type, without a password, and is refused. It then connects again by itself, and asks in
// panels of its one window.
func (p programs) remminaProfile(ctx context.Context, s *session) {
	if !s.issue(ctx, workstation) {
		return
	}
	profile := filepath.Join(s.home, "desk.remmina")
	text := "[remmina]\nname=desk\nprotocol=VNC\nserver=" + s.address + "\ncacert=" + s.gateway.ca +
		"\nquality=9\nscale=0\nviewmode=1\nwindow_width=1420\nwindow_height=860\n"
	if !s.Must("there is a profile", os.WriteFile(profile, []byte(text), 0o600)) || !s.open(p.remmina, "-c", profile) {
		return
	}
	at, err := s.panel(ctx, false)
	if !s.Check("it connects again and asks for certificate files", err) || !s.Must("OK can be clicked", s.x.Click(okButton(at))) {
		return
	}
	_, err = s.panel(ctx, true)
	if !s.Check("it asks for a user and a password", err) || !s.Must("the form can be filled in", errors.Join(s.fillIn(), s.x.Press(desktop.KeyReturn))) ||
		!s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	if s.release(ctx) {
		s.ends(ctx, releaseTimeout)
		recorded(ctx, s)
		p.tigerAfterwards(ctx, s)
	}
}

// panel waits until Remmina asks, with fields to fill in or without, and the panel has stopped
// sliding in.
func (s *session) panel(ctx context.Context, fields bool) (at image.Rectangle, err error) {
	err = s.wait(ctx, lookTimeout, func(img *image.RGBA) error {
		r, white := findPanel(img)
		moved := r != at
		at = r
		const height, width, field = 200, 400, 5000 // least sizes of a panel, white pixels of two fields
		if moved || r.Dy() < height || r.Dx() < width || (white > field) != fields {
			return fmt.Errorf("no such panel: %v, %d white pixels", r, white)
		}
		return nil
	})
	return at, err
}

// okButton is at the left of the panel's middle, near its lower edge, in GTK's own theme.
func okButton(panel image.Rectangle) image.Point {
	return image.Pt((panel.Min.X+panel.Max.X)/2-193, panel.Max.Y-60)
}

// findPanel is the largest area of the panel's background at the right edge of a window of GTK's
// own theme, and the number of white pixels on it.
func findPanel(img *image.RGBA) (panel image.Rectangle, white int) {
	paper := func(x, y int) bool { return img.RGBAAt(x, y) == color.RGBA{0xf6, 0xf5, 0xf4, 0xff} }
	const border = 4
	right := img.Rect.Min.X - 1
	for y := range img.Rect.Dy() {
		for x := img.Rect.Dx() - 1; x > right; x-- {
			if paper(x, y) {
				right = x
			}
		}
	}
	if right -= border; right < 0 {
		return image.Rectangle{}, 0
	}
	for y, top := 0, 0; y < img.Rect.Dy(); y++ {
		if !paper(right, y) {
			top = y + 1
		} else if y+1-top > panel.Dy() {
			panel = image.Rect(right, top, right+1, y+1)
		}
	}
	for paper(panel.Min.X-1, panel.Max.Y-border) {
		panel.Min.X--
	}
	for y := panel.Min.Y; y < panel.Max.Y; y++ {
		for x := panel.Min.X; x < panel.Max.X; x++ {
			if img.RGBAAt(x, y) == (color.RGBA{0xff, 0xff, 0xff, 0xff}) {
				white++
			}
		}
	}
	return panel, white
}

// virtByCommand names the port in its own way.
func (p programs) virtByCommand(ctx context.Context, s *session) {
	if openByCommand(s, p.virt+" vnc://127.0.0.1:{port}", "--https") && s.look(ctx, s.desktop.Shown) {
		s.use(ctx)
		s.release(ctx)
	}
}
