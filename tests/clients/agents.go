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

// agents is a program of the OpenAI Agents SDK. The options of a scenario are the API that it calls
// and its tools.
func agents(p programs) client {
	const read = `use read_file {"name":"fruit.txt"}`
	responses, chat := []string{"responses", "functions"}, []string{"chat", "functions"}
	local := []string{"responses", "local"}
	ownTools := []string{`"type":"namespace"`, `"type":"custom"`, `"type":"shell"`}
	return client{
		name: "openai-agents", version: "0.24.0", missing: process.Absent(p.python, "python"), script: filepath.Join(p.sources, "python", "agent.py"),
		command: func(ctx context.Context, r run) *exec.Cmd {
			script := filepath.Join(p.sources, "python", "agent.py")
			cmd := exec.CommandContext(ctx, p.python, append([]string{script}, r.options...)...)
			cmd.Env = []string{"GATEWAY_BASE_URL=" + r.origin + "/v1", "GATEWAY_API_KEY=" + r.secret, "GATEWAY_MODEL=" + r.model}
			return cmd
		},
		read: readAgents,
		scenarios: []scenario{
			{name: "text", options: responses, model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1},
			{name: "tool", options: responses, model: "fake/agent", prompt: read, says: fruit, calls: 2},
			{name: "chat-tool", options: chat, model: "fake/agent", prompt: read, says: fruit, calls: 2},
			{name: "namespace", options: local, model: "fake/agent", prompt: `use count {"what":"pear"}`, says: "pear has 4 letters", calls: 2, carries: ownTools},
			{name: "budget-tool", options: responses, key: budget, model: "fake/agent", prompt: read, says: fruit, calls: 2, costs: true},
			{name: "budget-custom-tool", options: local, key: budget, model: "fake/agent", prompt: "use shout pear", says: "PEAR", calls: 2, costs: true, carries: ownTools},
			{name: "translated-responses", options: responses, key: budget, model: "chatonly/agent", prompt: read, says: fruit, calls: 2, costs: true,
				carries: []string{`"messages":`}},
			{name: "translated-chat", options: chat, model: "responsesonly/agent", prompt: read, says: fruit, calls: 2, carries: []string{`"input":`}},
			{name: "hosted-tool", options: []string{"responses", "hosted"}, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"PermissionDeniedError", "web_search"}, most: 1},
			{name: "wrong-key", wrong: true, options: responses, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"AuthenticationError", "API key is missing or not valid"}, most: 1, within: 20 * time.Second},
			{name: "budget-used-up", key: spent, options: responses, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"budget"}, most: 1, within: 20 * time.Second},
		},
	}
}

func readAgents(output, _ []byte) (said, failed string) {
	var result struct{ Said, Failed string }
	if err := json.Unmarshal(output, &result); err != nil {
		return "", err.Error()
	}
	return result.Said, result.Failed
}
