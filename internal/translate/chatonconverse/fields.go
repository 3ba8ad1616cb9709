package chatonconverse

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request: OpenAI's, those that OpenRouter adds, and
// sampling fields that many chat servers know. A test holds docs/bedrock.md to it.
var fields = translate.Fields{
	"function_call":         translate.Mapped,
	"functions":             translate.Mapped,
	"include_reasoning":     translate.Mapped,
	"max_completion_tokens": translate.Mapped,
	"max_tokens":            translate.Mapped,
	"messages":              translate.Mapped,
	"model":                 translate.Mapped,
	"reasoning":             translate.Mapped,
	"reasoning_effort":      translate.Mapped,
	"response_format":       translate.Mapped,
	"service_tier":          translate.Mapped,
	"stop":                  translate.Mapped,
	"stream":                translate.Mapped,
	"stream_options":        translate.Mapped,
	"temperature":           translate.Mapped,
	"tool_choice":           translate.Mapped,
	"tools":                 translate.Mapped,
	"top_k":                 translate.Mapped,
	"top_p":                 translate.Mapped,

	// The gateway chooses model and provider, and usage always comes. The rest is the bookkeeping of
	// OpenRouter, of OpenAI and of clients. What is cached is said in messages.
	"cache_control":          translate.Ignored,
	"client_metadata":        translate.Ignored,
	"debug":                  translate.Ignored,
	"metadata":               translate.Ignored,
	"models":                 translate.Ignored,
	"prompt_cache_key":       translate.Ignored,
	"prompt_cache_retention": translate.Ignored,
	"provider":               translate.Ignored,
	"route":                  translate.Ignored,
	"safety_identifier":      translate.Ignored,
	"session_id":             translate.Ignored,
	"trace":                  translate.Ignored,
	"usage":                  translate.Ignored,
	"user":                   translate.Ignored,

	// OpenRouter documents that a model which does not have these is called without.
	"min_p":              translate.LeftOut,
	"repetition_penalty": translate.LeftOut,
	"top_a":              translate.LeftOut,
	// Hints, and what clients send for models that they do not know.
	"parallel_tool_calls": translate.LeftOut,
	"prediction":          translate.LeftOut,
	"seed":                translate.LeftOut,
	"verbosity":           translate.LeftOut,

	"audio":                  translate.Refused,
	"frequency_penalty":      translate.Refused,
	"image_config":           translate.Refused,
	"logit_bias":             translate.Refused,
	"logprobs":               translate.Refused,
	"modalities":             translate.Refused,
	"moderation":             translate.Refused,
	"n":                      translate.Refused,
	"plugins":                translate.Refused,
	"presence_penalty":       translate.Refused,
	"preset":                 translate.Refused,
	"stop_server_tools_when": translate.Refused,
	"store":                  translate.Refused,
	"top_logprobs":           translate.Refused,
	"transforms":             translate.Refused,
	"web_search_options":     translate.Refused,
}

// neutral are the values of fields refused or left out that ask for nothing.
var neutral = translate.Neutral{
	"frequency_penalty":   {"0"},
	"logit_bias":          {"{}"},
	"logprobs":            {"false"},
	"min_p":               {"0"},
	"modalities":          {`["text"]`, "[]"},
	"n":                   {"1"},
	"parallel_tool_calls": {"true"},
	"plugins":             {"[]"},
	"presence_penalty":    {"0"},
	"repetition_penalty":  {"1"},
	"store":               {"false"},
	"top_a":               {"0"},
	"top_logprobs":        {"0"},
	"transforms":          {"[]"},
	"verbosity":           {`"medium"`},
}
