package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// notModels are the entries of the public LiteLLM price map that describe the file itself.
var notModels = []string{"sample_spec", "fallback_generalizations"}

var (
	errNotObject  = errors.New("not a JSON object")
	errNoProvider = errors.New("litellm_provider is missing")
)

// parsePriceMap parses the LiteLLM price map. An entry's provider is its litellm_provider. Its name
// is the key without that provider and a slash in front. If the map has a model under both keys,
// the one with the provider wins.
func parsePriceMap(top []member) ([]Model, error) {
	var bad entryErrors
	models := make(map[string]Model, len(top))
	prefixed := map[string]bool{}
	pictures := map[string][]PictureRate{}
	for _, m := range top {
		if slices.Contains(notModels, m.key) {
			continue
		}
		id, rate, isPicture, err := pictureVariant(m)
		if isPicture {
			pictures[id] = append(pictures[id], rate)
			continue
		}
		if err != nil {
			bad.add(m.key, err)
			continue
		}
		model, hasPrefix, err := priceMapModel(m)
		if err != nil {
			bad.add(m.key, err)
			continue
		}
		if prefixed[model.ID] && !hasPrefix {
			continue
		}
		models[model.ID], prefixed[model.ID] = model, hasPrefix
	}
	if err := bad.err(); err != nil {
		return nil, err
	}
	for id, rates := range pictures {
		model, ok := models[id]
		if !ok {
			model = Model{ID: id, Mode: ModeImages, OutputModalities: imagesOnly}
			model.Provider, model.Name, _ = strings.Cut(id, "/")
		}
		model.addPictures(rates)
		models[id] = model
	}
	return slices.SortedFunc(maps.Values(models), byID), nil
}

func byID(a, b Model) int { return strings.Compare(a.ID, b.ID) }

func priceMapModel(m member) (model Model, hasPrefix bool, err error) {
	f := record(m.value)
	if f == nil {
		return Model{}, false, errNotObject
	}
	provider := catalogProvider(f.text("litellm_provider"))
	if provider == "" {
		return Model{}, false, errNoProvider
	}
	name, hasPrefix := strings.CutPrefix(m.key, provider+"/")
	if err := errors.Join(checkProvider(provider), checkName(name)); err != nil {
		return Model{}, false, err
	}
	price, err := priceMapPrice(f)
	if err != nil {
		return Model{}, false, err
	}
	variants, err := priceMapVariants(f, price)
	if err != nil {
		return Model{}, false, err
	}
	if searches(name) {
		price, variants = nil, nil
	}
	capabilities, err := readCapabilities(f["capabilities"], name)
	if err != nil {
		return Model{}, false, fmt.Errorf("capabilities: %w", err)
	}
	mode := priceMapMode(f)
	return Model{
		ID: provider + "/" + name, Provider: provider, Name: name,
		Mode:                mode,
		ContextLength:       f.count("max_input_tokens", "max_tokens"),
		MaxOutput:           f.count("max_output_tokens"),
		InputModalities:     priceMapInputs(f),
		OutputModalities:    priceMapOutputs(f, mode),
		SupportedParameters: f.words(parameterFlags),
		Price:               price,
		Variants:            variants,
		Capabilities:        capabilities,
	}, hasPrefix, nil
}

// catalogProvider returns one name for the parts of a provider that the price map tells apart: by
// vendor (vertex_ai-anthropic_models) or by API (bedrock_converse).
func catalogProvider(name string) string {
	if strings.HasPrefix(name, "vertex_ai-") {
		return "vertex_ai"
	}
	return strings.TrimSuffix(name, "_converse")
}

// priceMapMode returns the mode. It corrects a "chat" model whose list of endpoints has no chat
// endpoint.
func priceMapMode(f facts) string {
	mode, endpoints := f.text("mode"), f.texts("supported_endpoints")
	if mode != ModeChat || len(endpoints) == 0 || slices.Contains(endpoints, "/v1/chat/completions") {
		return mode
	}
	if slices.Contains(endpoints, "/v1/responses") {
		return ModeResponses
	}
	if slices.Contains(endpoints, "/v1/realtime") {
		return ModeRealtime
	}
	return mode
}

// flagWords has the words that a true flag of the price map means.
type flagWords struct {
	flag  string
	words []string
}

var parameterFlags = []flagWords{
	{"supports_function_calling", []string{"tools"}},
	{"supports_tool_choice", []string{"tool_choice"}},
	{"supports_parallel_function_calling", []string{"parallel_tool_calls"}},
	{"supports_response_schema", []string{"response_format", "structured_outputs"}},
	{"supports_reasoning", []string{"reasoning", "include_reasoning"}},
	{"supports_web_search", []string{"web_search_options"}},
}

var inputFlags = []flagWords{
	{"supports_vision", []string{"image"}},
	{"supports_pdf_input", []string{"file"}},
	{"supports_audio_input", []string{"audio"}},
	{"supports_video_input", []string{"video"}},
}

func (f facts) words(table []flagWords) []string {
	var out []string
	for _, row := range table {
		if f.flag(row.flag) {
			out = append(out, row.words...)
		}
	}
	return out
}

func priceMapInputs(f facts) []string {
	if stated := f.texts("supported_modalities"); len(stated) > 0 {
		return stated
	}
	return append([]string{"text"}, f.words(inputFlags)...)
}

func priceMapOutputs(f facts, mode string) []string {
	if stated := f.texts("supported_output_modalities"); len(stated) > 0 {
		return stated
	}
	switch {
	case mode == "image_generation" || mode == "image_edit":
		return []string{"image"}
	case mode == ModeEmbedding:
		return embeddingsOnly
	case mode == "audio_speech":
		return []string{"audio"}
	case f.flag("supports_audio_output"):
		return []string{"text", "audio"}
	}
	return []string{"text"}
}
