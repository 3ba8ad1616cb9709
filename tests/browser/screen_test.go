//go:build linux

package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gatehouse-proxy/gatehouse/tests/desktop"
)

func TestADesktopFillsTheScreen(t *testing.T) {
	inEachBrowser(t, sharedSite(t), func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.openDesktop(demoPath)
		const pressed = `document.querySelector('[data-control="full-screen"]').ariaPressed`
		b.press("full-screen")
		b.eventually("the desktop fills the screen", `document.fullscreenElement?.id === "desktop" && `+pressed+` === "true"`, inputTimeout)
		b.shows("the test card on the whole screen", desktop.TestCard(), lookTimeout)
		b.press("full-screen")
		b.eventually("the desktop is a part of the page again", `document.fullscreenElement === null && `+pressed+` === "false"`, inputTimeout)
		b.says("Connected", inputTimeout)
	})
}

func TestASecondTabTakesTheDesktopOver(t *testing.T) {
	s, d := siteWithDesktop(t)
	first := newTab(t, s)
	first.signIn("ops")
	first.openDesktop(stationPath)
	first.shows("the desktop", d.Shown, lookTimeout)
	second := first.sibling()
	second.expect("409")
	second.look(1400, "light")
	second.open(stationPath)
	second.eventually("who has it", `document.querySelector(".state").textContent.includes('key "ops"')`, inputTimeout)
	first.says("Connected", inputTimeout)
	const takeOver = ".choices button:first-child"
	if name := second.text(takeOver); name != "Take over" {
		t.Fatalf("the first choice is %q of %q", name, second.text(".choices"))
	}
	run(second, chromedp.Click(chromedp.CSS(takeOver)))
	second.says("Connected", lookTimeout)
	first.says("Taken over", endTimeout)
	if text := first.text(".state"); !strings.Contains(text, `A viewer with the key "ops" took the workstation.`) {
		t.Errorf("the first tab says %q", text)
	}
	evaluate[any](second, `document.querySelector('[data-control="scale"]').click()`)
	second.shows("the desktop", d.Shown, lookTimeout)
}
