package browser

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// firefoxPreferences are of a profile of tests. What Firefox itself recommends for a session by WebDriver BiDi
// is added by it.
var firefoxPreferences = object{
	// All that is not of this machine goes to a proxy that is not there: updates, telemetry, lists.
	"network.proxy.type": 1, "network.proxy.http": "127.0.0.1", "network.proxy.http_port": 9,
	"network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": 9,
	"app.normandy.enabled": false, "nimbus.rollouts.enabled": false, "app.update.auto": false,
	// No page at the start, and no process for a page that may come.
	"browser.startup.page": 0, "browser.newtabpage.enabled": false, "browser.aboutwelcome.enabled": false,
	"dom.ipc.processPrelaunch.enabled": false, "dom.ipc.processCount": 1, "fission.webContentIsolationStrategy": 0,
	// WebDriver BiDi has no command for the colours that the system asks for: they are light.
	"layout.css.prefers-color-scheme.content-override": 1, "ui.prefersReducedMotion": 1,
}

// firefoxBrowser is the one Firefox of all tests.
type firefoxBrowser struct {
	session *bidi
	process *process.Process
	dir     string
}

var (
	firefoxRuns *firefoxBrowser // if it was started
	runFirefox  = sync.OnceValues(func() (*firefoxBrowser, error) {
		f, err := startFirefox()
		firefoxRuns = f
		return f, err
	})
)

// startFirefox starts it with a profile of its own, which is its home too.
func startFirefox() (*firefoxBrowser, error) {
	program, err := exec.LookPath(*firefox)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gatehouse-firefox-")
	if err != nil {
		return nil, err
	}
	f := &firefoxBrowser{dir: dir}
	var lines strings.Builder
	for name, value := range firefoxPreferences {
		text, _ := json.Marshal(value) // of a constant
		fmt.Fprintf(&lines, "user_pref(%q, %s);\n", name, text)
	}
	if err := os.WriteFile(filepath.Join(dir, "user.js"), []byte(lines.String()), 0o600); err != nil {
		return f, err
	}
	cmd := exec.Command(program, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", dir)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_RUNTIME_DIR="+dir, "MOZ_CRASHREPORTER_DISABLE=1", "LANG=C.UTF-8")
	if f.process, err = process.Start(cmd, filepath.Join(dir, "log")); err != nil {
		return f, err
	}
	runs, left := context.WithCancel(context.Background())
	go func() {
		<-f.process.Exited
		left()
	}()
	const startTimeout = 2 * time.Minute // a cold start from disk, on a busy machine
	err = process.Eventually(runs, startTimeout, func() error {
		var at struct {
			Host string `json:"ws_host"`
			Port int    `json:"ws_port"`
		}
		text, err := os.ReadFile(filepath.Join(dir, "WebDriverBiDiServer.json"))
		if err == nil {
			err = json.Unmarshal(text, &at)
		}
		if err == nil {
			f.session, err = dialBiDi(context.Background(), fmt.Sprintf("ws://%s:%d/session", at.Host, at.Port),
				object{"acceptInsecureCerts": true}, "log.entryAdded", "network.beforeRequestSent", "network.responseStarted", "network.fetchError")
		}
		return err
	})
	if err != nil {
		err = fmt.Errorf("starting %s: %w\n%s", program, err, f.process.Log())
	}
	return f, err
}

// stopFirefox ends it, if it runs, and removes its profile.
func stopFirefox() {
	if f := firefoxRuns; f != nil {
		if f.process != nil {
			f.process.Stop()
		}
		_ = os.RemoveAll(f.dir)
	}
}

// firefoxTab is a tab of it, the driver of a tab.
type firefoxTab struct {
	*bidi
	ctx           context.Context
	person, place string // the user context, which has the cookies, and the browsing context
}

// newFirefoxTab opens a tab of a new visitor.
func newFirefoxTab(t *testing.T, s *site, timeout time.Duration) *tab {
	t.Helper()
	f, err := runFirefox()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(cancel)
	var made struct{ UserContext string }
	if err := f.session.do(ctx, "browser.createUserContext", object{}, &made); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = f.session.do(context.Background(), "browser.removeUserContext", object{"userContext": made.UserContext}, nil)
	})
	return (&firefoxTab{bidi: f.session, ctx: ctx, person: made.UserContext}).open(t, s)
}

// open opens a tab of the same visitor.
func (f *firefoxTab) open(t *testing.T, s *site) *tab {
	t.Helper()
	var made struct{ Context string }
	err := f.do(f.ctx, "browsingContext.create", object{"type": "tab", "userContext": f.person}, &made)
	b := &tab{t: t, ctx: f.ctx, site: s, driver: &firefoxTab{f.bidi, f.ctx, f.person, made.Context}}
	if err == nil {
		f.mu.Lock()
		f.tabs[made.Context] = b.hear
		f.mu.Unlock()
		err = f.do(f.ctx, "script.addPreloadScript", object{"functionDeclaration": "() => {" + reportViolations + "}", "contexts": []string{made.Context}}, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.check)
	return b
}

func (f *firefoxTab) sibling(b *tab) *tab { return f.open(b.t, b.site) }

// hear notes an event of the tab.
func (j *journal) hear(method string, params json.RawMessage) {
	var e struct {
		Level, Text, ErrorText string
		Request, Response      struct {
			URL    string
			Status int64
		}
	}
	err := json.Unmarshal(params, &e)
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case err != nil:
		j.faults = append(j.faults, fmt.Sprintf("an event of Firefox: %s %s: %v", method, params, err))
	case method == "log.entryAdded" && (e.Level == "error" || e.Level == "warn"):
		j.faults = append(j.faults, fmt.Sprintf("log %s: %s", e.Level, e.Text))
	case method == "network.beforeRequestSent":
		j.requests = append(j.requests, e.Request.URL)
	case method == "network.responseStarted":
		if u, err := url.Parse(e.Response.URL); err == nil {
			j.answers = append(j.answers, fmt.Sprintf("%d %s", e.Response.Status, u.Path))
		}
	case method == "network.fetchError":
		j.answers = append(j.answers, e.ErrorText+" "+e.Request.URL)
	}
}

func (f *firefoxTab) navigate(address string) (status int64, err error) {
	err = f.do(f.ctx, "browsingContext.navigate", object{"context": f.place, "url": address, "wait": "complete"}, nil)
	if err != nil {
		return 0, err
	}
	text, err := f.evaluate(statusOfPage)
	if err == nil {
		err = json.Unmarshal(text, &status)
	}
	return status, err
}

func (f *firefoxTab) evaluate(script string) ([]byte, error) {
	var got struct {
		Result           struct{ Type, Value string }
		ExceptionDetails struct{ Text string }
	}
	err := f.do(f.ctx, "script.evaluate", object{"target": object{"context": f.place}, "awaitPromise": true, "userActivation": true,
		"expression": "(async () => JSON.stringify(await (" + script + "\n)))()"}, &got)
	if err == nil && got.ExceptionDetails.Text != "" {
		err = fmt.Errorf("%s: %s", script, got.ExceptionDetails.Text)
	}
	if got.Result.Type != "string" {
		return nil, err
	}
	return []byte(got.Result.Value), err
}

// webDriverKeys are the keys without a character, as WebDriver names them (section "Keyboard actions").
var webDriverKeys = strings.NewReplacer(
	kb.Tab, "\ue004", kb.Enter, "\ue007", kb.Escape, "\ue00c", kb.End, "\ue010", kb.Home, "\ue011", kb.ArrowLeft, "\ue012", kb.ArrowRight, "\ue014", kb.F8, "\ue038",
)

func (f *firefoxTab) enter(keys string, shift bool) error {
	const shiftKey = "\ue008"
	var actions []object
	if shift {
		actions = append(actions, object{"type": "keyDown", "value": shiftKey})
	}
	for _, key := range webDriverKeys.Replace(keys) {
		actions = append(actions, object{"type": "keyDown", "value": string(key)}, object{"type": "keyUp", "value": string(key)})
	}
	if shift {
		actions = append(actions, object{"type": "keyUp", "value": shiftKey})
	}
	return f.perform(object{"type": "key", "id": "keyboard", "actions": actions})
}

func (f *firefoxTab) click(x, y float64) error {
	return f.perform(object{"type": "pointer", "id": "mouse", "actions": []object{
		{"type": "pointerMove", "x": int(x), "y": int(y)}, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0},
	}})
}

func (f *firefoxTab) perform(source object) error {
	return f.do(f.ctx, "input.performActions", object{"context": f.place, "actions": []object{source}}, nil)
}

func (f *firefoxTab) look(width, height int64, _ string) error {
	return f.do(f.ctx, "browsingContext.setViewport", object{"context": f.place, "viewport": object{"width": width, "height": height}}, nil)
}

func (f *firefoxTab) schemes() []string { return []string{"light"} } // see firefoxPreferences

func (f *firefoxTab) picture() ([]byte, error) {
	var got struct{ Data string }
	if err := f.do(f.ctx, "browsingContext.captureScreenshot", object{"context": f.place, "origin": "document"}, &got); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(got.Data)
}

func (f *firefoxTab) cookies(string) (list []*http.Cookie, err error) {
	var got struct {
		Cookies []struct {
			Name, Domain, Path, SameSite string
			HTTPOnly, Secure             bool
			Value                        struct{ Value string }
		}
	}
	err = f.do(f.ctx, "storage.getCookies", object{"partition": object{"type": "context", "context": f.place}}, &got)
	for _, c := range got.Cookies {
		sameSite := map[string]http.SameSite{"lax": http.SameSiteLaxMode, "strict": http.SameSiteStrictMode, "none": http.SameSiteNoneMode}[c.SameSite]
		list = append(list, &http.Cookie{Name: c.Name, Value: c.Value.Value, Domain: c.Domain, Path: c.Path, Secure: c.Secure, HttpOnly: c.HTTPOnly, SameSite: sameSite})
	}
	return list, err
}
