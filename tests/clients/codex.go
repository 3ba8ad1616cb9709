//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// codexRetries is how often Codex sends a call again after 401, 402, 403 or 429. It does not after
// 400 or 404. It waits as Retry-After says, else twice as long each time, some six seconds in all.
const codexRetries = 5

// codex is the CLI in its non-interactive mode. Its tools depend on what it knows of the model. A
// model that it does not know gets functions and a namespace. gpt-5.5 gets custom tools and a tool
// search. gpt-6.1-sol gets all tools inside namespaces, in an item of the input.
func codex(p programs) client {
	const (
		shell       = `use exec_command {"cmd":"cat fruit.txt"}`
		patchText   = "*** Begin Patch\n*** Update File: fruit.txt\n@@\n-pineapple\n+mango\n*** End Patch"
		patch       = "use apply_patch " + patchText
		programText = `const r = await tools.exec_command({cmd: "cat fruit.txt"}); text(r.output)`
		program     = "use exec " + programText
	)
	overSocket := []string{"-c", `model_provider="openai"`, "--disable", "multi_agent"}
	functions := []string{`"type":"function"`, `"name":"exec_command"`}
	namespace := append(slices.Clone(functions), `"type":"namespace"`)
	custom := []string{`"type":"custom"`, `"type":"tool_search"`}
	inInput := []string{`"type":"additional_tools"`, `"type":"namespace"`, `"type":"custom"`}
	return client{
		name: "codex", version: "0.169.0", missing: process.Absent(p.codex, "codex"),
		settings: func(s scenario) []setting {
			set := []setting{{file: "config.toml", text: `model = "PROVIDER/MODEL"
model_provider = "gatehouse"

[model_providers.gatehouse]
name = "gatehouse"
base_url = "https://gateway.example/v1"
env_key = "GATEWAY_API_KEY"
wire_api = "responses"
`}, {text: "GATEWAY_API_KEY=YOUR_KEY\n"}}
			if s.desktop() {
				return append(set, setting{file: "config.toml", text: `[model_providers.gatehouse.http_headers]
traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

[mcp_servers.desktops]
url = "https://gateway.example/mcp/desktops"
bearer_token_env_var = "GATEWAY_API_KEY"
http_headers = { traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" }
`})
			}
			if s.mcp() {
				set = append(set, setting{file: "config.toml", text: `[mcp_servers.demo]
url = "https://gateway.example/mcp/demo"
bearer_token_env_var = "GATEWAY_API_KEY"
`})
			}
			return set
		},
		command: func(ctx context.Context, r run) *exec.Cmd {
			cmd := exec.CommandContext(ctx, p.codex, append([]string{"exec", "--json", "--skip-git-repo-check",
				// The commands are the suite's own; the sandbox needs a kernel that has one.
				"--sandbox", "danger-full-access",
				"-c", fmt.Sprintf(`openai_base_url="%s/v1"`, r.origin), // of the built-in provider
				"--disable", "plugins", // it would download them
				"-c", `web_search="disabled"`, "-c", "check_for_update_on_startup=false",
				"-c", "analytics.enabled=false", "-c", "feedback.enabled=false",
				"-c", `otel.exporter="none"`, "-c", `otel.trace_exporter="none"`, "-c", `otel.metrics_exporter="none"`,
			}, append(r.options, "-")...)...)
			// The built-in provider takes its key from the last.
			cmd.Env = []string{"CODEX_HOME=" + r.home, "CODEX_API_KEY=" + r.secret}
			return cmd
		},
		read: readCodex,
		scenarios: []scenario{
			{name: "text", model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1, carries: namespace},
			{name: "tool", model: "fake/agent", prompt: shell, says: fruit, calls: 2, carries: namespace},
			{name: "custom-tool", model: "fake/gpt-5.5-agent", prompt: patch, says: "M fruit.txt", calls: 2, carries: custom},
			{name: "tools-in-input", model: "fake/gpt-6.1-sol-agent", prompt: program, says: fruit, calls: 2, carries: inInput},
			{name: "websocket", model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1,
				// It asks for an upgrade first, and continues without one after a 426.
				options: overSocket, most: 2, within: 5 * time.Second},
			// One connection, and nothing else: no POST and no second handshake.
			{name: "socket-text", model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1, most: 1,
				options: overSocket, within: 5 * time.Second},
			{name: "socket-tool", key: budget, model: "fake/agent", prompt: shell, says: fruit, calls: 2, most: 1, costs: true,
				options: overSocket, carries: append(slices.Clone(functions), `"role":"developer"`), within: 5 * time.Second},
			{name: "socket-translated-tool", key: budget, model: "chatonly/agent", prompt: shell, says: fruit, calls: 2, most: 1, costs: true,
				options: overSocket, within: 5 * time.Second},
			{name: "socket-messages-tool", key: budget, model: "claude/agent", prompt: shell, says: fruit, calls: 2, most: 1, costs: true,
				options: overSocket, within: 5 * time.Second},
			{name: "socket-custom-tool", model: "fake/gpt-5.5-agent", prompt: patch, says: "M fruit.txt", calls: 2, most: 1,
				options: overSocket, carries: custom[:1], within: 5 * time.Second},
			// A refusal that no repetition can change is told once.
			{name: "socket-budget-used-up", key: spent, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"budget"}, most: 1, options: overSocket, within: 5 * time.Second},

			{name: "budget-tool", key: budget, model: "fake/agent", prompt: shell, says: fruit, calls: 2, costs: true, carries: namespace},
			{name: "budget-custom-tool", key: budget, model: "fake/gpt-5.5-agent", prompt: patch, says: "M fruit.txt", calls: 2, costs: true, carries: custom},
			{name: "budget-tools-in-input", key: budget, model: "fake/gpt-6.1-sol-agent", prompt: program, says: fruit, calls: 2, costs: true, carries: inInput},
			// The built-in provider has the model compact what the tool said, and goes on from that.
			{name: "budget-compaction", key: budget, model: "fake/agent", prompt: shell, says: fruit, calls: 3, most: 4, costs: true,
				options: []string{"-c", `model_provider="openai"`, "--disable", "multi_agent", "-c", "model_auto_compact_token_limit=1"}},

			{name: "translated-namespace", key: budget, model: "chatonly/agent", prompt: shell, says: fruit, calls: 2, costs: true,
				carries: []string{`"name":"multi_agent_v1__spawn_agent"`}},
			{name: "translated-custom-tool", model: "chatonly/gpt-5.5-agent", prompt: "use apply_patch " + inputOf(patchText), says: "M fruit.txt", calls: 2,
				carries: []string{`"name":"apply_patch"`, `"name":"tool_search"`}},
			{name: "translated-tools-in-input", model: "chatonly/gpt-6.1-sol-agent", prompt: "use exec " + inputOf(programText), says: fruit, calls: 2,
				carries: []string{`"name":"exec"`, `"name":"collaboration__spawn_agent"`}},
			{name: "translated-messages-tool", key: budget, model: "claude/agent", prompt: shell, says: fruit, calls: 2, costs: true,
				carries: []string{`"max_tokens":`, `"name":"multi_agent_v1__spawn_agent"`}},
			{name: "translated-web-search", key: budget, model: "chatonly/agent", prompt: shell, says: fruit, calls: 2, costs: true,
				options: []string{"-c", `web_search="live"`}, carries: functions},

			{name: "mcp-tool", key: tooled, model: "fake/agent", prompt: `use echo {"text":"pineapple"}`, says: fruit, calls: 2, most: 8,
				carries: []string{`mcp__demo`}},
			{name: "mcp-desktop", key: desked, model: "fake/agent", prompt: fill(""), says: "A person was asked for help", calls: 7, most: 20,
				carries: []string{`mcp__desktops`}},
			{name: "mcp-wrong-key", wrong: true, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"401", "API key is missing or not valid"}, most: 2 + codexRetries, within: 30 * time.Second},

			{name: "unknown-model", model: "fake/other", prompt: "say pineapple", fails: []string{"fake/other"}, most: 1},
			// It waits as long as the Retry-After of the second call says.
			{name: "rate-limit", key: []string{"rate 1/s"}, model: "fake/agent", prompt: shell, says: fruit, calls: 2, most: 3},
			{name: "wrong-key", wrong: true, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"401", "API key is missing or not valid"}, most: 1 + codexRetries, within: 20 * time.Second},
			{name: "budget-used-up", key: spent, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"402", "budget"}, most: 1 + codexRetries, within: 20 * time.Second},
		},
	}
}

// inputOf are the arguments of a function that stands for a custom tool.
func inputOf(text string) string {
	arguments, _ := json.Marshal(map[string]string{"input": text}) // a text can be encoded
	return string(arguments)
}

// readCodex reads its events: a JSON object a line.
func readCodex(output, _ []byte) (said, failed string) {
	for line := range bytes.Lines(output) {
		var event struct {
			Type string `json:"type"`
			Item struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"item"`
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &event) != nil {
			continue
		}
		switch {
		case event.Type == "turn.failed":
			failed = event.Error.Message
		case event.Type == "item.completed" && event.Item.Type == "agent_message":
			said = event.Item.Text
		}
	}
	return said, failed
}
