//go:build linux && mcpauth

package mcpauth

import (
	"bufio"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/tests/harness"
	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

var authorizationURL = regexp.MustCompile(`http://[^\s[:cntrl:]]+/oauth/authorize\?[^\s[:cntrl:]]+`)

// opened runs a program with the person at its browser, who opens each page that it names.
func (g *gateway) opened(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&said, lines.Text())
		if link := authorizationURL.FindString(lines.Text()); link != "" {
			if _, err := read(http.DefaultClient, "GET", g.person.URL+"?"+url.Values{"url": {link}, "open": {"1"}}.Encode(), nil, ""); err != nil {
				t.Error(err)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	return said.String()
}

// The protocol's own tests of an authorization server.
func TestConformance(t *testing.T) {
	g, node := start(t), peer(t, "MCP_NODE")
	ports, err := process.FreePorts(1)
	if err != nil {
		t.Fatal(err)
	}
	said := g.opened(t, exec.CommandContext(t.Context(), filepath.Join(node, "node_modules/.bin/node"),
		filepath.Join(node, "node_modules/@modelcontextprotocol/conformance/dist/index.js"), "authorization", "--url", g.origin,
		"--client-id", "conformance", "--resource", g.origin+"/mcp/demo", "--port", fmt.Sprint(ports[0])))
	if !strings.Contains(said, "Total: 2 passed, 0 failed") {
		t.Errorf("%s", said)
	}
}

func TestClaudeCode(t *testing.T) {
	g, claude, home := start(t), peer(t, "MCP_CLAUDE"), t.TempDir()
	program := func(command ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
		cmd.Dir = home
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "BROWSER=true", "DISABLE_AUTOUPDATER=1", "ANTHROPIC_BASE_URL=" + g.origin,
			"ANTHROPIC_API_KEY=" + harness.Secret("full"), "ANTHROPIC_MODEL=claude/agent", "ENABLE_TOOL_SEARCH=false",
			"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "USE_BUILTIN_RIPGREP=0"}
		return cmd
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := program(append([]string{claude}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("mcp", "add", "--transport", "http", "demo", g.origin+"/mcp/demo")
	if said := run("mcp", "list"); !strings.Contains(said, "Needs authentication") {
		t.Errorf("before: %s", said)
	}
	login := program("script", "-qec", claude+" mcp login demo", "/dev/null") // it wants a terminal
	if said := g.opened(t, login); !strings.Contains(said, "Authenticated") {
		t.Errorf("%s", said)
	}
	if said := run("mcp", "list"); !strings.Contains(said, "Connected") {
		t.Errorf("after: %s", said)
	}
	said := run("--print", `use mcp__demo__echo {"text":"hello from a tool"}`, "--allowed-tools", "mcp__demo__echo")
	if !strings.Contains(said, "hello from a tool") {
		t.Errorf("a call of a tool: %s", said)
	}
}

func TestCodex(t *testing.T) {
	g, codex, home := start(t), peer(t, "MCP_CODEX"), t.TempDir()
	program := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), codex, args...)
		cmd.Dir, cmd.Env = home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CODEX_HOME=" + home}
		return cmd
	}
	config := "mcp_oauth_credentials_store = \"file\"\n[mcp_servers.demo]\nurl = \"" + g.origin + "/mcp/demo\"\n"
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if said := g.opened(t, program("mcp", "login", "demo")); !strings.Contains(said, "Successfully logged in") {
		t.Errorf("%s", said)
	}
	said, err := program("mcp", "list").CombinedOutput()
	if err != nil || !strings.Contains(string(said), "OAuth") {
		t.Errorf("%v %s", err, said)
	}
}

func TestInspector(t *testing.T) {
	g, node := start(t), peer(t, "MCP_NODE")
	cmd := exec.CommandContext(t.Context(), filepath.Join(node, "node_modules/.bin/node"),
		filepath.Join(node, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"), "--cli", g.origin+"/mcp/demo",
		"--transport", "http", "--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hello")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "MCP_AUTO_OPEN_ENABLED=true")
	if said := g.opened(t, cmd); !strings.Contains(said, "hello") {
		t.Errorf("%s", said)
	}
}
