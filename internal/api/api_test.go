package api

import (
	"strings"
	"testing"
)

func TestParseFamily(t *testing.T) {
	for name, ids := range map[string]bool{"openai": false, "openrouter": true} {
		if f, err := Parse(name); err != nil || f.Name() != name || f.ShowsGenerationID() != ids {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	if _, err := Parse("OpenAI"); err == nil || !strings.Contains(err.Error(), `unknown family "OpenAI"; known families: openai, openrouter`) {
		t.Errorf("error %v", err)
	}
}

func TestFamilyOfUnknownURLs(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/nothing": "openai", "/api/v1/nothing": "openrouter", "/v1": "", "/api/v2/x": "", "/": "", "/v10/x": "",
	} {
		got := ""
		if f, ok := Of(path); ok {
			got = f.Name()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
