//go:build linux

package main

import (
	"context"
	"os/exec"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// aiderRetries is how often aider sends a call again after 402, for a minute in all.
const aiderRetries = 9

// aider asks for one message. It has no tools: the model answers with the edit of a file.
func aider(p programs) client {
	const edit = "the answer is\nfruit.txt\n```\nmango\n```"
	return client{
		name: "aider", version: "0.86.2", more: true, missing: process.Absent(p.aider, "aider"),
		settings: func(scenario) []setting {
			return []setting{{text: `OPENAI_API_BASE=https://gateway.example/v1
OPENAI_API_KEY=YOUR_KEY
AIDER_MODEL=openai/PROVIDER/MODEL
AIDER_SHOW_MODEL_WARNINGS=false
`}}
		},
		command: func(ctx context.Context, r run) *exec.Cmd {
			return exec.CommandContext(ctx, p.aider, append([]string{"--message", r.prompt, "--no-git", "--no-pretty", "--yes-always", "--no-check-update",
				"--no-analytics", "--edit-format", "whole", "--map-tokens", "0", "--timeout", "20"}, r.options...)...)
		},
		read: readText("litellm."),
		scenarios: []scenario{
			{name: "text", model: "fake/agent", prompt: "say pineapple", says: "say pineapple", calls: 1, carries: []string{`"stream":true`}},
			{name: "budget-edit", key: budget, options: []string{"fruit.txt"}, model: "fake/agent", prompt: edit, says: "Applied edit to fruit.txt", calls: 1, costs: true},
			{name: "translated", model: "responsesonly/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1, carries: []string{`"input":`}},
			{name: "wrong-key", wrong: true, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"API key is missing or not valid"}, most: 1, within: 40 * time.Second},
			{name: "budget-used-up", key: spent, model: "fake/agent", prompt: "say pineapple", fails: []string{"budget"}, most: 1 + aiderRetries},
		},
	}
}
