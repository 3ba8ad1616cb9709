//go:build linux

package browser

import (
	"image"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// A page that is left open is signed out though it reads itself again, and a desktop is not while
// somebody uses it.
func TestLongIdleSessions(t *testing.T) {
	const (
		idle  = time.Minute
		every = 10 * time.Second // between two clicks at the desktop
		late  = 15 * time.Second // a page looks every 5 s, a gateway every second
	)
	s := ownSite(t, "")
	s.reload(t, s.change(t, "\tgatehouse_console\n", "\tgatehouse_console {\n\t\tsession_idle 1m\n\t}\n"))
	page, used := newLongTab(t, s, longTimeout), newLongTab(t, s, longTimeout)
	used.signIn("ops")
	used.openDesktop(demoPath)
	page.signIn("ops")
	page.open("/console/sessions")
	if text := page.text("main"); !strings.Contains(text, "demo") {
		t.Fatalf("the live page says %q", text)
	}
	began := time.Now()
	var out time.Duration
	for time.Since(began) < 2*idle {
		x, y := used.at(image.Pt(100, 100))
		run(used, chromedp.MouseClickXY(x, y))
		<-time.After(every)
		if at := run(page, chromedp.Location()); out == 0 && strings.HasPrefix(at, s.url("/console/sign-in")) {
			out = time.Since(began)
		}
	}
	if out < idle-every || out > idle+late {
		t.Errorf("the live page is signed out after %v", out)
	}
	if text := page.text("main"); !strings.Contains(text, "Your session has ended.") {
		t.Errorf("the sign-in says %q", text)
	}
	used.says("Connected", inputTimeout)
	left := time.Now()
	used.says("Signed out", idle+late)
	t.Logf("signed out: the live page after %v, the desktop %v after its last click", out.Round(time.Second), (every + time.Since(left)).Round(time.Second))

	run(page, chromedp.SendKeys(chromedp.CSS("input[name=key]"), s.secrets["ops"]))
	if status := page.follow(click("form.fields button.main")); status != http.StatusOK || run(page, chromedp.Location()) != s.url("/console/sessions") {
		t.Errorf("after the sign-in: status %d, at %s", status, run(page, chromedp.Location()))
	}
	used.choose("Sign in")
	used.eventually("the sign-in", `location.pathname === "/console/sign-in" && document.querySelector("input[name=return]").value === `+quote(demoPath), pageTimeout)
}
