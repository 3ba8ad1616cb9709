//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os/exec"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// markedText is what the desktop copies, and a viewer may not have.
const markedText = "marked: what the desktop has copied"

// tigerClipboard views a desktop that keeps its clipboard, in each encoding: the gateway follows the
// server's stream there. Without the rule the text arrives, so that its absence says something.
func (p programs) tigerClipboard(ctx context.Context, s *session) {
	if !s.trustTiger() || !issueWith(ctx, s, `{"session":{"clipboard_out":"off"}}`) {
		return
	}
	for _, encoding := range []string{"Tight", "ZRLE", "hextile", "Raw"} {
		if !s.open(p.tiger, "-AutoSelect=0", "-PreferredEncoding", encoding, s.address) || !s.look(ctx, s.desktop.Shown) {
			return
		}
		s.use(ctx)
		text, err := copied(ctx, s, "")
		if err == nil && text != "" {
			err = fmt.Errorf("it has %q", text)
		}
		s.Check("in "+encoding+" the clipboard of the desktop does not come", err)
	}
	if !issueWith(ctx, s, `{"take_over":true}`) || !s.open(p.tiger, s.address) || !s.look(ctx, s.desktop.Shown) {
		return
	}
	s.use(ctx)
	_, err := copied(ctx, s, markedText)
	s.Check("without the rule it comes", err)
}

// issueWith requests an address by a body.
func issueWith(ctx context.Context, s *session, body string) bool {
	var issued struct {
		Address string `json:"vnc_url"`
	}
	err := s.gateway.call(ctx, http.MethodPost, "/v1/workstations/"+workstation+"/vnc", body, http.StatusOK, &issued)
	s.address = issued.Address
	return s.Must("an address is issued", err)
}

// copied copies the marked text on the desktop, and returns what the viewer's screen has of it: once it
// is want, or once a later change of the desktop is seen.
func copied(ctx context.Context, s *session, want string) (text string, err error) {
	cmd := exec.CommandContext(ctx, "xclip", "-display", ":"+s.desktop.Number, "-selection", "clipboard", "-i")
	cmd.Stdin = strings.NewReader(markedText)
	if err := cmd.Run(); err != nil {
		return "", err
	}
	if want == "" {
		if err := s.change(ctx); err != nil {
			return "", err
		}
		return clipboard(ctx, s), s.click(ctx)
	}
	return text, process.Eventually(ctx, inputTimeout, func() error {
		if text = clipboard(ctx, s); text != want {
			return fmt.Errorf("the viewer's clipboard has %q", text)
		}
		return nil
	})
}

// clipboard is that of the viewer's screen, "" while nothing has it.
func clipboard(ctx context.Context, s *session) string {
	out, err := exec.CommandContext(ctx, "xclip", "-display", ":"+s.Number, "-selection", "clipboard", "-o").Output()
	var none *exec.ExitError
	if errors.As(err, &none) {
		return ""
	}
	return string(out)
}
