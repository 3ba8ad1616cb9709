package chatonmessages

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request: OpenAI's, those that OpenRouter adds, and
// sampling fields that many chat servers know. A test holds docs/anthropic.md to it.
var fields = translate.Fields{
	"cache_control": translate.Kept,

	"function_call":         translate.Mapped,
	"functions":             translate.Mapped,
	"include_reasoning":     translate.Mapped,
	"max_completion_tokens": translate.Mapped,
	"max_tokens":            translate.Mapped,
	"messages":              translate.Mapped,
	"model":                 translate.Mapped,
	"parallel_tool_calls":   translate.Mapped,
	"reasoning":             translate.Mapped,
	"reasoning_effort":      translate.Mapped,
	"response_format":       translate.Mapped,
	"safety_identifier":     translate.Mapped,
	"service_tier":          translate.Mapped,
	"stop":                  translate.Mapped,
	"stream":                translate.Mapped,
	"stream_options":        translate.Mapped,
	"temperature":           translate.Mapped,
	"tool_choice":           translate.Mapped,
	"tools":                 translate.Mapped,
	"top_k":                 translate.Mapped,
	"top_p":                 translate.Mapped,
	"user":                  translate.Mapped,

	// The gateway chooses model and provider, and usage always comes. The rest are hints for caches
	// and the bookkeeping of OpenRouter, of OpenAI and of clients.
	"client_metadata":        translate.Ignored,
	"debug":                  translate.Ignored,
	"metadata":               translate.Ignored,
	"models":                 translate.Ignored,
	"prompt_cache_key":       translate.Ignored,
	"prompt_cache_retention": translate.Ignored,
	"provider":               translate.Ignored,
	"route":                  translate.Ignored,
	"session_id":             translate.Ignored,
	"trace":                  translate.Ignored,
	"usage":                  translate.Ignored,

	// Anthropic documents that its own API for OpenAI's SDKs ignores these.
	"audio":             translate.LeftOut,
	"frequency_penalty": translate.LeftOut,
	"logit_bias":        translate.LeftOut,
	"logprobs":          translate.LeftOut,
	"prediction":        translate.LeftOut,
	"presence_penalty":  translate.LeftOut,
	"seed":              translate.LeftOut,
	"store":             translate.LeftOut,
	"top_logprobs":      translate.LeftOut,
	// OpenRouter documents that a model which does not have these is called without.
	"min_p":              translate.LeftOut,
	"repetition_penalty": translate.LeftOut,
	"top_a":              translate.LeftOut,
	// A hint of how long the answer should be.
	"verbosity": translate.LeftOut,

	"image_config":           translate.Refused,
	"modalities":             translate.Refused,
	"moderation":             translate.Refused,
	"n":                      translate.Refused,
	"plugins":                translate.Refused,
	"preset":                 translate.Refused,
	"stop_server_tools_when": translate.Refused,
	"transforms":             translate.Refused,
	"web_search_options":     translate.Refused,
}

// neutral are the values of fields refused or left out that ask for nothing.
var neutral = translate.Neutral{
	"frequency_penalty":  {"0"},
	"logit_bias":         {"{}"},
	"logprobs":           {"false"},
	"min_p":              {"0"},
	"modalities":         {`["text"]`, "[]"},
	"n":                  {"1"},
	"plugins":            {"[]"},
	"presence_penalty":   {"0"},
	"repetition_penalty": {"1"},
	"store":              {"false"},
	"top_a":              {"0"},
	"top_logprobs":       {"0"},
	"transforms":         {"[]"},
	"verbosity":          {`"medium"`},
}
