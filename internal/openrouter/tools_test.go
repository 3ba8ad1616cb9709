package openrouter_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

func TestWhatOpenRouterRunsItself(t *testing.T) {
	for _, c := range []struct {
		model, body string
		shell       bool
		tool, field string
	}{
		{"a/b", `{"plugins":[{"id":"web"}]}`, false, "plugins", "plugins"},
		{"a/b", `{"plugins":null}`, false, "", ""},
		{"a/b", `{"deferred_tools":[]}`, false, "deferred_tools", "deferred_tools"},
		{"a/b", `{}`, true, "shell, which OpenRouter runs itself", "tools"},
		{"a/b:online", `{}`, false, ":online", "model"},
		{"a/b:free:ONLINE", `{}`, false, ":online", "model"},
		{"a/online", `{}`, false, "", ""},
		{"a/b@preset/x", `{}`, false, "@preset", "model"},
		{"a/b:free", `{}`, false, "", ""},
	} {
		var b jsonscan.Body
		if err := b.Parse([]byte(c.body)); err != nil {
			t.Fatal(err)
		}
		tools := params.ToolUse{LocalShell: c.shell}
		openrouter.AddHostedTools(&tools, c.model, &b)
		if tools.Hosted != c.tool || tools.HostedIn != c.field {
			t.Errorf("%s %s: %q in %q", c.model, c.body, tools.Hosted, tools.HostedIn)
		}
	}
}
