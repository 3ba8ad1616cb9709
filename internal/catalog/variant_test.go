package catalog_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

const variantMap = `{
  "vertex_ai/claude-x@20261001": {"litellm_provider": "vertex_ai-anthropic_models", "mode": "chat",
    "input_cost_per_token": 3e-06, "output_cost_per_token": 1.5e-05, "regional_endpoint_uplift_multiplier": 1.1},
  "gemini-3.8-flash": {"litellm_provider": "vertex_ai-language-models", "mode": "chat",
    "input_cost_per_token": 1e-06, "output_cost_per_token": 4e-06, "cache_read_input_token_cost": 1e-07,
    "input_cost_per_token_priority": 2e-06, "output_cost_per_token_priority": 8e-06, "cache_read_input_token_cost_priority": 2e-07,
    "input_cost_per_token_flex": 5e-07, "output_cost_per_token_flex": 2e-06},
  "amazon.nova-2-lite-v1:0": {"litellm_provider": "bedrock_converse", "mode": "chat", "input_cost_per_token": 3e-07, "output_cost_per_token": 1e-06}
}`

func TestAProviderHasAVariantOfThePrices(t *testing.T) {
	models, err := catalog.Parse([]byte(variantMap))
	if err != nil {
		t.Fatal(err)
	}
	const million = 1_000_000
	for _, c := range []struct {
		catalogName, model, variant string
		nano                        int64 // of a million tokens each way, and half a million read from the cache; -1: unknown
	}{
		{"vertex_ai", "claude-x@20261001", "", 18_000_000_000},
		{"vertex_ai", "claude-x@20261001", "regional", 19_800_000_000},
		{"vertex_ai", "claude-x@20261001", "priority", -1},
		{"vertex_ai", "gemini-3.8-flash", "regional", 4_550_000_000},
		{"vertex_ai", "gemini-3.8-flash", "priority", 9_100_000_000},
		{"vertex_ai", "gemini-3.8-flash", "flex", 2_300_000_000},
		{"bedrock", "amazon.nova-2-lite-v1:0", "", 1_300_000_000},
	} {
		index, err := catalog.NewCatalog(models, []catalog.Source{{Provider: "cloud", Patterns: []string{"*"}, CatalogName: c.catalogName, Variant: c.variant}})
		if err != nil {
			t.Fatal(err)
		}
		m, err := index.Resolve("cloud/" + c.model)
		if err != nil {
			t.Fatal(err)
		}
		nano, known := m.Price.CostNano(catalog.Tokens{Prompt: million, Cached: million / 2, Completion: million})
		if !known {
			nano = -1
		}
		if nano != c.nano {
			t.Errorf("%s %s: %d, want %d", c.model, c.variant, nano, c.nano)
		}
	}
}

func TestUnknownVariantsAreRefused(t *testing.T) {
	if catalog.ValidVariant("regional") != nil || catalog.ValidVariant("") != nil || catalog.ValidVariant("batch") == nil {
		t.Error("want regional and none only")
	}
}
