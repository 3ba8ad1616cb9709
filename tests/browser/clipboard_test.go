//go:build linux

package browser

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

func TestTheClipboardGoesBothWays(t *testing.T) {
	s, d := siteWithDesktop(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.openDesktop(stationPath)
		b.shows("the desktop", d.Shown, lookTimeout)
		const there, back = "what the browser says: äöü", "what the desktop says"
		clickOn(b, "#clipboard")
		enter(b, there)
		b.arrives(func() error {
			got, err := clipboardOf(t, d, "-o", "")
			if err == nil && got != there {
				err = fmt.Errorf("the desktop's clipboard has %q", got)
			}
			return err
		})
		if _, err := clipboardOf(t, d, "-i", back); err != nil {
			t.Fatal(err)
		}
		b.eventually("the desktop's clipboard", `document.getElementById("clipboard").value === `+quote(back), inputTimeout)
	})
}

// The rule is the workstation's. The picture and the input go on as before: noVNC takes Tight.
func TestTheClipboardOfADesktopThatKeepsItStaysThere(t *testing.T) {
	s, d := siteWithDesktop(t, "session {\nclipboard_out off\n}")
	b := newTab(t, s)
	b.signIn("ops")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, lookTimeout)
	const there, back = "what the browser says", "marked: what the desktop says"
	if _, err := clipboardOf(t, d, "-i", back); err != nil {
		t.Fatal(err)
	}
	after := slices.Clone(d.Shown)
	after[9].Colour.R = 0xff
	defer func(before desktop.Scene) { _ = d.Paint(before) }(d.Shown)
	if err := d.Paint(after); err != nil {
		t.Fatal(err)
	}
	b.shows("a change behind the clipboard", after, inputTimeout)
	if got := evaluate[string](b, `document.getElementById("clipboard").value`); got != "" {
		t.Errorf("the page has the clipboard %q", got)
	}
	run(b, chromedp.SendKeys(chromedp.CSS("#clipboard"), there))
	b.arrives(func() error {
		got, err := clipboardOf(t, d, "-o", "")
		if err == nil && got != there {
			err = fmt.Errorf("the desktop's clipboard has %q", got)
		}
		return err
	})
}

// clipboardOf sets or reads the clipboard of a desktop.
func clipboardOf(t *testing.T, d *desktop.Desktop, direction, text string) (string, error) {
	cmd := exec.CommandContext(t.Context(), "xclip", "-display", ":"+d.Number, "-selection", "clipboard", direction)
	cmd.Stdin = strings.NewReader(text)
	if direction == "-i" {
		return "", cmd.Run() // it stays in the background, and must not keep a pipe open
	}
	out, err := cmd.Output()
	return string(out), err
}
