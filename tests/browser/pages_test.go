package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
)

// Every page that links lead to works in every look, without a fault of any kind.
func TestEveryPage(t *testing.T) {
	const timeout = 5 * time.Minute
	inEachBrowserFor(t, demoSite(t), timeout, func(t *testing.T, b *tab) {
		b.everyLook("/console/sign-in")
		b.signIn("ops")
		paths := b.crawl(func(path string) { b.inEveryLook(path) })
		b.everyLook("/console/keys/ops") // of the Caddyfile; the crawl opens one that was made at run time
		b.everyLook("/console/runs/" + demoRun)
		t.Logf("%d pages: %v", len(paths), paths)
		if len(paths) < 2 {
			t.Errorf("links lead to %d pages only", len(paths))
		}
	})
}

// Charts of every time fit, in the zone of the browser too.
func TestChartsOfEveryTime(t *testing.T) {
	b := newLongTab(t, demoSite(t), 2*time.Minute)
	call(b, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Kolkata"})
	b.signIn("ops")
	for _, zone := range []string{"UTC", "local"} {
		for _, path := range []string{"usage", "latency", "refusals", "activity"} {
			for _, span := range []string{"1h", "24h", "7d", "30d"} {
				b.open("/console/" + path + "?metric=requests&range=" + span)
				if charts := evaluate[int](b, `document.querySelectorAll(".chart .times").length`); charts == 0 {
					t.Errorf("%s of %s has no chart", path, span)
				}
				if covers := b.text("main"); path != "activity" && strings.Contains(covers, "GMT+5:30, by ") != (zone == "local") {
					t.Errorf("%s of %s in %s says %q", path, span, zone, covers)
				}
				for _, width := range []int64{360, 1280} {
					where := fmt.Sprintf("%s %s %s %d", path, span, zone, width)
					b.look(width, "light")
					b.fits(where)
					b.keep(where)
				}
			}
		}
		evaluate[bool](b, `(document.getElementById("times").click(), true)`)
	}
}

// everyLook opens a page and looks at it.
func (b *tab) everyLook(path string) {
	b.t.Helper()
	if status := b.open(path); status != 200 {
		b.t.Errorf("%s: status %d", path, status)
	}
	b.inEveryLook(path)
}

// inEveryLook checks the page that is open, in two widths and two schemes.
func (b *tab) inEveryLook(path string) {
	b.t.Helper()
	b.eventually("the files of "+path, `document.readyState === "complete"`, pageTimeout)
	for _, width := range []int64{360, 1280} {
		for _, scheme := range b.driver.schemes() {
			where := fmt.Sprintf("%s %d %s", path, width, scheme)
			b.look(width, scheme)
			b.fits(where)
			if _, is := b.driver.(chromiumTab); is { // what is judged is the page, not the browser
				b.accessible(where)
				readsInOrder(b, where)
			}
			b.check()
			b.keep(where)
		}
	}
}

// fits fails the test if the page is wider than the window, or a table than its box.
func (b *tab) fits(where string) {
	b.t.Helper()
	widths := evaluate[struct{ Page, Window float64 }](b, `({Page: document.documentElement.scrollWidth, Window: document.documentElement.clientWidth})`)
	if widths.Page > widths.Window {
		b.t.Errorf("%s: the page has %v px, the window %v", where, widths.Page, widths.Window)
	}
	if wide := evaluate[[]string](b, wideBoxes); len(wide) > 0 {
		b.t.Errorf("%s: wider than their boxes: %q", where, wide)
	}
	if touching := evaluate[[]string](b, touchingLabels); len(touching) > 0 {
		b.t.Errorf("%s: labels of a chart touch: %q", where, touching)
	}
}

// wideBoxes finds tables that can only be read by scrolling sideways.
const wideBoxes = `[...document.querySelectorAll(".scroll")].filter((box) => box.scrollWidth > box.clientWidth).map((box) =>
	(box.querySelector("caption") || box).textContent.trim().slice(0, 40) + " " + box.scrollWidth + " in " + box.clientWidth)`

// touchingLabels finds labels of one axis of time with less than a space between them.
const touchingLabels = `[...document.querySelectorAll(".chart .times")].flatMap((axis) => {
	const space = 3;
	const labels = [...axis.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
	labels.sort(([, a], [, b]) => a.left - b.left);
	return labels.slice(1).flatMap(([text, box], i) => box.left < labels[i][1].right + space ? [labels[i][0] + "|" + text] : []);
})`

// keep writes a screenshot if the flag says so.
func (b *tab) keep(where string) {
	b.t.Helper()
	if *keep == "" {
		return
	}
	picture, err := b.driver.picture()
	if err != nil {
		b.t.Fatal(err)
	}
	name := strings.NewReplacer("/", "_", " ", "-", "?", "_", "&", "_").Replace(strings.Trim(where, "/")) + ".png"
	if err := os.WriteFile(filepath.Join(*keep, name), picture, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
