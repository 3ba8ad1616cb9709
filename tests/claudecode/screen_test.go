//go:build linux && claudecode

package claudecode

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

// screen is a terminal with Claude Code in it.
type screen struct {
	t      *testing.T
	origin string
	socket string // of tmux
	home   string
}

// start starts Claude Code with the gateway as the only place to sign in.
func start(t *testing.T, program, origin string) *screen {
	t.Helper()
	s := &screen{t: t, origin: origin, socket: fmt.Sprint("gatehouse-", os.Getpid()), home: t.TempDir()}
	etc, work := filepath.Join(s.home, "etc"), filepath.Join(s.home, "work")
	must(t, exec.Command("cp", "-a", "/etc", etc).Run())
	must(t, os.MkdirAll(filepath.Join(etc, "claude-code"), 0o755))
	must(t, os.Mkdir(work, 0o755))
	must(t, os.WriteFile(filepath.Join(work, "fruit.txt"), []byte("pineapple"), 0o600))
	settings, _ := json.Marshal(map[string]string{"forceLoginMethod": "gateway", "forceLoginGatewayUrl": origin})
	must(t, os.WriteFile(filepath.Join(etc, "claude-code/managed-settings.json"), settings, 0o644))
	browser := filepath.Join(s.home, "browser")
	must(t, os.WriteFile(browser, []byte("#!/bin/sh\necho \"$1\" >> "+browser+".urls\n"), 0o755))
	script := filepath.Join(s.home, "run")
	must(t, os.WriteFile(script, fmt.Appendf(nil, `#!/bin/sh
mount --bind %s /etc && cd %s && exec env -i PATH="$PATH" TERM=xterm-256color HOME="$(dirname "$0")" BROWSER=%s DISABLE_AUTOUPDATER=1 ANTHROPIC_MODEL=claude/agent ANTHROPIC_DEFAULT_HAIKU_MODEL=claude/agent USE_BUILTIN_RIPGREP=0 %s "$@"
`, etc, work, browser, program), 0o755))
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", s.socket, "kill-server").Run() })
	s.open()
	return s
}

// open opens a terminal.
func (s *screen) open() {
	s.t.Helper()
	s.tmux("new-session", "-d", "-s", "claude", "-x", "120", "-y", "40", "unshare", "--mount", filepath.Join(s.home, "run"))
}

// reopen opens another one, in which Claude Code asks nothing of somebody new. It has a home of its
// own: the one before writes its settings until it has ended.
func (s *screen) reopen() {
	s.t.Helper()
	before := s.home
	s.home, s.socket = s.t.TempDir(), s.socket+"-again"
	must(s.t, os.Mkdir(filepath.Join(s.home, ".claude"), 0o700))
	for _, name := range []string{"run", ".claude/.credentials.json", ".claude.json"} {
		must(s.t, exec.Command("cp", "-p", filepath.Join(before, name), filepath.Join(s.home, name)).Run())
	}
	file, kept := filepath.Join(s.home, ".claude.json"), map[string]any{}
	text, err := os.ReadFile(file)
	must(s.t, err)
	must(s.t, json.Unmarshal(text, &kept))
	kept["hasCompletedOnboarding"] = true
	kept["projects"] = map[string]any{filepath.Join(before, "work"): map[string]any{"hasTrustDialogAccepted": true}}
	text, err = json.Marshal(kept)
	must(s.t, err)
	must(s.t, os.WriteFile(file, text, 0o600))
	s.open()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", s.socket}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %v: %v %s", args, err, out)
	}
	return string(out)
}

func (s *screen) shows() string { return s.tmux("capture-pane", "-p", "-t", "claude") }

// wait waits until the screen shows a text.
func (s *screen) wait(text string) {
	s.t.Helper()
	if !harness.Eventually(func() bool { return strings.Contains(s.shows(), text) }) {
		s.t.Fatalf("the screen does not show %q:\n%s", text, s.shows())
	}
}

func (s *screen) press(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", "claude"}, keys...)...)
}

// choose moves to a line of a menu, and chooses it.
func (s *screen) choose(text string) {
	s.t.Helper()
	s.wait(text)
	for range 5 {
		if strings.Contains(s.shows(), "❯ "+text) {
			s.press("Enter")
			return
		}
		before := s.shows()
		s.press("Up")
		harness.Eventually(func() bool { return s.shows() != before })
	}
	s.t.Fatalf("%q cannot be chosen:\n%s", text, s.shows())
}

// connect signs in, as a person does with the keyboard and a browser.
func (s *screen) connect() {
	s.t.Helper()
	s.wait("Choose the text style")
	s.press("Enter")
	s.wait("Enter to connect")
	s.press("Enter")
	s.choose("Yes, trust this gateway")
	s.wait("Waiting for sign-in")
	var opened []byte
	if !harness.Eventually(func() bool { opened, _ = os.ReadFile(filepath.Join(s.home, "browser.urls")); return len(opened) > 0 }) {
		s.t.Fatal("no browser was opened")
	}
	s.approve(strings.TrimSpace(string(opened)))
	s.choose("Yes, continue")
	if !harness.Eventually(func() bool { return s.credentials().access != "" }) {
		s.t.Fatalf("no tokens are kept:\n%s", s.shows())
	}
	s.tmux("kill-server")
}

var goOn = regexp.MustCompile(`content="0;url=([^"]+)"`)

// approve opens a page, and does what the person does there.
func (s *screen) approve(address string) {
	s.t.Helper()
	link, err := url.Parse(address)
	must(s.t, err)
	jar, err := cookiejar.New(nil)
	must(s.t, err)
	browser := &http.Client{Jar: jar}
	form := url.Values{"user_code": link.Query()["user_code"], "do": {"idp"}}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.origin+"/oauth/device", strings.NewReader(form.Encode()))
	must(s.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", s.origin)
	next := goOn.FindStringSubmatch(fetch(s.t, browser, r))
	if next == nil {
		s.t.Fatal("the page leads nowhere")
	}
	r, err = http.NewRequestWithContext(s.t.Context(), http.MethodGet, html.UnescapeString(next[1]), nil)
	must(s.t, err)
	if page := fetch(s.t, browser, r); !strings.Contains(page, "You are signed in") {
		s.t.Fatalf("%s", page)
	}
}

func fetch(t *testing.T, browser *http.Client, r *http.Request) string {
	t.Helper()
	resp, err := browser.Do(r)
	must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	return string(body)
}

// credentials are what Claude Code keeps.
type credentials struct{ access, refresh string }

var tokens = regexp.MustCompile(`gh[ar]-[A-Za-z0-9_-]+`)

func (s *screen) credentials() (c credentials) {
	text, _ := os.ReadFile(filepath.Join(s.home, ".claude/.credentials.json"))
	for _, token := range tokens.FindAllString(string(text), -1) {
		if strings.HasPrefix(token, "gha-") {
			c.access = token
		} else {
			c.refresh = token
		}
	}
	return c
}

// run runs Claude Code without its screen, as the person who has signed in.
func (s *screen) run(args ...string) string {
	s.t.Helper()
	command := exec.Command("unshare", append([]string{"--mount", filepath.Join(s.home, "run")}, args...)...)
	out, err := command.CombinedOutput()
	if err != nil {
		s.t.Logf("claude: %v", err)
	}
	return string(out)
}
