package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"
)

// atFocus is where the focus is, and whether that can be seen.
const atFocus = `(() => {
	const e = document.activeElement, style = getComputedStyle(e);
	return {Number: [...document.querySelectorAll("*")].indexOf(e), Element: e.outerHTML.slice(0, 120),
		Visible: e === document.body || style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0};
})()`

// focus is what atFocus finds.
type focus struct {
	Number  int // among all elements
	Visible bool
	Element string
}

// tabTo presses Tab until an element has the focus, which must be visible at each step.
func tabTo(b *tab, selector string) {
	b.t.Helper()
	const most = 60 // stops of a page
	for range most {
		enter(b, kb.Tab)
		if at := evaluate[focus](b, atFocus); !at.Visible {
			b.t.Errorf("the focus cannot be seen at %s", at.Element)
		}
		if evaluate[bool](b, `document.activeElement.matches(`+quote(selector)+`)`) {
			return
		}
	}
	b.t.Fatalf("Tab does not lead to %s", selector)
}

// Somebody without a pointer signs in, opens a page by the menu, asks a model, reads the answer and opens
// its call.
func TestTheKeyboardAloneIsEnough(t *testing.T) {
	const soon = 10 * time.Second
	s := demoSite(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		// press presses a key that leads to another page.
		press := func(key, path string) {
			t.Helper()
			if status := leave(b, func() { enter(b, key) }); status != http.StatusOK || !strings.HasPrefix(where(b), path) {
				t.Fatalf("status %d, at %s, not %s", status, where(b), path)
			}
		}
		b.open("/console/")
		b.eventually("the field of the key has the focus", `document.activeElement.name === "key"`, soon)
		press(s.secrets["ops"]+kb.Enter, "/console/")
		tabTo(b, `nav.menu a[href="/console/try"]`)
		press(kb.Enter, "/console/try")

		tabTo(b, ".skip")
		enter(b, kb.Enter)
		b.eventually("the skip link leads to the page", `document.activeElement.id === "main"`, soon)
		tabTo(b, "[name=model]") // which selects its text
		enter(b, "test/echo")
		tabTo(b, "[name=text]")
		enter(b, "by keys, ")
		asked := evaluate[string](b, `document.querySelector("[name=text]").value`)
		tabTo(b, "form[data-try] button.main")
		enter(b, kb.Enter)
		b.eventually("the answer", `document.querySelector("#answers .said")?.textContent === `+quote("You said: "+asked), soon)
		if !strings.Contains(asked, "by keys, ") {
			t.Errorf("the message is %q", asked)
		}
		b.eventually("its call", `document.querySelector("#answers .note a")`, soon)
		tabTo(b, "#answers .note a")
		press(kb.Enter, "/console/activity/")
		b.check()
	})
}

// Each page can be used with the keyboard alone: Tab reaches everything, shows where it is, and leads
// out again.
func TestPagesWorkWithTheKeyboard(t *testing.T) {
	b := newTab(t, demoSite(t))
	b.signIn("ops")
	b.look(1280, "light")
	b.crawl(func(path string) {
		if path == demoPath {
			return // takes the focus: TestAKeyLeavesTheDesktop
		}
		want := evaluate[int](b, `[...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
				.filter(e => !e.disabled && e.type !== "hidden" && e.checkVisibility()).length`)
		reached := map[int]bool{}
		for range want + 5 {
			enter(b, kb.Tab)
			at := evaluate[focus](b, atFocus)
			if reached[at.Number] {
				break // around
			}
			reached[at.Number] = true
			if !at.Visible {
				t.Errorf("%s: the focus cannot be seen at %s", path, at.Element)
			}
		}
		if len(reached) < want { // boxes of one name are one stop, the body is another
			t.Errorf("%s: Tab reaches %d places of %d", path, len(reached), want)
		}
	})
}
