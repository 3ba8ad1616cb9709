//go:build linux

package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// claudeTries is how often Claude Code sends system messages between others to a model that it does
// not know. It goes on without them.
const claudeTries = 2

// mcpFile is the file with MCP servers.
const mcpFile = "mcp.json"

// claude is Claude Code without its screen. It calls POST /v1/messages?beta=true.
func claude(p programs) client {
	const (
		shell  = `use Bash {"command":"cat fruit.txt","description":"reads a file"}`
		pine   = "say pineapple"
		echoed = "say pineapple"
	)
	messages := []string{`"max_tokens":`, `"system":`}
	return client{
		name: "claude-code", version: "2.1.330", missing: process.Absent(p.claude, "claude"),
		settings: func(s scenario) []setting {
			set := []setting{{text: `ANTHROPIC_BASE_URL=https://gateway.example
ANTHROPIC_AUTH_TOKEN=YOUR_KEY
ANTHROPIC_MODEL=PROVIDER/MODEL
ANTHROPIC_DEFAULT_HAIKU_MODEL=PROVIDER/MODEL
`}}
			if s.desktop() {
				return append(set, setting{file: mcpFile, text: `{
  "mcpServers": {
    "desktops": {
      "type": "http",
      "url": "https://gateway.example/mcp/desktops",
      "headers": {"Authorization": "Bearer YOUR_KEY", "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}
    }
  }
}
`}, setting{text: "ENABLE_TOOL_SEARCH=false\n"}, setting{text: "ANTHROPIC_CUSTOM_HEADERS=traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\n"})
			}
			if s.mcp() {
				set = append(set, setting{file: mcpFile, text: `{
  "mcpServers": {
    "demo": {
      "type": "http",
      "url": "https://gateway.example/mcp/demo",
      "headers": {"Authorization": "Bearer YOUR_KEY"}
    }
  }
}
`}, setting{text: "ENABLE_TOOL_SEARCH=false\n"})
			}
			return set
		},
		command: func(ctx context.Context, r run) *exec.Cmd {
			cmd := exec.CommandContext(ctx, p.claude, "--print", "--output-format", "json", "--no-session-persistence",
				"--allowed-tools", "Bash(cat:*)", "--strict-mcp-config")
			if r.mcp() {
				cmd.Args = append(cmd.Args, "--allowed-tools", "mcp__demo__echo", "--allowed-tools", "mcp__desktops", "--mcp-config", filepath.Join(r.home, mcpFile))
			}
			cmd.Env = []string{"CLAUDE_CONFIG_DIR=" + r.home, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "USE_BUILTIN_RIPGREP=0"}
			return cmd
		},
		read: readClaude,
		scenarios: []scenario{
			{name: "text", model: "claude/agent", prompt: pine, says: echoed, calls: 1, refused: claudeTries, carries: messages},
			{name: "budget-tool", key: budget, model: "claude/agent", prompt: shell, says: fruit, calls: 2, refused: claudeTries, costs: true, carries: messages},
			{name: "translated-chat-tool", key: budget, model: "chatonly/agent", prompt: shell, says: fruit, calls: 2, costs: true, carries: []string{`"messages":`, `"name":"Bash"`}},
			{name: "translated-responses-tool", model: "responsesonly/agent", prompt: shell, says: fruit, calls: 2, carries: []string{`"input":`, `"name":"Bash"`}},
			{name: "mcp-tool", key: tooled, model: "claude/agent", prompt: `use mcp__demo__echo {"text":"pineapple"}`, says: fruit, calls: 2,
				refused: claudeTries, most: 8, carries: []string{`"name":"mcp__demo__echo"`}},
			{name: "mcp-desktop", key: desked, model: "claude/agent", prompt: fill("mcp__desktops__"), says: "A person was asked for help", calls: 7,
				refused: claudeTries, most: 20, carries: []string{`"name":"mcp__desktops__look"`}},
			// The server is not there, and there is no sign-in without an end.
			{name: "mcp-wrong-key", wrong: true, model: "claude/agent", prompt: pine,
				fails: []string{"API key is missing or not valid"}, most: 4, within: 30 * time.Second},
			{name: "wrong-key", wrong: true, model: "claude/agent", prompt: pine,
				fails: []string{"API key is missing or not valid"}, most: 1, within: 30 * time.Second},
			{name: "budget-used-up", key: spent, model: "claude/agent", prompt: pine, fails: []string{"budget"}, most: 1, within: 30 * time.Second},
		},
	}
}

// readClaude reads its one JSON object.
func readClaude(stdout, _ []byte) (said, failed string) {
	var result struct {
		IsError bool `json:"is_error"`
		Result  string
	}
	switch err := json.Unmarshal(stdout, &result); {
	case err != nil:
		return "", err.Error()
	case result.IsError:
		return "", result.Result
	}
	return result.Result, ""
}
