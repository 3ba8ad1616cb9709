//go:build linux

package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// libraries are programs of libraries that call models. Each takes the API as an argument, and the
// rest as agents does.
func libraries(p programs) []client {
	python, node := process.Absent(p.libraries, "libraries"), process.Absent(p.node, "node")
	return []client{
		library("langchain-openai", "1.7.3", python, p.libraries, filepath.Join(p.sources, "python", "langchain_agent.py"), "chat", "responses"),
		library("pydantic-ai", "2.68.0", python, p.libraries, filepath.Join(p.sources, "python", "pydantic_ai_agent.py"), "chat", "responses"),
		library("litellm", "1.83.0", python, p.libraries, filepath.Join(p.sources, "python", "litellm_agent.py"), "chat"),
		library("ai-sdk", "6.0.326", node, "node", filepath.Join(p.node, "ai_sdk_agent.mjs"), "chat", "responses", "compatible"),
	}
}

// library is a program that answers like those of the Agents SDK.
func library(name, version, missing, program, script string, apis ...string) client {
	const read = `use read_file {"name":"fruit.txt"}`
	c := client{
		name: name, version: version, more: true, missing: missing, script: script,
		command: func(ctx context.Context, r run) *exec.Cmd {
			cmd := exec.CommandContext(ctx, program, append([]string{script}, r.options...)...)
			cmd.Env = []string{"GATEWAY_BASE_URL=" + r.origin + "/v1", "GATEWAY_API_KEY=" + r.secret, "GATEWAY_MODEL=" + r.model}
			return cmd
		},
		read: readAgents,
	}
	for _, api := range apis {
		translated := map[string]string{"chat": "responsesonly/agent", "compatible": "responsesonly/agent", "responses": "chatonly/agent"}[api]
		options := []string{api}
		c.scenarios = append(c.scenarios,
			scenario{name: api + "-text", options: options, model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1},
			scenario{name: api + "-budget-tool", options: options, key: budget, model: "fake/agent", prompt: read, says: fruit, calls: 2, costs: true},
			scenario{name: api + "-translated-tool", options: options, model: translated, prompt: read, says: fruit, calls: 2},
			scenario{name: api + "-wrong-key", options: options, wrong: true, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"API key is missing or not valid"}, most: 1, within: 30 * time.Second},
			scenario{name: api + "-budget-used-up", options: options, key: spent, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"budget"}, most: 1, within: time.Minute},
		)
	}
	return c
}
