package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a Responses request: OpenAI's, those that OpenRouter adds,
// and sampling fields that many chat servers know. A test holds docs/responses.md to it.
var fields = translate.Fields{
	"frequency_penalty":      translate.Kept,
	"logit_bias":             translate.Kept,
	"metadata":               translate.Kept,
	"min_p":                  translate.Kept,
	"presence_penalty":       translate.Kept,
	"prompt_cache_key":       translate.Kept,
	"prompt_cache_options":   translate.Kept,
	"prompt_cache_retention": translate.Kept,
	"repetition_penalty":     translate.Kept,
	"safety_identifier":      translate.Kept,
	"seed":                   translate.Kept,
	"service_tier":           translate.Kept,
	"stop":                   translate.Kept,
	"temperature":            translate.Kept,
	"top_k":                  translate.Kept,
	"top_p":                  translate.Kept,
	"user":                   translate.Kept,

	"background":          translate.Mapped,
	"include":             translate.Mapped,
	"input":               translate.Mapped,
	"instructions":        translate.Mapped,
	"max_output_tokens":   translate.Mapped,
	"model":               translate.Mapped,
	"parallel_tool_calls": translate.Mapped,
	"reasoning":           translate.Mapped,
	"store":               translate.Mapped,
	"stream":              translate.Mapped,
	"stream_options":      translate.Mapped,
	"text":                translate.Mapped,
	"tool_choice":         translate.Mapped,
	"tools":               translate.Mapped,
	"top_logprobs":        translate.Mapped,
	"truncation":          translate.Mapped,

	// The gateway chooses model and provider. The rest is the bookkeeping of OpenRouter and of
	// clients (client_metadata: Codex).
	"client_metadata": translate.Ignored,
	"models":          translate.Ignored,
	"provider":        translate.Ignored,
	"route":           translate.Ignored,
	"session_id":      translate.Ignored,
	"trace":           translate.Ignored,

	"context_management":   translate.Refused,
	"conversation":         translate.Refused,
	"image_config":         translate.Refused,
	"max_tool_calls":       translate.Refused,
	"modalities":           translate.Refused,
	"moderation":           translate.Refused,
	"plugins":              translate.Refused,
	"preset":               translate.Refused,
	"previous_response_id": translate.Refused,
	"prompt":               translate.Refused,
}
