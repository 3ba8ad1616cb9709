package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// chromiumTab is the driver of a tab of Chromium: the context of its debugging protocol.
type chromiumTab struct{ ctx context.Context }

// newTab opens a tab of a new visitor in Chromium. At the end of the test, faults and requests to other
// hosts fail it.
func newTab(t *testing.T, s *site) *tab {
	t.Helper()
	return newLongTab(t, s, tabTimeout)
}

// newLongTab opens one that may be used for longer.
func newLongTab(t *testing.T, s *site, timeout time.Duration) *tab {
	t.Helper()
	timed, cancel := context.WithTimeout(chrome, timeout)
	t.Cleanup(cancel)
	return openChromium(t, timed, s, chromedp.WithNewBrowserContext())
}

func (c chromiumTab) sibling(b *tab) *tab { return openChromium(b.t, c.ctx, b.site) }

func openChromium(t *testing.T, in context.Context, s *site, options ...chromedp.ContextOption) *tab {
	t.Helper()
	b := &tab{t: t, site: s}
	ctx, cancel := chromedp.NewContext(in, append(options, chromedp.WithListener(b.listen))...)
	t.Cleanup(cancel)
	b.ctx, b.driver = ctx, chromiumTab{ctx}
	call(b, network.Enable, network.EnableParams{})
	call(b, log.Enable, cdp.Empty{})
	call(b, runtime.Enable, cdp.Empty{})
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: reportViolations})
	t.Cleanup(b.check)
	return b
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

// listen notes an event of the tab.
func (j *journal) listen(event any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" {
			var parts []string
			for _, arg := range e.Args {
				parts = append(parts, describe(arg))
			}
			j.faults = append(j.faults, fmt.Sprintf("console %s: %s", e.Type, strings.Join(parts, " ")))
		}
	case *runtime.EventExceptionThrown:
		j.faults = append(j.faults, "exception: "+e.ExceptionDetails.Text+" "+describe(e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			j.faults = append(j.faults, fmt.Sprintf("log %s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
		}
	case *network.EventRequestWillBeSent:
		j.requests = append(j.requests, e.Request.URL)
	case *network.EventResponseReceived:
		if u, err := url.Parse(e.Response.URL); err == nil {
			j.answers = append(j.answers, fmt.Sprintf("%d %s", e.Response.Status, u.Path))
		}
	case *network.EventWebSocketCreated:
		j.requests = append(j.requests, e.URL)
	case *network.EventWebSocketFrameSent:
		if len(j.sent) == 0 { // only the first is of interest
			j.sent = append(j.sent, string(e.Response.PayloadData))
		}
	case *network.EventWebSocketFrameError:
		j.answers = append(j.answers, "socket: "+e.ErrorMessage)
	}
}

func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return string(o.Value) + o.Description
}

func (c chromiumTab) navigate(address string) (int64, error) {
	answer, err := chromedp.Run(c.ctx, chromedp.NavigateResponse(address))
	if err != nil {
		return 0, err
	}
	return answer.Status, nil
}

func (c chromiumTab) evaluate(script string) ([]byte, error) {
	return chromedp.Run(c.ctx, chromedp.Evaluate[[]byte](script, chromedp.EvalAwaitPromise))
}

func (c chromiumTab) enter(keys string, shift bool) error {
	var options []chromedp.KeyOption
	if shift {
		options = append(options, chromedp.KeyModifiers(kb.ModifierShift))
	}
	return chromedp.Do(c.ctx, chromedp.KeyEvent(keys, options...))
}

func (c chromiumTab) click(x, y float64) error {
	return chromedp.Do(c.ctx, chromedp.MouseClickXY(x, y))
}

// look has nothing move, so that new colours are there at once.
func (c chromiumTab) look(width, height int64, scheme string) error {
	_, err := chromedp.Call(c.ctx, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: width, Height: height, DeviceScaleFactor: 1, Mobile: width < 500,
	})
	if err == nil {
		_, err = chromedp.Call(c.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
	}
	return err
}

func (c chromiumTab) schemes() []string { return []string{"light", "dark"} }

func (c chromiumTab) picture() ([]byte, error) {
	const quality = 100 // PNG
	return chromedp.Run(c.ctx, chromedp.FullScreenshot(quality))
}

func (c chromiumTab) cookies(address string) (list []*http.Cookie, err error) {
	got, err := chromedp.Call(c.ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{address}})
	if err != nil {
		return nil, err
	}
	for _, k := range got.Cookies {
		sameSite := map[network.CookieSameSite]http.SameSite{network.CookieSameSiteLax: http.SameSiteLaxMode, network.CookieSameSiteStrict: http.SameSiteStrictMode}[k.SameSite]
		list = append(list, &http.Cookie{Name: k.Name, Value: k.Value, Domain: k.Domain, Path: k.Path, Secure: k.Secure, HttpOnly: k.HTTPOnly, SameSite: sameSite})
	}
	return list, nil
}
