package translate

// fate is what becomes of a top-level field of the request.
type fate string

const (
	// kept fields reach the provider by the same name, as they are.
	kept fate = "kept"
	// mapped fields reach it in another shape, or are honoured here.
	mapped fate = "mapped"
	// ignored fields change nothing in the answer of such a provider.
	ignored fate = "ignored"
	// refused fields are a 400 unless they are null.
	refused fate = "refused"
)

// fields is the table of request fields: OpenAI's, those that OpenRouter adds,
// and sampling fields that many chat servers know. What is not in it is
// refused. docs/responses.md shows it, which a test holds to be true.
var fields = map[string]fate{
	"frequency_penalty":      kept,
	"logit_bias":             kept,
	"metadata":               kept,
	"min_p":                  kept,
	"presence_penalty":       kept,
	"prompt_cache_key":       kept,
	"prompt_cache_retention": kept,
	"repetition_penalty":     kept,
	"safety_identifier":      kept,
	"seed":                   kept,
	"service_tier":           kept,
	"stop":                   kept,
	"temperature":            kept,
	"top_k":                  kept,
	"top_p":                  kept,
	"user":                   kept,

	"background":          mapped,
	"include":             mapped,
	"input":               mapped,
	"instructions":        mapped,
	"max_output_tokens":   mapped,
	"model":               mapped,
	"parallel_tool_calls": mapped,
	"reasoning":           mapped,
	"store":               mapped,
	"stream":              mapped,
	"stream_options":      mapped,
	"text":                mapped,
	"tool_choice":         mapped,
	"tools":               mapped,
	"top_logprobs":        mapped,
	"truncation":          mapped,

	// The gateway chooses model and provider; the rest is bookkeeping, of
	// OpenRouter and of clients (client_metadata: Codex).
	"client_metadata": ignored,
	"models":          ignored,
	"provider":        ignored,
	"route":           ignored,
	"session_id":      ignored,
	"trace":           ignored,

	"context_management":   refused,
	"conversation":         refused,
	"image_config":         refused,
	"max_tool_calls":       refused,
	"modalities":           refused,
	"moderation":           refused,
	"plugins":              refused,
	"preset":               refused,
	"previous_response_id": refused,
	"prompt":               refused,
}
