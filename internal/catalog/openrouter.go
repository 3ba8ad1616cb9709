package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// openRouter is the provider of every model in OpenRouter's list.
const openRouter = "openrouter"

// parseOpenRouter reads the "data" of OpenRouter's GET /api/v1/models, kept as a file.
func parseOpenRouter(data json.RawMessage) ([]Model, error) {
	list, err := elements(data, MaxModels)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(v json.RawMessage) bool { return record(v).object("pricing") != nil }) {
		// OpenAI's own list has this envelope too, and would be filed under the wrong provider.
		return nil, errors.New("data: no model has a price: not OpenRouter's list of models")
	}
	models, odd := listed(openRouter, list)
	if odd != nil {
		return nil, odd
	}
	return models, nil
}

// ParseDiscovered reads a provider's answer to GET /models: the OpenAI shape ({"data": [{"id", "created", "owned_by"}]})
// with whatever it states of OpenRouter's richer one. Facts that cannot be read are unknown, and an entry without a usable
// id is left out; odd names the first such entries by their place. A list that has entries and none that can be used is
// an error, so that the earlier list is kept. An id given twice counts once. Prices count only as texts: numbers are how
// other providers state other units.
func ParseDiscovered(provider string, data []byte) (models []Model, odd, err error) {
	if len(data) > MaxDiscoveryBytes {
		return nil, nil, fmt.Errorf("list of models has %d bytes, more than %d", len(data), MaxDiscoveryBytes)
	}
	top, err := members(data, maxMembers)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the list of models: %w", err)
	}
	for _, m := range top {
		if m.key != "data" {
			continue
		}
		if kind(m.value) == 'n' { // Ollama without models
			return []Model{}, nil, nil
		}
		list, err := elements(m.value, MaxModels)
		if err != nil {
			return nil, nil, fmt.Errorf("data: %w", err)
		}
		if models, odd = listed(provider, list); odd != nil && len(models) == 0 {
			return nil, nil, odd
		}
		return models, odd, nil
	}
	return nil, nil, errors.New(`list of models has no "data"`)
}

// listed reads the entries of a list of models, sorted by id; odd says what could not be read. A model whose price is
// odd has an unknown one.
func listed(provider string, list []json.RawMessage) (models []Model, odd error) {
	var bad faults
	models = make([]Model, 0, len(list))
	seen := make(map[string]bool, len(list))
	for i, value := range list {
		f := record(value)
		m, err := listedModel(provider, f)
		bad.add(fmt.Sprintf("data[%d] %s", i, f.text("id")), err)
		if m.ID != "" && !seen[m.ID] {
			seen[m.ID] = true
			models = append(models, m)
		}
	}
	slices.SortFunc(models, byID)
	return models, bad.err()
}

// listedModel returns no model where the entry does not name one.
func listedModel(provider string, f facts) (Model, error) {
	name := f.text("id")
	switch {
	case f == nil:
		return Model{}, errors.New("not a JSON object")
	case name == "":
		return Model{}, errors.New("id is missing")
	}
	if err := checkName(name); err != nil {
		return Model{}, err
	}
	architecture, top := f.object("architecture"), f.object("top_provider")
	outputs := architecture.texts("output_modalities")
	price, err := listedPrice(name, f.object("pricing"), outputs)
	return Model{
		ID: provider + "/" + name, Provider: provider, Name: name,
		DisplayName:         f.text("name"),
		Description:         f.text("description"),
		Mode:                listedMode(outputs),
		Created:             f.count("created"),
		ContextLength:       f.count("context_length", "context_window", "max_model_len"), // OpenRouter, Groq, vLLM
		MaxOutput:           max(top.count("max_completion_tokens"), f.count("max_completion_tokens")),
		InputModalities:     architecture.texts("input_modalities"),
		OutputModalities:    outputs,
		SupportedParameters: f.texts("supported_parameters"),
		Price:               price,
		Moderated:           top.flag("is_moderated"),
		OwnedBy:             f.text("owned_by"),
	}, err
}

// listedMode tells models that do not answer in text from the rest.
func listedMode(outputs []string) string {
	switch {
	case len(outputs) == 0:
		return ""
	case slices.Contains(outputs, "text"):
		return ModeChat
	case slices.Contains(outputs, "embeddings"):
		return "embedding"
	case slices.Contains(outputs, "image"):
		return "image_generation"
	case slices.Contains(outputs, "audio"):
		return "audio_speech"
	}
	return outputs[0]
}

// listedPrice reads OpenRouter's "pricing". A negative price means one that depends on the call (its routers), and a fee
// for each request or image cannot be expressed in a Price: both leave the price unknown.
func listedPrice(name string, f facts, outputs []string) (*Price, error) {
	if searches(name) {
		return nil, nil
	}
	for key, value := range f {
		if isNumber(value) || kind(value) == 'n' {
			delete(f, key)
		}
	}
	fee, err := f.quote("request")
	if err == nil && fee.Rate > 0 {
		return nil, nil
	}
	base, err := listedRates(f)
	if errors.Is(err, errNegative) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if apart, err := pricedApart(f, outputs, base.Completion, "image_output"); err != nil || apart {
		return nil, err
	}
	overrides, ok := f.list("overrides")
	if _, stated := f["overrides"]; stated && !ok {
		return nil, nil // without its tiers a price is too low
	}
	var tiers []Tier
	for _, value := range overrides {
		row := record(value)
		rates, err := listedRates(row)
		if err != nil {
			return nil, fmt.Errorf("overrides: %w", err)
		}
		if from := row.count("min_prompt_tokens"); from > 0 {
			tiers = append(tiers, Tier{From: from, Rates: rates})
		}
	}
	return newPrice(base, tiers), nil
}

func listedRates(f facts) (Rates, error) {
	var r Rates
	err := f.read(
		column{"prompt", &r.Prompt},
		column{"completion", &r.Completion},
		column{"input_cache_read", &r.CacheRead},
		column{"input_cache_write", &r.CacheWrite},
		column{"input_cache_write_1h", &r.CacheHour},
		column{"internal_reasoning", &r.Reasoning},
		column{"audio", &r.AudioInput},
		column{"audio_output", &r.AudioOutput},
	)
	return r, err
}
