package translate

import (
	"bytes"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// chatFields is the table of the fields of a chat request: OpenAI's, those
// that OpenRouter adds, and sampling fields that many chat servers know. What
// is not in it is refused. docs/responses.md shows it, which a test holds to
// be true.
var chatFields = map[string]fate{
	"metadata":               kept,
	"prompt_cache_key":       kept,
	"prompt_cache_retention": kept,
	"safety_identifier":      kept,
	"service_tier":           kept,
	"temperature":            kept,
	"top_p":                  kept,
	"user":                   kept,

	"include_reasoning":     mapped,
	"logprobs":              mapped,
	"max_completion_tokens": mapped,
	"max_tokens":            mapped,
	"messages":              mapped,
	"model":                 mapped,
	"parallel_tool_calls":   mapped,
	"reasoning":             mapped,
	"reasoning_effort":      mapped,
	"response_format":       mapped,
	"store":                 mapped,
	"stream":                mapped,
	"stream_options":        mapped,
	"tool_choice":           mapped,
	"tools":                 mapped,
	"top_logprobs":          mapped,
	"verbosity":             mapped,

	// The gateway chooses model and provider; the rest is for caches, is
	// bookkeeping of OpenRouter and of clients, or is always so here (usage).
	"cache_control":   ignored,
	"client_metadata": ignored,
	"debug":           ignored,
	"models":          ignored,
	"provider":        ignored,
	"route":           ignored,
	"session_id":      ignored,
	"trace":           ignored,
	"usage":           ignored,

	"audio":                  refused,
	"frequency_penalty":      refused,
	"function_call":          refused,
	"functions":              refused,
	"image_config":           refused,
	"logit_bias":             refused,
	"min_p":                  refused,
	"modalities":             refused,
	"moderation":             refused,
	"n":                      refused,
	"plugins":                refused,
	"prediction":             refused,
	"presence_penalty":       refused,
	"preset":                 refused,
	"repetition_penalty":     refused,
	"seed":                   refused,
	"stop":                   refused,
	"stop_server_tools_when": refused,
	"top_a":                  refused,
	"top_k":                  refused,
	"transforms":             refused,
	"web_search_options":     refused,
}

// neutral are the values of refused fields that ask for nothing: many clients
// send every setting they have. They are dropped.
var neutral = map[string][]string{
	"frequency_penalty":  {"0"},
	"functions":          {"[]"},
	"logit_bias":         {"{}"},
	"min_p":              {"0"},
	"modalities":         {`["text"]`, "[]"},
	"n":                  {"1"},
	"plugins":            {"[]"},
	"presence_penalty":   {"0"},
	"repetition_penalty": {"1"},
	"stop":               {"[]"},
	"top_a":              {"0"},
	"top_k":              {"0", "-1"},
	"transforms":         {"[]"},
}

// maxNeutral bounds the text that is compared with neutral values.
const maxNeutral = 64

// isNeutral tells whether a refused field has a value that asks for nothing.
func isNeutral(key string, value []byte) bool {
	if len(value) > maxNeutral {
		return false
	}
	if n, ok := jsonscan.Int(value); ok {
		value = appendInt(nil, int(n))
	} else {
		value = bytes.Join(bytes.Fields(value), nil) // none of them has a space
	}
	return slices.Contains(neutral[key], string(value))
}
