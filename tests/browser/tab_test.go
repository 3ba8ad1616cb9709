package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// tabTimeout is how long a test may use its tab.
const tabTimeout = 90 * time.Second

// tab is a page in a profile of its own. It collects what must not happen.
type tab struct {
	t      *testing.T
	ctx    context.Context // ends with the tab's time; in Chromium, the target of its protocol
	site   *site
	driver driver
	journal

	expected []string // parts of faults that the test provokes
	hosts    []string // that may be asked, besides the site's
}

// driver is a tab as each browser has it.
type driver interface {
	// navigate returns when the page and its files have loaded, with the status of its answer.
	navigate(address string) (status int64, err error)
	// evaluate runs an expression of JavaScript in the page, waits for a promise, and returns the result as
	// JSON; nil is undefined.
	evaluate(script string) ([]byte, error)
	// enter presses keys at what has the focus. Package kb names those without a character.
	enter(keys string, shift bool) error
	// click clicks at a point of the window.
	click(x, y float64) error
	// look sets the size of the window and the colours that the system asks for.
	look(width, height int64, scheme string) error
	// schemes are the colours that look can set.
	schemes() []string
	// picture is the whole page as PNG.
	picture() ([]byte, error)
	// cookies are those that the address gets.
	cookies(address string) ([]*http.Cookie, error)
	// sibling opens another tab of the same person.
	sibling(b *tab) *tab
}

// inEachBrowser runs a test with a tab of a new visitor of each browser, one after another.
func inEachBrowser(t *testing.T, s *site, test func(t *testing.T, b *tab)) {
	t.Helper()
	inEachBrowserFor(t, s, tabTimeout, test)
}

// inEachBrowserFor runs one that may take longer.
func inEachBrowserFor(t *testing.T, s *site, timeout time.Duration, test func(t *testing.T, b *tab)) {
	t.Helper()
	t.Run("Chromium", func(t *testing.T) { test(t, newLongTab(t, s, timeout)) })
	t.Run("Firefox", func(t *testing.T) { test(t, newFirefoxTab(t, s, timeout)) })
}

// journal is what a tab has done.
type journal struct {
	mu       sync.Mutex // guards the following
	faults   []string   // errors of the console, violations of the policy, exceptions
	requests []string   // URLs
	answers  []string   // "status path"
	sent     []string   // the first message on a socket; Chromium alone tells it
}

// reportViolations runs before the scripts of every document.
const reportViolations = `addEventListener("securitypolicyviolation", (e) =>
	console.error("policy: " + e.effectiveDirective + " " + e.blockedURI + " " + e.sample));`

// run runs an action in the tab, which is one of Chromium.
func run[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// evaluate runs an expression in the page and returns its result, which may be a promise.
func evaluate[T any](b *tab, script string) (result T) {
	b.t.Helper()
	text, err := b.driver.evaluate(script)
	if err == nil && text != nil {
		err = json.Unmarshal(text, &result)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// enter presses keys.
func enter(b *tab, keys string) {
	b.t.Helper()
	if err := b.driver.enter(keys, false); err != nil {
		b.t.Fatal(err)
	}
}

// clickAt clicks at a point of the window.
func clickAt(b *tab, x, y float64) {
	b.t.Helper()
	if err := b.driver.click(x, y); err != nil {
		b.t.Fatal(err)
	}
}

// clickOn clicks the middle of the first element, when it can be clicked.
func clickOn(b *tab, selector string) {
	b.t.Helper()
	var place *struct{ X, Y float64 }
	b.eventually(selector+" can be clicked", fmt.Sprintf(canBeClicked, quote(selector))+" !== null", pageTimeout)
	if place = evaluate[*struct{ X, Y float64 }](b, fmt.Sprintf(canBeClicked, quote(selector))); place == nil {
		b.t.Fatalf("%s is gone", selector)
	}
	clickAt(b, place.X, place.Y)
}

// canBeClicked is the middle of an element, null if it cannot be clicked there.
const canBeClicked = `((selector) => {
	const element = document.querySelector(selector);
	if (!element || element.disabled || !element.checkVisibility()) {
		return null;
	}
	element.scrollIntoView({ block: "center" });
	const box = element.getBoundingClientRect();
	const [X, Y] = [box.left + box.width / 2, box.top + box.height / 2];
	const top = document.elementFromPoint(X, Y);
	return element === top || element.contains(top) ? { X, Y } : null;
})(%s)`

// clickThrough clicks what leads to another page, and returns the status of its answer.
func clickThrough(b *tab, selector string) int64 {
	b.t.Helper()
	return leave(b, func() { clickOn(b, selector) })
}

// leave does what leads to another page, and returns the status of its answer.
func leave(b *tab, step func()) int64 {
	b.t.Helper()
	evaluate[bool](b, "window.leaving = true")
	step()
	b.eventually("another page", `!window.leaving && document.readyState === "complete"`, pageTimeout)
	return evaluate[int64](b, statusOfPage)
}

const statusOfPage = `performance.getEntriesByType("navigation")[0].responseStatus`

// expect lets faults with this text pass: the test provokes them.
func (b *tab) expect(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.expected = append(b.expected, text)
}

// mayAsk lets requests to another host pass.
func (b *tab) mayAsk(host string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hosts = append(b.hosts, host)
}

// sees waits until something that has happened contains one of the texts: an answer, or a fault.
func (b *tab) sees(texts ...string) {
	b.t.Helper()
	err := process.Eventually(b.ctx, pageTimeout, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		seen := slices.Concat(b.answers, b.faults)
		if !slices.ContainsFunc(seen, func(one string) bool { return containsAny(one, texts) }) {
			return fmt.Errorf("%q is not among %q", texts, seen)
		}
		return nil
	})
	if err != nil {
		b.t.Error(err)
	}
}

// check fails the test for what has happened so far, and forgets it.
func (b *tab) check() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		if !containsAny(fault, b.expected) {
			b.t.Error(fault)
		}
	}
	for _, request := range b.requests {
		u, err := url.Parse(request)
		if err == nil && u.Scheme != "data" && u.Scheme != "about" && u.Host != b.site.host && !slices.Contains(b.hosts, u.Host) {
			b.t.Errorf("a request to another host: %s", request)
		}
	}
	b.faults = nil
}

func containsAny(text string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// open shows a page of the site and returns the status of its answer.
func (b *tab) open(path string) int64 {
	b.t.Helper()
	status, err := b.driver.navigate(b.site.url(path))
	if err != nil {
		b.t.Fatal(err)
	}
	return status
}

// follow does what leads to another page in Chromium, and returns the status of its answer.
func (b *tab) follow(step chromedp.Action[chromedp.Void]) int64 {
	b.t.Helper()
	answer, err := chromedp.RunResponse(b.ctx, step)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.Status
}

// text is the visible text of the first element, "" if there is none.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return evaluate[string](b, fmt.Sprintf(`document.querySelector(%s)?.innerText ?? ""`, quote(selector)))
}

// eventually waits until a script's result is true. A document that is replaced meanwhile is no
// failure.
func (b *tab) eventually(what, script string, within time.Duration) {
	b.t.Helper()
	err := process.Eventually(b.ctx, within, func() error {
		done, err := b.driver.evaluate("Promise.resolve(" + script + ").then(Boolean)")
		if err == nil && string(done) != "true" {
			err = errNotYet
		}
		return err
	})
	if err != nil {
		b.t.Fatalf("%s: not within %v: %v; the page says %q", what, within, err, b.text("main"))
	}
}

var errNotYet = errors.New("not yet")

// look sets the size of the window and the colours that the system asks for. Nothing moves, so that
// the new colours are there at once.
func (b *tab) look(width int64, scheme string) {
	b.t.Helper()
	const height = 800
	if err := b.driver.look(width, height, scheme); err != nil {
		b.t.Fatal(err)
	}
}

// quote is a string of JavaScript.
func quote(text string) string {
	quoted, _ := json.Marshal(text) // of a string
	return string(quoted)
}
