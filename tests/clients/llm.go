//go:build linux

package main

import (
	"bytes"
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// llm is the command line program of that name. The options of a scenario are more arguments.
func llm(p programs) client {
	const read = `use read_file {"name":"fruit.txt"}`
	tools := []string{"--functions", filepath.Join(p.sources, "python", "read_file.py"), "--chain-limit", "3"}
	return client{
		name: "llm", version: "0.36", missing: process.Absent(p.python, "python"),
		settings: func(scenario) []setting {
			return []setting{
				{file: "extra-openai-models.yaml", text: `- model_id: gatehouse
  model_name: PROVIDER/MODEL
  api_base: https://gateway.example/v1
  api_key_name: gatehouse
  supports_tools: true
  supports_schema: true
  vision: true
`},
				{file: "keys.json", text: `{"gatehouse": "YOUR_KEY"}
`},
			}
		},
		command: func(ctx context.Context, r run) *exec.Cmd {
			cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(p.python), "llm"), append([]string{"prompt", "-m", "gatehouse", "--no-log"}, r.options...)...)
			cmd.Env = []string{"LLM_USER_PATH=" + r.home}
			return cmd
		},
		read: readText("Error: "),
		scenarios: []scenario{
			{name: "text", model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1, carries: []string{`"stream":true`}},
			{name: "whole", options: []string{"--no-stream"}, model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1},
			{name: "budget-tool", options: tools, key: budget, model: "fake/agent", prompt: read, says: fruit, calls: 2, costs: true},
			{name: "translated-tool", options: tools, model: "responsesonly/agent", prompt: read, says: fruit, calls: 2, carries: []string{`"input":`}},
			{name: "wrong-key", wrong: true, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"API key is missing or not valid"}, most: 1, within: 20 * time.Second},
			{name: "budget-used-up", key: spent, model: "fake/agent", prompt: "say pineapple", fails: []string{"budget"}, most: 1, within: 20 * time.Second},
		},
	}
}

// readText reads what a program shows as text; an error begins with mark.
func readText(mark string) func(stdout, stderr []byte) (said, failed string) {
	return func(stdout, stderr []byte) (said, failed string) {
		for _, output := range [][]byte{stdout, stderr} {
			if at := bytes.Index(output, []byte(mark)); at >= 0 {
				return "", string(output[at:])
			}
		}
		return strings.TrimSpace(string(stdout)), ""
	}
}
