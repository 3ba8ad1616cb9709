package openrouter

import (
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// AddHostedTools adds the ways in which a request makes OpenRouter itself run tools, as its API
// documents them: plugins (web search, files), the search of deferred tools, a shell (OpenRouter
// knows no local one), a model variant that searches the web, and presets. model is the name at
// OpenRouter.
func AddHostedTools(use *params.ToolUse, model string, b *jsonscan.Body) {
	for _, field := range [...]string{"plugins", "deferred_tools"} {
		if i, ok := b.Find(field); ok && b.Members()[i].Kind != 'n' {
			use.AddHosted(field, field)
		}
	}
	if use.LocalShell {
		use.AddHosted("shell, which OpenRouter runs itself", "tools")
	}
	_, variants, _ := strings.Cut(strings.ToLower(model), ":")
	if slices.Contains(strings.Split(variants, ":"), "online") {
		use.AddHosted(":online", "model")
	}
	if strings.Contains(model, "@preset/") { // replaces prompt and model by what the account says
		use.AddHosted("@preset", "model")
	}
}
