//go:build linux

package browser

import (
	"fmt"
	"image"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

func TestTheDesktopOfAServerInTheBrowser(t *testing.T) {
	s, d := siteWithDesktop(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.openDesktop(stationPath)
		b.shows("the desktop", d.Shown, lookTimeout)
		b.check()

		before := d.Shown
		t.Cleanup(func() { _ = d.Paint(before) })
		changed := slices.Clone(before)
		changed[9].Colour.R, changed[22].Colour.G = 0xff, 0
		if err := d.Paint(changed); err != nil {
			t.Fatal(err)
		}
		b.shows("a change of the desktop", changed, inputTimeout)

		d.Forget()
		points := []image.Point{{333, 222}, {1201, 655}}
		for i, p := range points {
			x, y := b.at(p)
			clickAt(b, x, y)
			b.arrives(func() error {
				if clicks, _ := d.Clicked(); !slices.Equal(clicks, points[:i+1]) {
					return fmt.Errorf("clicks at %v arrived, not %v", clicks, points[:i+1])
				}
				return nil
			})
		}

		d.Forget()
		// Without a space: the debugging protocol sends its character though the page has taken the key, and
		// the page then scrolls for a while, under the next click.
		const text = "gate-house/5900"
		enter(b, text)
		b.arrives(func() error {
			if typed := d.Typed(); typed != text {
				return fmt.Errorf("%q arrived, %q was typed", typed, text)
			}
			return nil
		})

		d.Forget()
		b.press("keys")
		const control, alt, del = "<0xffe3>", "<0xffe9>", "<0xffff>"
		b.arrives(func() error {
			if typed := d.Typed(); typed != control+alt+del {
				return fmt.Errorf("%q arrived for Ctrl+Alt+Del", typed)
			}
			return nil
		})
	})
}

func TestTheTestCardInTheBrowser(t *testing.T) {
	inEachBrowser(t, sharedSite(t), func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.openDesktop(demoPath)
		b.shows("the test card", desktop.TestCard(), lookTimeout)
		b.press("end")
		b.says("You have ended the session", inputTimeout)
		b.choose("Connect again")
		b.says("Connected", lookTimeout)
		b.shows("the test card", desktop.TestCard(), lookTimeout)
	})
}

func TestAReleaseClosesTheDesktopAtOnce(t *testing.T) {
	s, d := siteWithDesktop(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.openDesktop(stationPath)
		b.shows("the desktop", d.Shown, lookTimeout)
		s.call(t, http.MethodDelete, "/v1/workstations/"+station, nil, nil)
		b.says("Released", endTimeout)
		if n := evaluate[int](b, `document.querySelectorAll(".choices button").length`); n != 0 {
			t.Errorf("%d things can be done at a released desktop", n)
		}
		b.open(stationPath)
		if text := b.text("main"); !strings.Contains(text, "This workstation is released") {
			t.Errorf("the page of a released workstation says %q", text)
		}
		b.open("/console/workstations")
		if status := clickThrough(b, `form[action$="/`+station+`/restore"] button`); status != http.StatusOK || !strings.Contains(b.text(".notice"), "in service again") {
			t.Errorf("put in service: status %d, %q", status, b.text(".notice"))
		}
	})
}

func TestADesktopSurvivesAReload(t *testing.T) {
	s, d := siteWithDesktop(t)
	b := newTab(t, s)
	b.signIn("ops")
	b.openDesktop(stationPath)
	b.shows("the desktop", d.Shown, lookTimeout)
	s.reload(t, strings.Replace(s.file, "grace_period 3s", "grace_period 4s", 1))
	d.Forget()
	x, y := b.at(image.Pt(640, 360))
	run(b, chromedp.MouseClickXY(x, y))
	b.arrives(func() error {
		if clicks, _ := d.Clicked(); len(clicks) != 1 {
			return fmt.Errorf("clicks at %v arrived after the reload", clicks)
		}
		return nil
	})
	changed := slices.Clone(d.Shown)
	changed[3].Colour.B = 0xff
	if err := d.Paint(changed); err != nil {
		t.Fatal(err)
	}
	b.shows("a change after the reload", changed, inputTimeout)
}

func TestAnOccupiedDesktopNamesItsHolder(t *testing.T) {
	s, d := siteWithDesktop(t)
	holder, other := newTab(t, s), newTab(t, s)
	holder.signIn("desks")
	holder.openDesktop(stationPath)
	other.signIn("ops")
	other.expect("409")
	other.open(stationPath)
	other.eventually("the holder's name", `document.querySelector(".state").textContent.includes('key "desks"')`, inputTimeout)
	other.choose("Take over")
	other.says("Connected", lookTimeout)
	other.shows("the desktop", d.Shown, lookTimeout)
	holder.says("Taken over", endTimeout)
	holder.choose("Connect again")
	holder.expect("409")
	holder.eventually("the new holder's name", `document.querySelector(".state").textContent.includes('key "ops"')`, inputTimeout)
	if text := holder.text(".choices"); strings.Contains(text, "Take over") {
		t.Errorf("a key that may only connect can do %q", text)
	}
}

func TestASharedDesktopCanBeJoined(t *testing.T) {
	s, d := siteWithDesktop(t)
	holder, guest := newTab(t, s), newTab(t, s)
	holder.signIn("ops")
	holder.openDesktop(stationPath)
	holder.press("end")
	holder.press("shared")
	holder.choose("Connect again")
	holder.says("Connected", lookTimeout)
	guest.signIn("desks")
	guest.expect("409")
	guest.open(stationPath)
	guest.choose("Join, view only")
	guest.says("Connected, view only", lookTimeout)
	guest.shows("the desktop", d.Shown, lookTimeout)
	d.Forget()
	run(guest, chromedp.KeyEvent("g"))
	run(holder, chromedp.Focus(chromedp.CSS("#desktop canvas")))
	run(holder, chromedp.KeyEvent("h"))
	holder.arrives(func() error {
		if typed := d.Typed(); typed != "h" {
			return fmt.Errorf("%q arrived, want only the holder's h", typed)
		}
		return nil
	})
}

// All keys but one go to the desktop, so that one must lead out of it.
func TestAKeyLeavesTheDesktop(t *testing.T) {
	s, d := siteWithDesktop(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.openDesktop(stationPath)
		focused := func() string {
			return evaluate[string](b, `document.activeElement.dataset.control ?? document.activeElement.localName`)
		}
		evaluate[any](b, `document.querySelector("#desktop canvas").focus()`)
		d.Forget()
		enter(b, kb.Tab)
		b.arrives(func() error {
			if typed := d.Typed(); typed != "<0xff09>" {
				return fmt.Errorf("%q arrived for Tab", typed)
			}
			return nil
		})
		if at := focused(); at != "canvas" {
			t.Errorf("after Tab the focus is at %s", at)
		}
		enter(b, kb.F8)
		if at := focused(); at != "full-screen" {
			t.Errorf("after F8 the focus is at %s", at)
		}
		d.Forget()
		evaluate[any](b, `document.querySelector("#desktop canvas").focus()`)
		if err := b.driver.enter(kb.F8, true); err != nil {
			t.Fatal(err)
		}
		b.arrives(func() error {
			if typed := d.Typed(); !strings.Contains(typed, "<0xffc5>") {
				return fmt.Errorf("%q arrived for Shift and F8", typed)
			}
			return nil
		})
	})
}

func TestViewOnlySendsNothing(t *testing.T) {
	s, d := siteWithDesktop(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.openDesktop(stationPath)
		d.Forget()
		for _, key := range []string{"a", "b"} {
			b.press("view-only")
			evaluate[any](b, `document.querySelector("#desktop canvas").focus()`)
			enter(b, key)
		}
		b.arrives(func() error {
			if typed := d.Typed(); typed != "b" {
				return fmt.Errorf("%q arrived, want only what was typed after view only", typed)
			}
			return nil
		})
	})
}
