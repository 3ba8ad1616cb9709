package tomessages

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request: OpenAI's, those that OpenRouter adds, and
// sampling fields that many chat servers know. A test holds docs/anthropic.md to it.
var fields = translate.Fields{
	"cache_control": translate.Kept,

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

	"audio":                  translate.Refused,
	"frequency_penalty":      translate.Refused,
	"function_call":          translate.Refused,
	"functions":              translate.Refused,
	"image_config":           translate.Refused,
	"logit_bias":             translate.Refused,
	"logprobs":               translate.Refused,
	"min_p":                  translate.Refused,
	"modalities":             translate.Refused,
	"moderation":             translate.Refused,
	"n":                      translate.Refused,
	"plugins":                translate.Refused,
	"prediction":             translate.Refused,
	"presence_penalty":       translate.Refused,
	"preset":                 translate.Refused,
	"repetition_penalty":     translate.Refused,
	"seed":                   translate.Refused,
	"stop_server_tools_when": translate.Refused,
	"store":                  translate.Refused,
	"top_a":                  translate.Refused,
	"top_logprobs":           translate.Refused,
	"transforms":             translate.Refused,
	"verbosity":              translate.Ignored, // how long an answer should be; Codex always sends it
	"web_search_options":     translate.Refused,
}

// neutral are the values of refused fields that ask for nothing.
var neutral = translate.Neutral{
	"frequency_penalty":  {"0"},
	"functions":          {"[]"},
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
}
