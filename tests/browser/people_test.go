package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// A name that somebody else has chosen is text wherever it is shown.
func TestHostileNamesAreText(t *testing.T) {
	b := newTab(t, demoSite(t))
	b.signIn("ops")
	shown := map[string]bool{}
	b.crawl(func(path string) {
		found := evaluate[struct {
			Title string
			Made  int
			Names []bool
		}](b, fmt.Sprintf(`({Title: document.title, Made: document.querySelectorAll("main img, main script, [onerror]").length,
			Names: [%s, %s, %s].map(name => document.body.textContent.includes(name))})`, quote(hostile), quote(long[:64]), quote(turned)))
		if found.Title == "run" || found.Made > 0 {
			t.Errorf("%s: a name has become %d elements", path, found.Made)
		}
		for i, name := range []string{"hostile", "long", "turned"} {
			shown[name] = shown[name] || found.Names[i]
		}
	})
	for _, name := range []string{"hostile", "long", "turned"} {
		if !shown[name] {
			t.Errorf("no page shows the name that is %s", name)
		}
	}
}

// A long name without a place to break makes no page wider than a phone.
func TestALongNameFitsThePagesOfItsKey(t *testing.T) {
	b := newTab(t, demoSite(t))
	b.signIn("ops")
	b.look(360, "light")
	b.open("/console/keys?search=" + long[:64])
	key := run(b, chromedp.AttributeValue(chromedp.CSS("tbody th a"), "href")).Value
	for _, page := range []string{"", "/limits", "/rotate", "/disable", "/delete"} {
		if status := b.open(key + page); status != 200 {
			t.Errorf("%s: status %d", page, status)
		}
		b.fits("the page " + page + " of the key")
	}
}

// Without JavaScript all pages can be read, and forms do what they say.
func TestPagesWorkWithoutJavaScript(t *testing.T) {
	b := newTab(t, demoSite(t))
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.signIn("ops")
	for _, link := range run(b, chromedp.AttributesAll(chromedp.CSSAll("nav.menu a"))) {
		path := link["href"]
		if status := b.open(path); status != 200 {
			t.Errorf("%s: status %d", path, status)
		}
		if text := run(b, chromedp.TextContent(chromedp.CSS("main"))); len(strings.Fields(text)) < 5 {
			t.Errorf("%s says only %q", path, text)
		}
	}
	b.follow(click(`button[name=theme]`))
	if class := run(b, chromedp.AttributeValue(chromedp.CSS("html"), "class")); class.Value != "dark" {
		t.Errorf("the form of the colours has chosen %q", class.Value)
	}
	b.open(demoPath)
	if text := run(b, chromedp.TextContent(chromedp.CSS("main"))); !strings.Contains(text, "needs JavaScript") || !strings.Contains(text, "VNC viewer") {
		t.Errorf("the page of a desktop says %q", text)
	}
}
