//go:build linux && claudecode

package claudecode

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/tests/harness"
)

var signInPage = regexp.MustCompile(`http://\S+user_code=\S+`)

// A person signs in once, in a terminal. Then Codex and Claude Code have the command give them a
// token, as the manual says: it is refreshed as often as its short life wants.
func TestProgramsCallByTheLoginCommand(t *testing.T) {
	claude, codex := path(t, "GATEHOUSE_CLAUDE"), path(t, "GATEHOUSE_CODEX")
	h := people(t, "")
	origin, home := h.Ports.Origin(), t.TempDir()
	bin, work := filepath.Join(home, "bin"), filepath.Join(home, "work")
	for _, folder := range []string{bin, work, filepath.Join(home, ".codex"), filepath.Join(home, ".claude")} {
		must(t, os.Mkdir(folder, 0o700))
	}
	self, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(self, filepath.Join(bin, "caddy")))
	must(t, os.WriteFile(filepath.Join(work, "fruit.txt"), []byte("pineapple"), 0o600))
	environment := []string{"HOME=" + home, "PATH=" + bin + ":" + os.Getenv("PATH"), "TERM=xterm-256color"}
	run := func(stdin, program string, args ...string) string {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, args...)
		command.Dir, command.Env, command.Stdin = work, environment, strings.NewReader(stdin)
		said, err := command.Output()
		if err != nil {
			var failed *exec.ExitError
			_ = errors.As(err, &failed)
			t.Logf("%s: %v %s", program, err, failed.Stderr)
		}
		return string(said)
	}
	if token := run("", "caddy", "gatehouse", "login", origin); token != "" {
		t.Fatalf("nobody has signed in: %q", token)
	}
	s := &screen{t: t, origin: origin, socket: fmt.Sprint("gatehouse-login-", os.Getpid()), home: home}
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", s.socket, "kill-server").Run() })
	s.tmux("new-session", "-d", "-s", "claude", "-x", "200", "-y", "40", "env -i "+strings.Join(environment, " ")+" caddy gatehouse login "+origin+"; sleep 60")
	s.wait("user_code=")
	s.approve(signInPage.FindString(s.shows()))
	s.wait("Signed in at " + origin + " as ann@example.com")
	first := strings.TrimSpace(run("", "caddy", "gatehouse", "login", origin))
	if works(h, first) != http.StatusOK {
		t.Fatalf("the token %q is not good", first)
	}
	must(t, os.WriteFile(filepath.Join(home, ".codex/config.toml"), fmt.Appendf(nil, `model = "claude/agent"
model_provider = "gateway"

[model_providers.gateway]
name = "Gateway"
base_url = "%s/v1"
wire_api = "responses"

[model_providers.gateway.auth]
command = "caddy"
args = ["gatehouse", "login", "%s"]
`, origin, origin), 0o600))
	settings, _ := json.Marshal(map[string]any{"apiKeyHelper": "caddy gatehouse login " + origin, "env": map[string]string{"ANTHROPIC_BASE_URL": origin}})
	must(t, os.WriteFile(filepath.Join(home, ".claude/settings.json"), settings, 0o600))
	tools := func() {
		t.Helper()
		said := run(`use exec_command {"cmd":"cat fruit.txt"}`, codex, "exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access",
			"--disable", "plugins", "-c", "check_for_update_on_startup=false", "-c", "analytics.enabled=false", "-")
		if !strings.Contains(said, "pineapple") {
			t.Errorf("codex: %s", said)
		}
		said = run(`use Bash {"command":"cat fruit.txt","description":"reads a file"}`, claude, "--print", "--output-format", "json",
			"--model", "claude/agent", "--allowed-tools", "Bash(cat:*)")
		if jsontest.Has(t, said, `{"is_error":true}`) || !strings.Contains(said, "pineapple") {
			t.Errorf("claude: %s", said)
		}
	}
	tools()
	if !harness.Eventually(func() bool { return works(h, first) == http.StatusUnauthorized }) {
		t.Error("the first token does not end")
	}
	tools() // with others
	run("", "caddy", "gatehouse", "logout", origin)
	if token := run("", "caddy", "gatehouse", "login", origin); token != "" {
		t.Errorf("signed out: %q", token)
	}
}
