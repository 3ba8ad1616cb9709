package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request: OpenAI's, those that OpenRouter adds, and
// sampling fields that many chat servers know. A test holds docs/responses.md to it.
var fields = translate.Fields{
	"metadata":               translate.Kept,
	"prompt_cache_key":       translate.Kept,
	"prompt_cache_retention": translate.Kept,
	"safety_identifier":      translate.Kept,
	"service_tier":           translate.Kept,
	"temperature":            translate.Kept,
	"top_p":                  translate.Kept,
	"user":                   translate.Kept,

	"function_call":         translate.Mapped,
	"functions":             translate.Mapped,
	"include_reasoning":     translate.Mapped,
	"logprobs":              translate.Mapped,
	"max_completion_tokens": translate.Mapped,
	"max_tokens":            translate.Mapped,
	"messages":              translate.Mapped,
	"model":                 translate.Mapped,
	"parallel_tool_calls":   translate.Mapped,
	"reasoning":             translate.Mapped,
	"reasoning_effort":      translate.Mapped,
	"response_format":       translate.Mapped,
	"stop":                  translate.Mapped,
	"store":                 translate.Mapped,
	"stream":                translate.Mapped,
	"stream_options":        translate.Mapped,
	"tool_choice":           translate.Mapped,
	"tools":                 translate.Mapped,
	"top_logprobs":          translate.Mapped,
	"verbosity":             translate.Mapped,

	// The gateway chooses model and provider, and usage always comes. The rest are hints for caches
	// and the bookkeeping of OpenRouter and of clients.
	"cache_control":   translate.Ignored,
	"client_metadata": translate.Ignored,
	"debug":           translate.Ignored,
	"models":          translate.Ignored,
	"provider":        translate.Ignored,
	"route":           translate.Ignored,
	"session_id":      translate.Ignored,
	"trace":           translate.Ignored,
	"usage":           translate.Ignored,

	// OpenAI promises nothing for a seed, and a prediction only saves time.
	"prediction": translate.LeftOut,
	"seed":       translate.LeftOut,
	// OpenRouter documents that a model which does not have these is called without.
	"min_p":              translate.LeftOut,
	"repetition_penalty": translate.LeftOut,
	"top_a":              translate.LeftOut,
	"top_k":              translate.LeftOut,

	"audio":                  translate.Refused,
	"frequency_penalty":      translate.Refused,
	"image_config":           translate.Refused,
	"logit_bias":             translate.Refused,
	"modalities":             translate.Refused,
	"moderation":             translate.Refused,
	"n":                      translate.Refused,
	"plugins":                translate.Refused,
	"presence_penalty":       translate.Refused,
	"preset":                 translate.Refused,
	"stop_server_tools_when": translate.Refused,
	"transforms":             translate.Refused,
	"web_search_options":     translate.Refused,
}

// neutral are the values of fields refused or left out that ask for nothing.
var neutral = translate.Neutral{
	"frequency_penalty":  {"0"},
	"logit_bias":         {"{}"},
	"min_p":              {"0"},
	"modalities":         {`["text"]`, "[]"},
	"n":                  {"1"},
	"plugins":            {"[]"},
	"presence_penalty":   {"0"},
	"repetition_penalty": {"1"},
	"top_a":              {"0"},
	"top_k":              {"0", "-1"},
	"transforms":         {"[]"},
}
