package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// tabTimeout is how long a test may use its tab.
const tabTimeout = 90 * time.Second

// tab is a page in a profile of its own. It collects what must not happen.
type tab struct {
	t    *testing.T
	ctx  context.Context
	site *site

	mu       sync.Mutex // guards the following
	faults   []string   // errors of the console, violations of the policy, exceptions
	expected []string   // parts of faults that the test provokes
	requests []string   // URLs
	hosts    []string   // that may be asked, besides the site's
	answers  []string   // "status path"
	sent     []string   // the first message on a socket
}

// reportViolations runs before the scripts of every document.
const reportViolations = `addEventListener("securitypolicyviolation", (e) =>
	console.error("policy: " + e.effectiveDirective + " " + e.blockedURI + " " + e.sample));`

// newTab opens a tab of a new visitor. At the end of the test, faults and requests to other hosts
// fail it.
func newTab(t *testing.T, s *site) *tab {
	t.Helper()
	return newLongTab(t, s, tabTimeout)
}

// newLongTab opens one that may be used for longer.
func newLongTab(t *testing.T, s *site, timeout time.Duration) *tab {
	t.Helper()
	b := &tab{t: t, site: s}
	timed, cancelTimeout := context.WithTimeout(chrome, timeout)
	t.Cleanup(cancelTimeout)
	ctx, cancel := chromedp.NewContext(timed, chromedp.WithNewBrowserContext(), chromedp.WithListener(b.listen))
	t.Cleanup(cancel)
	b.ctx = ctx
	b.prepare()
	return b
}

// prepare has the tab report what it does.
func (b *tab) prepare() {
	b.t.Helper()
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: reportViolations})
	b.t.Cleanup(b.check)
}

// call runs a command of the debugging protocol on the tab.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	result, err := chromedp.Call(b.ctx, command, params)
	if err != nil {
		b.t.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// run runs an action in the tab.
func run[T any](b *tab, action chromedp.Action[T]) T {
	b.t.Helper()
	result, err := chromedp.Run(b.ctx, action)
	if err != nil {
		b.t.Fatal(err)
	}
	return result
}

// evaluate runs a script in the page and returns its result, which may be a promise.
func evaluate[T any](b *tab, script string) T {
	b.t.Helper()
	return run(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
}

func (b *tab) listen(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			var parts []string
			for _, arg := range e.Args {
				parts = append(parts, describe(arg))
			}
			b.faults = append(b.faults, fmt.Sprintf("console %s: %s", e.Type, strings.Join(parts, " ")))
		}
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Text+" "+describe(e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			b.faults = append(b.faults, fmt.Sprintf("log %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *network.EventResponseReceived:
		if u, err := url.Parse(e.Response.URL); err == nil {
			b.answers = append(b.answers, fmt.Sprintf("%d %s", e.Response.Status, u.Path))
		}
	case *network.EventWebSocketCreated:
		b.requests = append(b.requests, e.URL)
	case *network.EventWebSocketFrameSent:
		if len(b.sent) == 0 { // only the first is of interest
			b.sent = append(b.sent, string(e.Response.PayloadData))
		}
	case *network.EventWebSocketFrameError:
		b.answers = append(b.answers, "socket: "+e.ErrorMessage)
	}
}

func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return string(o.Value) + o.Description
}

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

// sees waits until something that has happened contains text: an answer, or a fault.
func (b *tab) sees(text string) {
	b.t.Helper()
	err := process.Eventually(b.ctx, pageTimeout, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		seen := slices.Concat(b.answers, b.faults)
		if !slices.ContainsFunc(seen, func(one string) bool { return strings.Contains(one, text) }) {
			return fmt.Errorf("%q is not among %q", text, seen)
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
	return run(b, chromedp.NavigateResponse(b.site.url(path))).Status
}

// follow does what leads to another page, and returns the status of its answer.
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
		done, err := chromedp.Run(b.ctx, chromedp.Evaluate[bool]("Boolean("+script+")", chromedp.EvalAwaitPromise))
		if err == nil && !done {
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
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// quote is a string of JavaScript.
func quote(text string) string {
	quoted, _ := json.Marshal(text) // of a string
	return string(quoted)
}
