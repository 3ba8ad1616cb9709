package openrouter

// Generation is the answer of GET /api/v1/generation?id=: one call, with all 42 members that the
// SDKs require (GenerationResponse of OpenRouter's OpenAPI), and null for those that this gateway
// does not know.
type Generation struct {
	ID                 string           `json:"id"`
	UpstreamID         Text             `json:"upstream_id"` // the provider's id
	RequestID          Text             `json:"request_id"`
	CreatedAt          Timestamp        `json:"created_at"`
	Model              string           `json:"model"` // as asked
	Provider           Text             `json:"provider_name"`
	APIType            string           `json:"api_type"`    // set by AppendGeneration
	Origin             string           `json:"origin"`      // unknown: ""
	DataRegion         string           `json:"data_region"` // set by AppendGeneration
	TotalCost          USD              `json:"total_cost"`
	Usage              USD              `json:"usage"`
	BYOK               bool             `json:"is_byok"`
	Streamed           bool             `json:"streamed"`
	Cancelled          bool             `json:"cancelled"` // the client left
	FinishReason       Text             `json:"finish_reason"`
	NativeFinishReason Text             `json:"native_finish_reason"`
	Latency            Milliseconds     `json:"latency"`         // to the first token
	GenerationTime     Milliseconds     `json:"generation_time"` // of the whole answer
	TokensPrompt       int64            `json:"tokens_prompt"`
	TokensCompletion   int64            `json:"tokens_completion"`
	NativePrompt       int64            `json:"native_tokens_prompt"`
	NativeCompletion   int64            `json:"native_tokens_completion"`
	NativeReasoning    int64            `json:"native_tokens_reasoning"`
	NativeCached       int64            `json:"native_tokens_cached"`
	UserAgent          Text             `json:"user_agent"`
	ProviderResponses  []ProviderStatus `json:"provider_responses"`  // nil is null
	ExternalUser       Text             `json:"external_user"`       // as the caller says
	Attempted          []Attempt        `json:"attempted,omitempty"` // not OpenRouter's, as the next
	Skipped            any              `json:"skipped,omitempty"`   // nil for none
	unknownGeneration
}

// ProviderStatus is the HTTP status of a provider's answer.
type ProviderStatus struct {
	Status int `json:"status"`
}

// unknownGeneration has the members that this gateway does not know.
type unknownGeneration struct {
	AppID             null `json:"app_id"`
	CacheDiscount     null `json:"cache_discount"`
	HTTPReferer       null `json:"http_referer"`
	ModerationLatency null `json:"moderation_latency"`
	CompletionImages  null `json:"native_tokens_completion_images"`
	Fetches           null `json:"num_fetches"`
	InputAudio        null `json:"num_input_audio_prompt"`
	MediaCompletion   null `json:"num_media_completion"`
	MediaPrompt       null `json:"num_media_prompt"`
	SearchResults     null `json:"num_search_results"`
	PresetID          null `json:"preset_id"`
	Router            null `json:"router"`
	ServiceTier       null `json:"service_tier"`
	UpstreamCost      null `json:"upstream_inference_cost"`
	SearchEngine      null `json:"web_search_engine"`
	WorkspaceID       null `json:"workspace_id"`
}

// AppendGeneration appends {"data": …}.
func AppendGeneration(dst []byte, g Generation) []byte {
	g.APIType, g.DataRegion = "completions", "global"
	return appendJSON(dst, data[Generation]{g})
}

// data is the member that holds an answer.
type data[T any] struct {
	Data T `json:"data"`
}
