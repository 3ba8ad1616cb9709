package catalog_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

func TestCapabilitiesFollowTheNameOfTheModel(t *testing.T) {
	same := map[string][]string{
		"claude-opus-5-5": {
			"anthropic/claude-opus-5.5", "global.anthropic.claude-opus-5-5-v1:0", "Claude-Opus-5-5",
		},
		"claude-opus-4-5":   {"claude-opus-4-5-20251101", "claude-opus-4-5@20251101", "anthropic/claude-opus-4.5:beta"},
		"claude-opus-4":     {"claude-opus-4-20250514", "claude-opus-4-0"},
		"claude-sonnet-3-7": {"claude-3-7-sonnet-20250219", "anthropic/claude-3.7-sonnet"},
		"claude-haiku-3":    {"claude-3-haiku-20240307"},
		"claude-sonnet-5":   {"claude-sonnet-5-20260630"},
		"claude-next":       {"claude-opus-5-6", "claude-opus-9", "claude-opus-12-1", "claude-saga-1", "my-claude", "claude-opus-latest"},
		"deepseek-chat":     {"glm-5", "kimi-k3", ""},
	}
	seen := map[string]string{}
	for name, others := range same {
		c := catalog.CapabilitiesOf(name)
		for _, other := range others {
			if got := catalog.CapabilitiesOf(other); !reflect.DeepEqual(got, c) {
				t.Errorf("%s is not as %s: %+v", other, name, got)
			}
		}
		if c.MaxOutput == 0 && strings.Contains(name, "claude") {
			t.Errorf("%s has no output", name)
		}
		seen[name] = c.Off()
	}
	want := map[string]string{
		"claude-opus-5-5": "", "claude-opus-4-5": "disabled", "claude-opus-4": "disabled", "claude-sonnet-3-7": "disabled",
		"claude-haiku-3": "", "claude-sonnet-5": "disabled", "claude-next": "", "deepseek-chat": "disabled",
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("thoughts are switched off by %v", seen)
	}
	if c := catalog.CapabilitiesOf("claude-sonnet-5-5"); c.Off() != "between_tools" || c.ForcedTools || c.Sampling != catalog.SamplingRefused {
		t.Errorf("Sonnet 5.5: %+v", c)
	}
	if c := catalog.CapabilitiesOf("claude-future"); c.Prefill || c.ForcedTools || !c.Thinks || c.Sampling != catalog.SamplingRefused {
		t.Errorf("an unknown Claude has not the strictest rules: %+v", c)
	}
}

// What a model is given differs from the table only where the file says so.
func TestAFileStatesCapabilities(t *testing.T) {
	const stated = `{"sampling":"ignored","thinking":["enabled"],"efforts":["low","max"],"thinks":false,"hides_thoughts":false,"prefill":true,"forced_tools":true}`
	want := catalog.Capabilities{
		Thinking: []string{"enabled"}, Efforts: []string{"low", "max"}, Sampling: catalog.SamplingIgnored, Prefill: true, ForcedTools: true, MaxOutput: 128_000,
	}
	for format, file := range map[string]string{
		"short form": `{"models":[{"capabilities":` + stated + `,"id":"anthropic/claude-opus-5-5"}]}`,
		"price map":  `{"claude-opus-5-5":{"litellm_provider":"anthropic","capabilities":` + stated + `}}`,
	} {
		m := one(t, file)
		if got := m.MessagesRules(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", format, got)
		}
	}
	m := one(t, `{"models":[{"id":"anthropic/claude-opus-5-5","max_output_tokens":9,"capabilities":{"sampling":"free"}}]}`)
	changed := catalog.CapabilitiesOf("claude-opus-5-5")
	changed.Sampling, changed.MaxOutput = catalog.SamplingFree, 9
	if got := m.MessagesRules(); !reflect.DeepEqual(got, changed) {
		t.Errorf("one field: %+v", got)
	}
	m = one(t, `{"models":[{"id":"anthropic/claude-haiku-4-5"}]}`)
	if got := m.MessagesRules(); !reflect.DeepEqual(got, catalog.CapabilitiesOf("claude-haiku-4-5")) {
		t.Errorf("nothing stated: %+v", got)
	}
}

func one(t *testing.T, file string) catalog.Model {
	t.Helper()
	models, err := catalog.Parse([]byte(file))
	if err != nil || len(models) != 1 {
		t.Fatalf("%s: %v, %d models", file, err, len(models))
	}
	return models[0]
}

func TestCapabilitiesThatAreNoneFailTheLoad(t *testing.T) {
	for stated, reason := range map[string]string{
		`{"sampling":"some"}`:            `"some" is not one of`,
		`{"thinking":["adaptive","on"]}`: `"on" is not one of`,
		`{"efforts":["huge"]}`:           `"huge" is not one of`,
		`{"prefil":true}`:                `unknown field "prefil"`,
		`{"prefill":"yes"}`:              "prefill",
		`{"prefill":null}`:               "null is not a value",
		`[]`:                             "not a JSON object",
	} {
		for _, file := range []string{
			`{"models":[{"id":"a/b","capabilities":` + stated + `}]}`, `{"b":{"litellm_provider":"a","capabilities":` + stated + `}}`,
		} {
			if _, err := catalog.Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), reason) || !strings.Contains(err.Error(), "capabilities") {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}
