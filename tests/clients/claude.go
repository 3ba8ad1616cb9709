//go:build linux

package main

import (
	"context"
	"encoding/json"
	"os/exec"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// claudeTries is how often Claude Code sends system messages between others to a model that it does
// not know. It goes on without them.
const claudeTries = 2

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
		settings: func(scenario) []setting {
			return []setting{{text: `ANTHROPIC_BASE_URL=https://gateway.example
ANTHROPIC_AUTH_TOKEN=YOUR_KEY
ANTHROPIC_MODEL=PROVIDER/MODEL
ANTHROPIC_DEFAULT_HAIKU_MODEL=PROVIDER/MODEL
`}}
		},
		command: func(ctx context.Context, r run) *exec.Cmd {
			cmd := exec.CommandContext(ctx, p.claude, "--print", "--output-format", "json", "--no-session-persistence",
				"--allowed-tools", "Bash(cat:*)", "--strict-mcp-config")
			cmd.Env = []string{"CLAUDE_CONFIG_DIR=" + r.home, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "USE_BUILTIN_RIPGREP=0"}
			return cmd
		},
		read: readClaude,
		scenarios: []scenario{
			{name: "text", model: "claude/agent", prompt: pine, says: echoed, calls: 1, refused: claudeTries, carries: messages},
			{name: "budget-tool", key: budget, model: "claude/agent", prompt: shell, says: fruit, calls: 2, refused: claudeTries, costs: true, carries: messages},
			{name: "translated-chat-tool", key: budget, model: "chatonly/agent", prompt: shell, says: fruit, calls: 2, costs: true, carries: []string{`"messages":`, `"name":"Bash"`}},
			{name: "translated-responses-tool", model: "responsesonly/agent", prompt: shell, says: fruit, calls: 2, carries: []string{`"input":`, `"name":"Bash"`}},
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
