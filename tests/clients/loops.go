//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/gatehouse-proxy/gatehouse/tests/process"
)

// loops are the programs of docs/agents.md as they are there: a model's computer tool at a desktop.
func loops(p programs) []client {
	const openaiSteps = `use computer [{"type":"screenshot"}]
then use computer [{"type":"click","button":"left","x":405,"y":157},{"type":"type","text":"Ada Lovelace"},{"type":"click","button":"left","x":315,"y":225}]
then use computer [{"type":"double_click","x":500,"y":300},{"type":"type","text":"first"}]
then use computer [{"type":"click","button":"left","x":820,"y":640}]`
	const anthropicSteps = `use computer {"action":"screenshot"}
then use computer {"action":"left_click","coordinate":[405,157]}
then use computer {"action":"type","text":"Ada Lovelace"}
then use computer {"action":"left_click","coordinate":[315,225]}
then use computer {"action":"left_click","coordinate":[500,300]}
then use computer {"action":"type","text":"first"}
then use computer {"action":"left_click","coordinate":[820,640]}`
	loop := func(name, version string, block int, s scenario) client {
		s.name = "desktop"
		return client{
			name: name, version: version, missing: process.Absent(p.python, "python"), read: readText("Traceback"),
			command: func(ctx context.Context, r run) *exec.Cmd {
				file := filepath.Join(r.dir, "loop.py")
				if err := programOf(filepath.Join(p.sources, "../../docs/agents.md"), block, file); err != nil {
					return exec.CommandContext(ctx, "echo", err.Error()) // which is not what the model says
				}
				cmd := exec.CommandContext(ctx, p.python, file, "desk1", r.prompt)
				cmd.Env = []string{"GATEWAY_URL=" + r.origin, "GATEWAY_API_KEY=" + r.secret, "MODEL=" + r.model}
				return cmd
			},
			scenarios: []scenario{s},
		}
	}
	return []client{
		loop("loop-openai", "3.54.0", 0, scenario{model: "fake/agent", prompt: openaiSteps, says: "The tool said:", calls: 5, most: 10, carries: []string{`"type":"computer"`}}),
		loop("loop-anthropic", "2.12.0", 1, scenario{model: "claude/agent", prompt: anthropicSteps, says: "The tool said: The pointer is at 820, 640.", calls: 8, most: 16,
			carries: []string{`"type":"computer_20251124"`}}),
	}
}

var pythonBlock = regexp.MustCompile("(?s)```python\n(.*?)```")

// programOf writes a block of Python of a page of the manual to a file.
func programOf(page string, block int, file string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	all := pythonBlock.FindAllSubmatch(text, -1)
	if block >= len(all) {
		return fmt.Errorf("%s has %d programs", page, len(all))
	}
	return os.WriteFile(file, all[block][1], 0o600)
}
