package openrouter

import "strings"

// ModelInfo is one model of GET /api/v1/models.
type ModelInfo struct {
	ID               string // "<provider>/<name>"
	Name             string // for people; "" takes ID
	Description      string // "" is left out
	Created          int64  // unix seconds
	ContextLength    int64  // tokens; 0 is unknown and null
	MaxOutput        int64  // tokens; 0 is unknown and null
	InputModalities  []string
	OutputModalities []string
	Parameters       []string // supported request parameters
	Pricing          Pricing
	UnitPricing      map[string]string // USD for one of a unit that OpenRouter's pricing does not have
	Moderated        bool
}

// Pricing is in USD per token, as decimal strings without exponent. The SDKs require Prompt and
// Completion: "" is shown as "-1", OpenRouter's value for a price that is not fixed, and never as
// "0". The others are left out if "".
type Pricing struct {
	Prompt      string `json:"prompt"`
	Completion  string `json:"completion"`
	CacheRead   string `json:"input_cache_read,omitempty"`
	CacheWrite  string `json:"input_cache_write,omitempty"`
	Reasoning   string `json:"internal_reasoning,omitempty"`
	Image       string `json:"image,omitempty"`
	Request     string `json:"request,omitempty"`
	AudioInput  string `json:"audio,omitempty"`
	AudioOutput string `json:"audio_output,omitempty"`
}

// model is a ModelInfo as the SDKs want it.
type model struct {
	ID            string       `json:"id"`
	CanonicalSlug string       `json:"canonical_slug"`
	Name          string       `json:"name"`
	Created       int64        `json:"created"`
	Description   string       `json:"description,omitempty"`
	ContextLength Count        `json:"context_length"`
	Architecture  architecture `json:"architecture"`
	Pricing       Pricing      `json:"pricing"`
	// UnitPricing is not OpenRouter's: what pictures, characters, seconds and search units cost.
	UnitPricing   map[string]string `json:"unit_pricing,omitempty"`
	TopProvider   topProvider       `json:"top_provider"`
	RequestLimits null              `json:"per_request_limits"`
	Parameters    []string          `json:"supported_parameters"`
	Defaults      null              `json:"default_parameters"`
	Voices        null              `json:"supported_voices"`
	Links         modelLinks        `json:"links"`
}

type architecture struct {
	Modality string   `json:"modality"`
	Input    []string `json:"input_modalities"`
	Output   []string `json:"output_modalities"`
}

type topProvider struct {
	ContextLength Count `json:"context_length"`
	MaxOutput     Count `json:"max_completion_tokens"`
	Moderated     bool  `json:"is_moderated"`
}

type modelLinks struct {
	Details string `json:"details"`
}

func modelOf(m ModelInfo) model {
	input, output := modalities(m.InputModalities), modalities(m.OutputModalities)
	shown := model{
		ID: m.ID, CanonicalSlug: m.ID, Name: m.Name, Created: m.Created, Description: m.Description,
		ContextLength: Count(m.ContextLength),
		Architecture:  architecture{strings.Join(input, "+") + "->" + strings.Join(output, "+"), input, output},
		Pricing:       m.Pricing,
		UnitPricing:   m.UnitPricing,
		TopProvider:   topProvider{Count(m.ContextLength), Count(m.MaxOutput), m.Moderated},
		Parameters:    m.Parameters,
		Links:         modelLinks{"/api/v1/models/" + m.ID + "/endpoints"},
	}
	if shown.Name == "" {
		shown.Name = m.ID
	}
	if shown.Parameters == nil {
		shown.Parameters = []string{}
	}
	for _, price := range []*string{&shown.Pricing.Prompt, &shown.Pricing.Completion} {
		if *price == "" {
			*price = "-1"
		}
	}
	return shown
}

func modalities(known []string) []string {
	if len(known) == 0 {
		return []string{"text"}
	}
	return known
}

// AppendModel appends the answer of GET /api/v1/model/{author}/{slug}.
func AppendModel(dst []byte, m ModelInfo) []byte {
	return appendJSON(dst, data[model]{modelOf(m)})
}

// imageModel is a ModelInfo as the list of those has it that make pictures.
type imageModel struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Created      int64        `json:"created"`
	Description  string       `json:"description"`
	Architecture architecture `json:"architecture"`
	Parameters   struct{}     `json:"supported_parameters"`
	Streams      bool         `json:"supports_streaming"`
	Endpoints    string       `json:"endpoints"`
}

// AppendImageModels appends the answer of GET /api/v1/images/models. What a model takes besides a prompt is
// not known. The gateway makes a stream of each answer that is asked for as one.
func AppendImageModels(dst []byte, models []ModelInfo) []byte {
	list := make([]imageModel, len(models))
	for i, info := range models {
		m := modelOf(info)
		list[i] = imageModel{ID: m.ID, Name: m.Name, Created: m.Created, Description: m.Description, Architecture: m.Architecture, Streams: true, Endpoints: m.Links.Details}
	}
	return appendJSON(dst, data[[]imageModel]{list})
}

// AppendModelList appends one page of the list: the given models, the number of all, and the path
// of the next page, "" on the last. A page beyond the end must be empty: the Go SDK asks until it
// gets one.
func AppendModelList(dst []byte, page []ModelInfo, total int, next string) []byte {
	models := make([]model, len(page))
	for i, m := range page {
		models[i] = modelOf(m)
	}
	return appendJSON(dst, ModelPage{models, total, pageLinks{Text(next)}})
}

// ModelPage is a page of the list of models.
type ModelPage struct {
	Data  []model   `json:"data"`
	Total int       `json:"total_count"`
	Links pageLinks `json:"links"`
}

type pageLinks struct {
	Next Text `json:"next"`
}
