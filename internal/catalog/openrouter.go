package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// openRouter is the provider of every model in OpenRouter's list.
const openRouter = "openrouter"

// parseOpenRouter parses the "data" of a saved answer to OpenRouter's GET /api/v1/models.
func parseOpenRouter(data json.RawMessage) ([]Model, error) {
	list, err := elements(data, MaxModels)
	if err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if len(list) > 0 && !slices.ContainsFunc(list, func(v json.RawMessage) bool { return record(v).object("pricing") != nil }) {
		// OpenAI's own list has this envelope too, and would be assigned to the wrong provider.
		return nil, errors.New("data: no model has a price: not OpenRouter's list of models")
	}
	models, odd := listed(openRouter, list)
	if odd != nil {
		return nil, odd
	}
	return models, nil
}

// ParseDiscovered parses a provider's answer to GET /models: the OpenAI shape ({"data": [{"id",
// "created", "owned_by"}]}) with any members of OpenRouter's richer one, or one of a cloud. Unreadable facts are
// unknown. An entry without a usable id is left out; odd names the first such entries by their
// index. A list that has entries but no usable one is an error, so that the earlier list is kept.
// An id that occurs twice counts once. Prices count only as texts: other providers use numbers for
// other units.
func ParseDiscovered(provider string, data []byte) (models []Model, odd, err error) {
	if len(data) > MaxDiscoveryBytes {
		return nil, nil, fmt.Errorf("list of models has %d bytes, more than %d", len(data), MaxDiscoveryBytes)
	}
	top, err := members(data, maxMembers)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the list of models: %w", err)
	}
	key := listMember(top)
	for _, m := range top {
		if m.key != key {
			continue
		}
		if kind(m.value) == 'n' { // Ollama without models
			return []Model{}, nil, nil
		}
		list, err := elements(m.value, MaxModels)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
		if models, odd = listed(provider, list); odd != nil && len(models) == 0 {
			return nil, nil, odd
		}
		return models, odd, nil
	}
	return nil, nil, errors.New(`list of models has no "data"`)
}

// listed parses the entries of a list of models, sorted by ID. odd names unreadable entries. A
// model with an odd price has an unknown price.
func listed(provider string, list []json.RawMessage) (models []Model, odd error) {
	var bad entryErrors
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

// listedModel returns an error if the entry does not name a model.
func listedModel(provider string, f facts) (Model, error) {
	name, base := f.nameIn()
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
	outputs, inputs := architecture.texts("output_modalities"), architecture.texts("input_modalities")
	if inputs == nil {
		inputs = f.anthropicInputs()
	}
	if f["modelId"] != nil {
		outputs, inputs = bedrockModalities(f.texts("outputModalities")), bedrockModalities(f.texts("inputModalities"))
	}
	resource, _ := f.resource()
	price, err := listedPrice(name, f.object("pricing"), outputs)
	return Model{
		ID: provider + "/" + name, Provider: provider, Name: name, Base: base,
		DisplayName:         cmp.Or(f.text("displayName"), resource, f.text("display_name"), f.text("inferenceProfileName"), f.text("modelName")),
		Description:         f.text("description"),
		Mode:                cmp.Or(listedMode(outputs), f.geminiMode()),
		Created:             max(f.count("created", "created_at"), f.time("created_at")),
		ContextLength:       f.count("context_length", "context_window", "max_model_len", "max_input_tokens", "inputTokenLimit"), // OpenRouter, Groq, vLLM, Anthropic, Gemini
		MaxOutput:           max(top.count("max_completion_tokens"), f.count("max_completion_tokens", "outputTokenLimit"), f.anthropicOutput()),
		InputModalities:     inputs,
		OutputModalities:    outputs,
		SupportedParameters: f.texts("supported_parameters"),
		Price:               price,
		Moderated:           top.flag("is_moderated"),
		OwnedBy:             f.text("owned_by"),
	}, err
}

// listedMode distinguishes models that do not answer in text.
func listedMode(outputs []string) string {
	switch {
	case len(outputs) == 0:
		return ""
	case slices.Contains(outputs, "text"):
		return ModeChat
	case slices.Contains(outputs, "embeddings"):
		return ModeEmbedding
	case slices.Contains(outputs, "image"):
		return ModeImages
	case slices.Contains(outputs, "audio"):
		return ModeSpeech
	}
	return outputs[0]
}

// listedPrice parses OpenRouter's "pricing". A negative price means that it depends on the call
// (OpenRouter's routers), which leaves the price unknown.
func listedPrice(name string, f facts, outputs []string) (*Price, error) {
	if searches(name) {
		return nil, nil
	}
	for key, value := range f {
		if isNumber(value) || kind(value) == 'n' {
			delete(f, key)
		}
	}
	base, err := listedRates(f)
	if err == nil {
		err = f.readFee("request", &base)
	}
	if errors.Is(err, errNegative) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if slices.Equal(outputs, textOnly) { // lists state such rates even for these
		base.Units[units.ImageOutput] = Quote{}
	}
	overrides, ok := f.list("overrides")
	if _, stated := f["overrides"]; stated && !ok {
		return nil, nil // without its tiers the price would be too low
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
	err := errors.Join(r.Units.readListed(f), f.read(
		column{"prompt", &r.Prompt},
		column{"completion", &r.Completion},
		column{"input_cache_read", &r.CacheRead},
		column{"input_cache_write", &r.CacheWrite},
		column{"input_cache_write_1h", &r.CacheHour},
		column{"internal_reasoning", &r.Reasoning},
	))
	return r, err
}
