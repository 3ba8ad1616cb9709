package catalog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// priceMap has the shapes of the public file: its description of itself, models under one key or
// two, and odd facts.
const priceMap = `{
  "sample_spec": {"litellm_provider": "one of …", "mode": "one of: chat, …", "max_tokens": "LEGACY parameter", "input_cost_per_token": 0.0},
  "fallback_generalizations": {"rules": []},
  "gpt-x": {
    "litellm_provider": "openai", "mode": "chat",
    "input_cost_per_token": 2.5e-06, "output_cost_per_token": 1e-05, "cache_read_input_token_cost": 1.25e-06,
    "cache_creation_input_token_cost": 0.0, "output_cost_per_reasoning_token": 1.2e-05,
    "input_cost_per_audio_token": 4e-05, "output_cost_per_audio_token": 8e-05,
    "input_cost_per_token_priority": 9, "input_cost_per_token_above_200k_tokens_priority": 9,
    "input_cost_per_token_above_200k_tokens": 5e-06, "output_cost_per_token_above_200k_tokens": 1.5e-05,
    "input_cost_per_token_above_128k_tokens": 3e-06, "cache_creation_input_token_cost_above_1hr": 5e-06,
    "cache_creation_input_token_cost_above_200k_tokens": 6.25e-06, "cache_creation_input_token_cost_above_1hr_above_200k_tokens": 1e-05,
    "cache_creation_input_token_cost_above_1hr_priority": 9,
    "max_input_tokens": 2000000.0, "max_output_tokens": "16384", "max_tokens": 16384,
    "supports_function_calling": true, "supports_response_schema": true, "supports_tool_choice": false, "supports_vision": true,
    "supported_endpoints": ["/v1/chat/completions", "/v1/responses"], "search_context_cost_per_query": {"low": 1}, "unheard_of": [1, {"a": null}]
  },
  "openrouter/anthropic/x:free": {"litellm_provider": "openrouter", "mode": "chat", "input_cost_per_token": 0, "output_cost_per_token": 0.0, "cache_read_input_token_cost": 0},
  "flash-latest": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 9e-06},
  "gemini/flash-latest": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 3e-07},
  "gemini/pro-latest": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 4e-07},
  "pro-latest": {"litellm_provider": "gemini", "mode": "chat", "input_cost_per_token": 9e-06},
  "no-mode": {"litellm_provider": "fireworks_ai", "input_cost_per_token": null, "output_cost_per_token": "see docs", "max_input_tokens": "many", "supports_vision": "yes"},
  "text-price": {"litellm_provider": "fireworks_ai", "mode": 7, "input_cost_per_token": "0.0000002", "output_cost_per_token": true, "max_input_tokens": -5, "max_tokens": 4096.5},
  "embed": {"litellm_provider": "openai", "mode": "embedding", "input_cost_per_token": 2e-08, "output_cost_per_token": 0.0},
  "computer": {"litellm_provider": "openai", "mode": "chat", "supported_endpoints": ["/v1/responses"]},
  "live": {"litellm_provider": "openai", "mode": "chat", "supported_endpoints": ["/v1/realtime"]},
  "online": {"litellm_provider": "perplexity", "mode": "chat", "input_cost_per_token": 0.0, "output_cost_per_token": 2.8e-07, "input_cost_per_request": 0.005},
  "qwen": {"litellm_provider": "dashscope", "mode": "chat", "tiered_pricing": [
    {"input_cost_per_token": 5e-08, "output_cost_per_token": 4e-07, "range": [0, 256000.0]},
    {"input_cost_per_token": 2.5e-07, "output_cost_per_token": 2e-06, "range": [256000.0, 1000000.0]}]},
  "search": {"litellm_provider": "exa_ai", "mode": "search", "tiered_pricing": [{"input_cost_per_query": 0.005, "max_results_range": [0, 25]}]}
}`

// parse returns the models of a file by id.
func parse(t testing.TB, file string) map[string]catalog.Model {
	t.Helper()
	list, err := catalog.Parse([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]catalog.Model{}
	for _, m := range list {
		if m.ID != m.Provider+"/"+m.Name {
			t.Errorf("id %q is not %q and %q", m.ID, m.Provider, m.Name)
		}
		byID[m.ID] = m
	}
	if len(byID) != len(list) || !slices.IsSortedFunc(list, func(a, b catalog.Model) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("%d models with %d ids, or not sorted", len(list), len(byID))
	}
	return byID
}

func TestPriceMapIsReadAsItIs(t *testing.T) {
	models := parse(t, priceMap)
	x := models["openai/gpt-x"]
	want := catalog.Rates{
		Prompt: usd(t, "2.5e-06"), Completion: usd(t, "1e-05"), CacheRead: usd(t, "1.25e-06"), CacheHour: usd(t, "5e-06"), Reasoning: usd(t, "1.2e-05"),
		Units: catalog.UnitRates{units.AudioInput: usd(t, "4e-05"), units.AudioOutput: usd(t, "8e-05")},
	}
	if x.Price == nil || x.Price.Rates != want {
		t.Fatalf("price is %+v, want %+v", x.Price, want)
	}
	tiers := []catalog.Tier{
		{From: 128_001, Rates: catalog.Rates{Prompt: usd(t, "3e-06")}},
		{From: 200_001, Rates: catalog.Rates{Prompt: usd(t, "5e-06"), Completion: usd(t, "1.5e-05"), CacheWrite: usd(t, "6.25e-06"), CacheHour: usd(t, "1e-05")}},
	}
	if !slices.Equal(x.Price.Tiers, tiers) {
		t.Errorf("tiers are %+v, want %+v", x.Price.Tiers, tiers)
	}
	if x.ContextLength != 2_000_000 || x.MaxOutput != 16_384 || x.Mode != catalog.ModeChat {
		t.Errorf("facts are %+v", x)
	}
	if !slices.Equal(x.SupportedParameters, []string{"tools", "response_format", "structured_outputs"}) || !slices.Equal(x.InputModalities, []string{"text", "image"}) {
		t.Errorf("words are %q, %q", x.SupportedParameters, x.InputModalities)
	}
	for id, mode := range map[string]string{
		"openai/embed": "embedding", "openai/computer": "responses", "openai/live": "realtime", "fireworks_ai/no-mode": "", "fireworks_ai/text-price": "",
	} {
		if models[id].Mode != mode {
			t.Errorf("%s: mode is %q, want %q", id, models[id].Mode, mode)
		}
	}
	if _, ok := models["one of …/sample_spec"]; ok || len(models) != 12 {
		t.Errorf("%d models, want 12 without the file's own description", len(models))
	}
}

func TestPriceMapPrefersTheKeyWithItsProvider(t *testing.T) {
	models := parse(t, priceMap)
	for id, want := range map[string]string{"gemini/flash-latest": "0.0000003", "gemini/pro-latest": "0.0000004"} {
		if m := models[id]; m.Price == nil || m.Price.Prompt.Rate.String() != want {
			t.Errorf("%s: %+v, want %s", id, m.Price, want)
		}
	}
}

func TestPriceMapUnknownFactsAreUnknown(t *testing.T) {
	models := parse(t, priceMap)
	for _, id := range []string{"fireworks_ai/no-mode", "perplexity/online", "exa_ai/search", "openai/live"} {
		if m := models[id]; m.ID == "" || m.Price != nil {
			t.Errorf("%s: price is %+v, want none", id, m.Price)
		}
	}
	m := models["fireworks_ai/text-price"]
	if m.Price == nil || m.Price.Prompt != usd(t, "2e-07") || m.Price.Completion.Known || m.ContextLength != 0 {
		t.Errorf("text-price is %+v, %+v", m, m.Price)
	}
	free := models["openrouter/anthropic/x:free"]
	if nano, ok := free.Price.CostNano(catalog.Tokens{Prompt: 5, Cached: 2, Completion: 5}); !ok || nano != 0 {
		t.Errorf("a free model costs %d, %v", nano, ok)
	}
	qwen := models["dashscope/qwen"].Price
	for prompt, want := range map[int64]int64{256_000: 256_000 * 50, 256_001: 256_001 * 250} {
		if nano, ok := qwen.CostNano(catalog.Tokens{Prompt: prompt}); !ok || nano != want {
			t.Errorf("%d tokens cost %d, %v, want %d", prompt, nano, ok, want)
		}
	}
}

// A fee that no token of a usage shows must not count as no fee.
func TestPriceMapHasNoPriceForWhatIsBilledApart(t *testing.T) {
	for rest, priced := range map[string]bool{
		``:                                       true,
		`, "output_cost_per_image_token": 3e-05`: true,
		`, "output_cost_per_image_token": 1e-06`: true,
		`, "output_cost_per_image": 0.04`:        false,
		`, "output_cost_per_video_token": 1e-04`: false,
		`, "output_cost_per_image": 0.0001, "supported_output_modalities": ["text"]`:                                              true,
		`, "output_cost_per_image_token": 3e-05, "output_cost_per_image": 0.04, "supported_output_modalities": ["text", "image"]`: true,
		`, "search_context_cost_per_query": {"search_context_size_low": 0.01}`:                                                    true,
	} {
		models := parse(t, `{"m": {"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-05`+rest+`}}`)
		if m := models["p/m"]; (m.Price != nil) != priced {
			t.Errorf("%s: price is %+v, want priced %v", rest, m.Price, priced)
		}
	}
	for name, priced := range map[string]bool{
		"gpt-x-search-preview": false, "sonar-pro": false, "x/sonar": false, "pplx-online": false, "gpt-x": true, "nousresearch/hermes": true, "o3-deep-research": true,
	} {
		models := parse(t, `{"`+name+`": {"litellm_provider": "p", "mode": "chat", "input_cost_per_token": 1e-06, "output_cost_per_token": 1e-05}}`)
		if m := models["p/"+name]; m.ID == "" || (m.Price != nil) != priced {
			t.Errorf("%s: price is %+v, want priced %v", name, m.Price, priced)
		}
	}
	if _, err := catalog.Parse([]byte(`{"m": {"litellm_provider": "p", "output_cost_per_image_token": -1}}`)); err == nil || !strings.Contains(err.Error(), "output_cost_per_image_token") {
		t.Errorf("a negative rate: %v", err)
	}
}

func TestPriceMapNamesBrokenEntries(t *testing.T) {
	_, err := catalog.Parse([]byte(`{
	  "good": {"litellm_provider": "openai"},
	  "no-object": 7,
	  "no-provider": {"mode": "chat"},
	  "openai/": {"litellm_provider": "openai"},
	  "slash": {"litellm_provider": "a/b"},
	  "bell\u0007": {"litellm_provider": "openai"},
	  "negative": {"litellm_provider": "openai", "output_cost_per_token": -1e-6},
	  "huge": {"litellm_provider": "openai", "cache_read_input_token_cost": 1e30},
	  "huge-tier": {"litellm_provider": "openai", "input_cost_per_token": 1e-6, "input_cost_per_token_above_200k_tokens": 1e30}
	}`))
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`"no-object": not a JSON object`, `"no-provider": litellm_provider is missing`, `"openai/": name is empty`, `"slash": provider contains a slash`,
		`"bell\a": name contains the character '\a'`, `"negative": output_cost_per_token: "-1e-6": negative price`,
		`"huge": cache_read_input_token_cost: "1e30": number out of range`, `"huge-tier": input_cost_per_token_above_200k_tokens: "1e30": number out of range`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %s:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), `"good"`) {
		t.Errorf("the error names a good entry: %v", err)
	}
}

func TestErrorsStaySmall(t *testing.T) {
	var file strings.Builder
	file.WriteString(`{"good": {"litellm_provider": "openai"}`)
	for i := range 1000 {
		fmt.Fprintf(&file, `, "%s-%d": 1`, strings.Repeat("x", 500), i)
	}
	file.WriteString(`}`)
	_, err := catalog.Parse([]byte(file.String()))
	if err == nil || !strings.Contains(err.Error(), "and 990 more entries") || len(err.Error()) > 2000 {
		t.Errorf("error is %.300v", err)
	}
}
