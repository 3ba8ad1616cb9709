package operator

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// initialize runs `caddy gatehouse init` in a folder.
func initialize(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = append([]string{"caddy", "gatehouse", "init"}, args...)
	cmd.Dir = dir
	home := filepath.Join(t.TempDir(), "home")
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_DATA_HOME="+home, "XDG_CONFIG_HOME="+home, "OPENAI_API_KEY=sk-planted")
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func TestInitWritesAConfigurationThatLoadsAndKeepsItsSecretsApart(t *testing.T) {
	dir := t.TempDir()
	out, err := initialize(t, dir, "--provider", "openai", "--provider", "own=http://127.0.0.1:9/v1", "--workstation", "desk1=127.0.0.1:5901", "--host", "gw.example.com", "--internal-ca", "--budget", "1M tokens/day")
	if err != nil || !strings.Contains(out, "caddy run --config Caddyfile --envfile gatehouse.env") || !strings.Contains(out, "https://gw.example.com/console/workstations/desk1/desktop") || strings.Contains(out, "planted") {
		t.Fatalf("%v, %s", err, out)
	}
	for name, mode := range map[string]os.FileMode{"Caddyfile": 0o644, "gatehouse.env": 0o600} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "Caddyfile"))
	if err != nil || strings.Contains(string(text), "planted") {
		t.Fatalf("%v, %s", err, text)
	}
	env, _ := os.ReadFile(filepath.Join(dir, "gatehouse.env"))
	for line := range strings.Lines(string(env)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			t.Setenv(name, value)
		}
	}
	if report, status := check(t, string(text)); status != 0 {
		t.Errorf("check: %d, %s", status, report)
	}
}

func TestInitReplacesNothingAndLeavesNothingBehindAFailure(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "Caddyfile")
	if err := os.WriteFile(kept, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := initialize(t, dir); err == nil || !strings.Contains(out, "Caddyfile exists: --force replaces it") {
		t.Errorf("%v, %s", err, out)
	}
	if text, _ := os.ReadFile(kept); string(text) != "mine" {
		t.Errorf("%s", text)
	}
	secrets := filepath.Join(dir, "gatehouse.env")
	if err := os.WriteFile(secrets, []byte("# by hand\nGATEWAY_API_KEY=gh-kept-0123456789\nDSN=postgres://a=b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := initialize(t, dir, "--force"); err != nil {
		t.Errorf("%v, %s", err, out)
	}
	if text, _ := os.ReadFile(secrets); !strings.Contains(string(text), "GATEWAY_API_KEY=gh-kept-0123456789\n") || !strings.Contains(string(text), "DSN=postgres://a=b\n") {
		t.Errorf("a replaced file lost secrets: %s", text)
	}
	if out, err := initialize(t, dir, "--output", "other", "--secrets", "other.env", "--catalog", "missing.json"); err == nil || !strings.Contains(out, "nothing was written") {
		t.Errorf("%v, %s", err, out)
	}
	if files := filesBelow(t, dir); strings.Join(files, " ") != dir+" "+kept+" "+secrets {
		t.Errorf("files: %v", files)
	}
}
