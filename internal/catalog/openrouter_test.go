package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

const openRouterList = `{"data": [
  {"id": "anthropic/x", "canonical_slug": "anthropic/x-1", "name": "Anthropic: X", "created": 1700000000, "description": "A model.", "context_length": 200000,
   "architecture": {"modality": "text+image->text", "input_modalities": ["text", "image"], "output_modalities": ["text"], "tokenizer": "Claude", "instruct_type": null},
   "pricing": {"prompt": "0.000003", "completion": "0.000015", "request": "0", "image": "0", "web_search": "0.01", "internal_reasoning": "0",
     "input_cache_read": "0.0000003", "input_cache_write": "0.00000375", "audio": "0.000024",
     "overrides": [{"min_prompt_tokens": 200000, "prompt": "0.000006", "completion": "0.0000225"}]},
   "top_provider": {"context_length": 200000, "max_completion_tokens": 64000, "is_moderated": true}, "per_request_limits": null,
   "supported_parameters": ["tools", "tool_choice"], "default_parameters": {"temperature": null}},
  {"id": "openrouter/auto", "name": "Auto", "created": 1, "context_length": null, "pricing": {"prompt": "-1", "completion": "-1"}, "top_provider": {"max_completion_tokens": null}},
  {"id": "a/free:free", "pricing": {"prompt": "0", "completion": "0"}},
  {"id": "a/by-request", "pricing": {"prompt": "0.000001", "completion": "0.000001", "request": "0.005"}},
  {"id": "a/odd-tiers", "pricing": {"prompt": "0.000001", "completion": "0.000001", "overrides": {"x": 1}}},
  {"id": "a/null-tiers", "pricing": {"prompt": "0.000001", "completion": "0.000001", "overrides": null, "image": null}},
  {"id": "a/hour", "pricing": {"prompt": "0.000003", "completion": "0.000015", "input_cache_write": "0.00000375", "input_cache_write_1h": "0.000006"}},
  {"id": "a/draws", "architecture": {"output_modalities": ["image", "text"]}, "pricing": {"prompt": "0.0000003", "completion": "0.0000025", "image_output": "0.00003"}},
  {"id": "a/writes", "architecture": {"output_modalities": ["text"]}, "pricing": {"prompt": "0.0000003", "completion": "0.0000025", "image_output": "0.00003"}},
  {"id": "a/sonar", "pricing": {"prompt": "0.000001", "completion": "0.000001", "web_search": "0.005"}},
  {"id": "a/painter", "architecture": {"output_modalities": ["image"]}, "pricing": {}},
  {"id": "a/bare"}
]}`

func TestOpenRouterListIsReadAsItIs(t *testing.T) {
	models := parse(t, openRouterList)
	x := models["openrouter/anthropic/x"]
	want := catalog.Rates{
		Prompt: usd(t, "3e-06"), Completion: usd(t, "1.5e-05"), CacheRead: usd(t, "3e-07"), CacheWrite: usd(t, "3.75e-06"), Units: catalog.UnitRates{units.AudioInput: usd(t, "2.4e-05")},
	}
	if x.Price == nil || x.Price.Rates != want {
		t.Fatalf("price is %+v, want %+v", x.Price, want)
	}
	if tiers := []catalog.Tier{{From: 200_000, Rates: catalog.Rates{Prompt: usd(t, "6e-06"), Completion: usd(t, "2.25e-05")}}}; !slices.Equal(x.Price.Tiers, tiers) {
		t.Errorf("tiers are %+v", x.Price.Tiers)
	}
	if x.Provider != "openrouter" || x.Name != "anthropic/x" || x.DisplayName != "Anthropic: X" || x.Description != "A model." || x.Created != 1_700_000_000 ||
		x.ContextLength != 200_000 || x.MaxOutput != 64_000 || !x.Moderated || x.Mode != catalog.ModeChat {
		t.Errorf("facts are %+v", x)
	}
	if !slices.Equal(x.InputModalities, []string{"text", "image"}) || !slices.Equal(x.SupportedParameters, []string{"tools", "tool_choice"}) {
		t.Errorf("words are %q, %q", x.InputModalities, x.SupportedParameters)
	}
	for id, priced := range map[string]bool{
		"openrouter/openrouter/auto": false, "openrouter/a/free:free": true, "openrouter/a/by-request": true, "openrouter/a/odd-tiers": false,
		"openrouter/a/null-tiers": true, "openrouter/a/bare": false, "openrouter/a/draws": true, "openrouter/a/writes": true, "openrouter/a/sonar": false,
	} {
		if m := models[id]; m.ID == "" || (m.Price != nil) != priced {
			t.Errorf("%s: price is %+v, want priced %v", id, m.Price, priced)
		}
	}
	if draws, writes := models["openrouter/a/draws"].Price, models["openrouter/a/writes"].Price; !draws.PicturesApart() || writes.PicturesApart() {
		t.Errorf("pictures cost %+v and %+v", draws, writes)
	}
	if p := models["openrouter/a/hour"].Price; p == nil || p.CacheWrite != usd(t, "3.75e-06") || p.CacheHour != usd(t, "6e-06") {
		t.Errorf("written to the cache for an hour: %+v", p)
	}
	if m := models["openrouter/a/painter"]; m.Serves(catalog.OpChat) || m.Serves(catalog.OpResponses) {
		t.Errorf("a model without text in its answers serves: %+v", m)
	}
}

func TestParseDiscovered(t *testing.T) {
	models, odd, err := catalog.ParseDiscovered("local", []byte(`{"object": "list", "data": [
	  {"id": "z", "object": "model", "created": 1700000001, "owned_by": "vllm", "max_model_len": 8192, "root": "/srv"},
	  {"id": "a:free", "created": null, "owned_by": 7, "context_window": 131072, "max_completion_tokens": 4096, "pricing": {"prompt": 0.2, "completion": 0.4}},
	  {"id": "z", "owned_by": "again"},
	  {"id": "m/n", "pricing": {"prompt": "0.000001", "completion": "0.000002"}}
	], "has_more": false}`))
	if err != nil || odd != nil {
		t.Fatal(odd, err)
	}
	ids := make([]string, 0, len(models))
	for _, m := range models {
		ids = append(ids, m.ID)
	}
	if !slices.Equal(ids, []string{"local/a:free", "local/m/n", "local/z"}) {
		t.Fatalf("ids are %q", ids)
	}
	if m := models[0]; m.Price != nil || m.ContextLength != 131_072 || m.MaxOutput != 4096 || m.OwnedBy != "" || m.Created != 0 {
		t.Errorf("a:free is %+v", m)
	}
	if m := models[1]; m.Price == nil || m.Price.Completion != usd(t, "2e-06") {
		t.Errorf("m/n costs %+v", m.Price)
	}
	if m := models[2]; m.OwnedBy != "vllm" || m.Created != 1_700_000_001 || m.ContextLength != 8192 || m.Mode != "" || m.Name != "z" {
		t.Errorf("z is %+v", m)
	}
}

func TestParseDiscoveredDistinguishesNothingFromNonsense(t *testing.T) {
	for _, body := range []string{`{"data": []}`, `{"object": "list", "data": null}`} {
		if models, odd, err := catalog.ParseDiscovered("p", []byte(body)); err != nil || odd != nil || models == nil || len(models) != 0 {
			t.Errorf("%s: %v, %v, want an empty list", body, models, err)
		}
	}
	for body, want := range map[string]string{
		``:                             "not a JSON object",
		`[]`:                           "not a JSON object",
		`{}`:                           `no "data"`,
		`{"error": {"message": "no"}}`: `no "data"`,
		`{"data": {"id": "a"}}`:        "data: not a JSON array",
		`{"data": [`:                   "unexpected",
		`{"data": []} {}`:              "more text",
		`{"data": [{"x": "y"}]}`:       `"data[0] ": id is missing`,
		`{"data": ["a"]}`:              "not a JSON object",
		`{"data": [{"id": 7}]}`:        "id is missing",
		`{"data": [{"id": "a\nb"}]}`:   "name contains the character",
		`{"data": [{"id": "` + strings.Repeat("n", 257) + `"}]}`:       "257 bytes",
		`{"data": [` + strings.Repeat("1,", catalog.MaxModels) + `1]}`: "more than 50000 elements",
		strings.Repeat(" ", catalog.MaxDiscoveryBytes+1):               "bytes, more than",
	} {
		if _, _, err := catalog.ParseDiscovered("p", []byte(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %.200v, want an error with %q", body, err, want)
		}
	}
}

func TestOddEntriesOfADiscoveredListAreLeftOut(t *testing.T) {
	for entry, want := range map[string]string{
		`null`:           `"data[1] ": not a JSON object`,
		`7`:              `"data[1] ": not a JSON object`,
		`[]`:             `"data[1] ": not a JSON object`,
		`{}`:             `"data[1] ": id is missing`,
		`{"id": ""}`:     `"data[1] ": id is missing`,
		`{"id": null}`:   `"data[1] ": id is missing`,
		`{"id": "a\nb"}`: `"data[1] a\nb": name contains the character '\n'`,
		`{"id": "` + strings.Repeat("n", 300) + `"}`: "name has 300 bytes, more than 256",
	} {
		models, odd, err := catalog.ParseDiscovered("p", []byte(`{"data": [{"id": "first"}, `+entry+`, {"id": "last"}]}`))
		if err != nil || len(models) != 2 || models[0].ID != "p/first" || models[1].ID != "p/last" {
			t.Errorf("%s: %v, %v", entry, models, err)
		}
		if odd == nil || !strings.Contains(odd.Error(), want) {
			t.Errorf("%s: said to be %v, want %s", entry, odd, want)
		}
	}
	models, odd, err := catalog.ParseDiscovered("p", []byte(`{"data": [{"id": "dear", "pricing": {"prompt": "1e300", "completion": "0.1"}}]}`))
	if err != nil || odd == nil || len(models) != 1 || models[0].Price != nil {
		t.Errorf("a price that cannot be read: %v, %v, %v; want it unknown", models, odd, err)
	}
	if _, odd, _ = catalog.ParseDiscovered("p", []byte(`{"data": [{"id": "a"}`+strings.Repeat(`, {"id": "\u0000`+strings.Repeat("n", 900)+`"}`, 800)+`]}`)); len(odd.Error()) > 3000 || !strings.Contains(odd.Error(), "790 more entries") {
		t.Errorf("of 800 odd entries %d bytes are reported: %.200s", len(odd.Error()), odd)
	}
}

func TestParseNamesTheFormats(t *testing.T) {
	for file, want := range map[string]string{
		``:                 "not a JSON object",
		`[]`:               "not a JSON object",
		`{}`:               "catalog is none of",
		`{"error": "no"}`:  "catalog is none of",
		`{"data": {}}`:     "catalog is none of",
		`{"a": {"b": 1}}`:  "catalog is none of",
		`{"a": {`:          "unexpected",
		`{"models": []} x`: "invalid character",
		`{"data": [{"id": "gpt-x", "object": "model"}]}`: "no model has a price",
		strings.Repeat(" ", catalog.MaxCatalogBytes+1):   "bytes, more than",
	} {
		if _, err := catalog.Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want an error with %q", file, err, want)
		}
	}
}
