package catalog_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

func TestShortForm(t *testing.T) {
	models := parse(t, `{"models": [
	  {"id": "openai/gpt-x", "name": "GPT X", "description": "Ours.", "mode": "responses", "created": 1700000000, "owned_by": "us",
	   "context_length": 400000, "max_output_tokens": 128000, "moderated": true,
	   "input_modalities": ["text", "image"], "output_modalities": ["text"], "supported_parameters": ["tools"],
	   "price": {"prompt": "1.25", "completion": 10, "cache_read": 1.25e-1, "cache_write": "0", "reasoning": "12", "audio_input": "40", "audio_output": "80",
	             "tiers": [{"from": 200001, "prompt": "2.50"}, {"from": 300001, "completion": "0.000000001"}]}},
	  {"id": "local/picture", "max_units": {"image_input": 50, "image_output": 6240}, "price": {"image_input": "10", "image_output": "40"}},
	  {"id": "local/a/b:c"}
	]}`)
	x := models["openai/gpt-x"]
	want := catalog.Rates{
		Prompt: usd(t, "1.25e-6"), Completion: usd(t, "1e-5"), CacheRead: usd(t, "1.25e-7"), CacheWrite: catalog.Quoted(0), Reasoning: usd(t, "1.2e-5"),
		Units: catalog.UnitRates{units.AudioInput: usd(t, "4e-5"), units.AudioOutput: usd(t, "8e-5")},
	}
	if x.Price == nil || x.Price.Rates != want {
		t.Fatalf("price is %+v, want %+v", x.Price, want)
	}
	tiers := []catalog.Tier{
		{From: 200_001, Rates: catalog.Rates{Prompt: usd(t, "2.5e-6")}}, {From: 300_001, Rates: catalog.Rates{Completion: catalog.Quoted(1)}},
	}
	if !slices.Equal(x.Price.Tiers, tiers) {
		t.Errorf("tiers are %+v, want %+v", x.Price.Tiers, tiers)
	}
	if x.Name != "gpt-x" || x.DisplayName != "GPT X" || x.Description != "Ours." || x.Mode != "responses" || x.Created != 1_700_000_000 || x.OwnedBy != "us" ||
		x.ContextLength != 400_000 || x.MaxOutput != 128_000 || !x.Moderated || !slices.Equal(x.InputModalities, []string{"text", "image"}) ||
		!slices.Equal(x.OutputModalities, []string{"text"}) || !slices.Equal(x.SupportedParameters, []string{"tools"}) {
		t.Errorf("facts are %+v", x)
	}
	picture := models["local/picture"] // text costs what pictures cost
	if m := picture.MaxUnits; m != (units.Counts{units.ImageInput: 50, units.ImageOutput: 6240}) || picture.Price.Prompt != usd(t, "1e-5") || picture.Price.Completion != usd(t, "4e-5") {
		t.Errorf("picture is %+v", picture)
	}
	if bare := models["local/a/b:c"]; bare.Provider != "local" || bare.Name != "a/b:c" || bare.Price != nil || bare.Mode != "" {
		t.Errorf("bare is %+v", bare)
	}
}

func TestShortFormRefusesMistakes(t *testing.T) {
	for entry, want := range map[string]string{
		`{"id": "a/b", "max_units": {"image": 0}}`: "max_units: image: not above zero",
		`7`:                                                             "not a JSON object",
		`{}`:                                                            "id is not of the form",
		`{"id": "gpt-x"}`:                                               "id is not of the form",
		`{"id": "/x"}`:                                                  "provider: name is empty",
		`{"id": "openai/"}`:                                             "name is empty",
		`{"id": 7}`:                                                     "id: ",
		`{"id": "a/b", "ID": "a/c"}`:                                    `unknown field "ID"`,
		`{"id": "a/b", "id": "a/c"}`:                                    `field "id" is repeated`,
		`{"id": "a/b", "prompt": "1"}`:                                  `unknown field "prompt"`,
		`{"id": "a/b", "mode": "caht"}`:                                 `mode "caht" is not one of`,
		`{"id": "a/b", "name": null}`:                                   "name: null is not a value",
		`{"id": "a/b", "moderated": 1}`:                                 "moderated: ",
		`{"id": "a/b", "created": -1}`:                                  "created: not above zero",
		`{"id": "a/b", "created": "1"}`:                                 "created: ",
		`{"id": "a/b", "created": 1.5}`:                                 "created: ",
		`{"id": "a/b", "price": "1"}`:                                   "price: not a JSON object",
		`{"id": "a/b", "price": {"promt": "1"}}`:                        `price: unknown field "promt"`,
		`{"id": "a/b", "price": {"prompt": "free"}}`:                    `price: prompt: "free": not a decimal number`,
		`{"id": "a/b", "price": {"prompt": "0.15/M"}}`:                  `not a decimal number`,
		`{"id": "a/b", "price": {"prompt": -1}}`:                        `negative price`,
		`{"id": "a/b", "price": {"prompt": true}}`:                      `not a decimal number`,
		`{"id": "a/b", "price": {"prompt": null}}`:                      `prompt: null is not a value`,
		`{"id": "a/b", "price": {"prompt": "1e-10"}}`:                   `finer than 1e-9 USD`,
		`{"id": "a/b", "price": {"prompt": "1e11"}}`:                    `out of range`,
		`{"id": "a/b", "price": {"tiers": [{"prompt": 1}]}}`:            `tiers: [0]: "from" is required and must be greater than 0`,
		`{"id": "a/b", "price": {"tiers": [{"from": 9}, {"from": 9}]}}`: `tiers: [1]: "from" is required and must be greater than 9`,
		`{"id": "a/b", "price": {"tiers": [{"from": 9, "tiers": []}]}}`: `unknown field "tiers"`,
	} {
		_, err := catalog.Parse([]byte(`{"models": [{"id": "ok/ok"}, ` + entry + `]}`))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "models[1]") {
			t.Errorf("%s: %v, want an error of models[1] with %q", entry, err, want)
		}
	}
	for file, want := range map[string]string{
		`{"models": [], "version": 1}`:                      `unknown field "version"`,
		`{"models": [], "models": []}`:                      `field "models" is repeated`,
		`{"models": [{"id": "a/b"}, {"id": "a/b"}]}`:        `"models[1] a/b": listed twice`,
		`{"models": [{"id": "a/b", "mode": "caht"}, 1, 2]}`: `"models[0] a/b": mode`,
	} {
		if _, err := catalog.Parse([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", file, err, want)
		}
	}
}
