package openrouter

import "slices"

// ModelEndpoint is a place where calls of a model can be sent.
type ModelEndpoint struct {
	Provider string
	Model    ModelInfo // as the provider has it
}

// modelEndpoint is a ModelEndpoint as the SDKs want it.
type modelEndpoint struct {
	Name          string   `json:"name"` // "<provider> | <model>", as OpenRouter writes it
	ModelID       string   `json:"model_id"`
	ModelName     string   `json:"model_name"`
	Provider      string   `json:"provider_name"`
	Tag           string   `json:"tag"`
	ContextLength int64    `json:"context_length"` // 0 for an unknown one: the SDKs require a number
	MaxOutput     Count    `json:"max_completion_tokens"`
	MaxPrompt     null     `json:"max_prompt_tokens"`
	Pricing       Pricing  `json:"pricing"`
	Parameters    []string `json:"supported_parameters"`

	ImplicitCaching bool          `json:"supports_implicit_caching"`
	ToolChoice      choiceSupport `json:"supports_tool_choice"`

	Quantization null `json:"quantization"`
	Latency      null `json:"latency_last_30m"`
	Throughput   null `json:"throughput_last_30m"`
	Uptime5m     null `json:"uptime_last_5m"`
	Uptime30m    null `json:"uptime_last_30m"`
	Uptime1d     null `json:"uptime_last_1d"`
}

// choiceSupport is which values of tool_choice a model takes.
type choiceSupport struct {
	Auto     bool `json:"auto"`
	Function bool `json:"function"`
	None     bool `json:"none"`
	Required bool `json:"required"`
}

func endpointOf(e ModelEndpoint) modelEndpoint {
	m := modelOf(e.Model)
	chooses := slices.Contains(m.Parameters, "tool_choice")
	return modelEndpoint{
		Name: e.Provider + " | " + m.ID, ModelID: m.ID, ModelName: m.Name, Provider: e.Provider, Tag: e.Provider,
		ContextLength: e.Model.ContextLength, MaxOutput: Count(e.Model.MaxOutput), Pricing: m.Pricing, Parameters: m.Parameters,
		ImplicitCaching: m.Pricing.CacheRead != "", ToolChoice: choiceSupport{chooses, chooses, chooses, chooses},
	}
}

// placedModel is a model with the places where its calls can be sent.
type placedModel struct {
	ID           string            `json:"id"`
	Name         string            `json:"name"`
	Created      int64             `json:"created"`
	Description  string            `json:"description"`
	Architecture modelArchitecture `json:"architecture"`
	Endpoints    []modelEndpoint   `json:"endpoints"`
}

type modelArchitecture struct {
	architecture
	Tokenizer    null `json:"tokenizer"`
	InstructType null `json:"instruct_type"`
}

// AppendModelEndpoints appends the answer of GET /api/v1/models/{author}/{slug}/endpoints.
func AppendModelEndpoints(dst []byte, m ModelInfo, endpoints []ModelEndpoint) []byte {
	shown := modelOf(m)
	list := make([]modelEndpoint, len(endpoints))
	for i, e := range endpoints {
		list[i] = endpointOf(e)
	}
	return appendJSON(dst, data[placedModel]{placedModel{
		shown.ID, shown.Name, shown.Created, shown.Description, modelArchitecture{architecture: shown.Architecture}, list,
	}})
}

// AppendModelCount appends the answer of GET /api/v1/models/count.
func AppendModelCount(dst []byte, count int) []byte {
	return appendJSON(dst, data[modelCount]{modelCount{count}})
}

type modelCount struct {
	Count int `json:"count"`
}
