package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// Charts say their figures by the keyboard and by a tap, within the page.
func TestChartsSayTheirFiguresWithoutAMouse(t *testing.T) {
	s := demoSite(t)
	inEachBrowser(t, s, func(t *testing.T, b *tab) {
		b.signIn("ops")
		b.look(360, "light")
		b.open("/console/usage?range=24h&metric=requests")
		const tip = `(document.querySelector(".tip")?.textContent ?? "")`
		const steps = `document.querySelectorAll(".hits rect")`
		title := func(step string) string {
			t.Helper()
			return evaluate[string](b, `[...`+steps+`].at(`+step+`).querySelector("title").textContent`)
		}
		shows := func(what, text string) {
			t.Helper()
			b.eventually(what+" shows "+quote(text), tip+` === `+quote(text), pageTimeout)
		}
		tabTo(b, ".chart")
		for _, key := range []struct{ key, step string }{{kb.ArrowLeft, "-1"}, {kb.ArrowLeft, "-2"}, {kb.ArrowRight, "-1"}, {kb.Home, "0"}, {kb.ArrowLeft, "0"}, {kb.End, "-1"}} {
			enter(b, key.key)
			want := title(key.step)
			if !strings.Contains(want, "UTC\n") {
				t.Errorf("a step says %q", want)
			}
			shows("a key", want)
			b.fits("a tooltip")
		}
		enter(b, kb.Escape)
		shows("Escape", "")
		const tap = `(` + steps + `[3].dispatchEvent(new MouseEvent("click", {bubbles: true})), ` + tip + `)`
		if got := evaluate[string](b, tap); got != title("3") {
			t.Errorf("a tap shows %q", got)
		}
		b.keep("a tooltip")
		if got := evaluate[string](b, tap); got != "" {
			t.Errorf("a second tap leaves %q", got)
		}
		enter(b, kb.ArrowRight)
		enter(b, kb.Tab)
		shows("a chart without the focus", "")
		b.check()
	})
}
