//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"time"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// opencode runs one message without its screen. The options of a scenario are the package that it
// uses for the gateway, and the path of the API.
func opencode(p programs) client {
	const shell = `use bash {"command":"cat fruit.txt","description":"reads a file"}`
	chat := []string{"@ai-sdk/openai-compatible", "/v1"} // chat completions
	responses := []string{"@ai-sdk/openai", "/v1"}
	openRouter := []string{"@openrouter/ai-sdk-provider", "/api/v1"}
	return client{
		name: "opencode", version: "1.18.33", missing: process.Absent(p.opencode, "opencode"),
		settings: opencodeSettings,
		command: func(ctx context.Context, r run) *exec.Cmd {
			// Without --title it would ask a model for one, in a separate call.
			cmd := exec.CommandContext(ctx, p.opencode, "run", "--format", "json", "--title", "test", "--model", "gatehouse/"+r.model)
			cmd.Env = []string{"OPENCODE_CONFIG_CONTENT=" + opencodeRest(r),
				"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
				"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_SHARE=1", "OPENCODE_PURE=1",
				"npm_config_offline=true", // it would install a package for plugins, of which there are none
			}
			return cmd
		},
		read: readOpencode,
		scenarios: []scenario{
			{name: "text", options: chat, model: "fake/agent", prompt: "say pineapple", says: "You said: say pineapple", calls: 1},
			{name: "budget-tool", options: chat, key: budget, model: "fake/agent", prompt: shell, says: fruit, calls: 2, costs: true,
				carries: []string{`"max_tokens":`}},
			{name: "openrouter-tool", options: openRouter, model: "fake/agent", prompt: shell, says: fruit, calls: 2},
			{name: "responses-tool", options: responses, model: "fake/gpt-5.5-agent", prompt: shell, says: fruit, calls: 2,
				carries: []string{`"reasoning.encrypted_content"`, `"verbosity":`}},
			{name: "translated-chat", options: chat, model: "responsesonly/agent", prompt: shell, says: fruit, calls: 2,
				carries: []string{`"input":`}},
			{name: "translated-responses", options: responses, key: budget, model: "chatonly/agent", prompt: shell, says: fruit, calls: 2,
				costs: true, carries: []string{`"messages":`}},
			{name: "wrong-key", wrong: true, options: chat, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"API key is missing or not valid"}, most: 1, within: 30 * time.Second},
			{name: "budget-used-up", key: spent, options: chat, model: "fake/agent", prompt: "say pineapple",
				fails: []string{"budget"}, most: 1, within: time.Minute},
		},
	}
}

// opencodeSettings has the gateway as a provider.
func opencodeSettings(s scenario) []setting {
	text := `{
  "provider": {
    "gatehouse": {
      "npm": "` + s.options[0] + `",
      "options": {"baseURL": "https://gateway.example` + s.options[1] + `", "apiKey": "YOUR_KEY"},
      "models": {"PROVIDER/MODEL": {}}
    }
  }
}
`
	return []setting{{file: "config/opencode/opencode.json", text: text}}
}

// opencodeRest has what a test needs besides the settings.
func opencodeRest(r run) string {
	config := map[string]any{
		"autoupdate": false, "share": "disabled", "snapshot": false, "lsp": false, "formatter": false,
		"enabled_providers": []string{"gatehouse"}, "small_model": "gatehouse/" + r.model,
	}
	text, err := json.Marshal(config)
	if err != nil {
		panic(fmt.Sprintf("clients: encoding: %v", err))
	}
	return string(text)
}

// readOpencode reads its events: a JSON object a line.
func readOpencode(output, _ []byte) (said, failed string) {
	for line := range bytes.Lines(output) {
		var event struct {
			Type string `json:"type"`
			Part struct {
				Text string `json:"text"`
			} `json:"part"`
			Error struct {
				Data struct {
					Message string `json:"message"`
				} `json:"data"`
			} `json:"error"`
		}
		if json.Unmarshal(line, &event) != nil {
			continue
		}
		switch event.Type {
		case "error":
			failed = event.Error.Data.Message
		case "text":
			said = event.Part.Text
		}
	}
	return said, failed
}
