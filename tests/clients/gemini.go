//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// gemini is Gemini CLI without its screen. It calls Google's API below /v1beta.
func gemini(p programs) client {
	const (
		model = "gemini/gemini-3-agent"
		read  = `use read_file {"file_path":"fruit.txt"}`
		pine  = "say pineapple"
	)
	asked := []string{`"role":"system"`, `"name":"read_file"`} // as the fake asks itself
	program := filepath.Join(p.node, "node_modules/@google/gemini-cli/bundle/gemini.js")
	return client{
		name: "gemini-cli", version: "0.61.0", more: true, missing: process.Absent(p.node, "node"),
		settings: func(scenario) []setting {
			return []setting{
				{text: `GOOGLE_GEMINI_BASE_URL=https://gateway.example
GEMINI_API_KEY=YOUR_KEY
GEMINI_MODEL=PROVIDER/MODEL
`},
				{file: ".gemini/settings.json", text: `{"security": {"auth": {"selectedType": "gemini-api-key"}}}
`},
			}
		},
		command: func(ctx context.Context, r run) *exec.Cmd {
			cmd := exec.CommandContext(ctx, "node", program, "--output-format", "json")
			// By default it starts itself again for more memory, and runs in folders only that its user trusts.
			cmd.Env = []string{"GEMINI_CLI_NO_RELAUNCH=true", "GEMINI_CLI_TRUST_WORKSPACE=true", "TMPDIR=" + r.home}
			return cmd
		},
		read: readGemini,
		scenarios: []scenario{
			{name: "text", model: model, prompt: pine, says: "say pineapple", calls: 1, carries: asked},
			{name: "budget-tool", key: budget, model: model, prompt: read, says: fruit, calls: 2, costs: true, carries: asked},
			{name: "wrong-key", wrong: true, model: model, prompt: pine,
				fails: []string{"API key is missing or not valid"}, most: 1, within: 30 * time.Second},
			{name: "budget-used-up", key: spent, model: model, prompt: pine, fails: []string{"budget"}, most: 1, within: time.Minute},
		},
	}
}

// readGemini reads its one JSON object. If it failed, that is behind its log.
func readGemini(stdout, stderr []byte) (said, failed string) {
	var result struct {
		Response string
		Error    struct{ Message string }
	}
	if len(stdout) == 0 {
		stdout = stderr[max(0, bytes.LastIndex(stderr, []byte("\n{\n"))):]
	}
	if err := json.Unmarshal(stdout, &result); err != nil {
		return "", err.Error()
	}
	return result.Response, result.Error.Message
}
