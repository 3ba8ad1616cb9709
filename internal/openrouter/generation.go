package openrouter

import "time"

// Generation is the answer of GET /api/v1/generation?id=: one call.
type Generation struct {
	ID                 string
	UpstreamID         string // the provider's id, null if none
	RequestID          string
	CreatedAt          time.Time
	Model              string // as asked
	Provider           string
	CostNano           int64 // nano-USD
	Streamed           bool
	Cancelled          bool // the client left
	FinishReason       string
	NativeFinishReason string
	Latency            time.Duration // to the first token, 0 is null
	GenerationTime     time.Duration // of the whole answer, 0 is null
	PromptTokens       int64
	CompletionTokens   int64
	ReasoningTokens    int64
	CachedTokens       int64
	UserAgent          string // "" is null
	ProviderStatus     int    // HTTP status of the provider's answer; 0 if it gave none
}

// AppendGeneration appends {"data": …} with all the members that the SDKs
// require (GenerationResponse of OpenRouter's OpenAPI, 42 of them) and null
// where this gateway knows nothing.
func AppendGeneration(dst []byte, g Generation) []byte {
	w := writer{dst: append(dst, '{')}
	w.open("data")
	w.text("id", g.ID)
	w.textOrNull("upstream_id", g.UpstreamID)
	w.textOrNull("request_id", g.RequestID)
	w.text("created_at", timestamp(g.CreatedAt))
	w.text("model", g.Model)
	w.textOrNull("provider_name", g.Provider)
	w.text("api_type", "completions")
	w.text("origin", "")
	w.text("data_region", "global")
	w.usd("total_cost", g.CostNano)
	w.usd("usage", g.CostNano)
	w.bool("is_byok", false)
	w.bool("streamed", g.Streamed)
	w.bool("cancelled", g.Cancelled)
	w.textOrNull("finish_reason", g.FinishReason)
	w.textOrNull("native_finish_reason", g.NativeFinishReason)
	w.millisOrNull("latency", g.Latency)
	w.millisOrNull("generation_time", g.GenerationTime)
	w.number("tokens_prompt", g.PromptTokens)
	w.number("tokens_completion", g.CompletionTokens)
	w.number("native_tokens_prompt", g.PromptTokens)
	w.number("native_tokens_completion", g.CompletionTokens)
	w.number("native_tokens_reasoning", g.ReasoningTokens)
	w.number("native_tokens_cached", g.CachedTokens)
	w.textOrNull("user_agent", g.UserAgent)
	w.key("provider_responses")
	if g.ProviderStatus == 0 {
		w.dst = append(w.dst, "null"...)
	} else {
		w.dst = append(w.dst, '[', '{')
		w.number("status", int64(g.ProviderStatus))
		w.dst = append(w.dst, '}', ']')
	}
	for _, unknown := range [...]string{
		"app_id", "cache_discount", "external_user", "http_referer", "moderation_latency",
		"native_tokens_completion_images", "num_fetches", "num_input_audio_prompt",
		"num_media_completion", "num_media_prompt", "num_search_results", "preset_id", "router",
		"service_tier", "upstream_inference_cost", "web_search_engine", "workspace_id",
	} {
		w.null(unknown)
	}
	w.close()
	return append(w.dst, '}')
}
