package translate

import "maps"

// ChatFields returns the table of the fields of a chat request: OpenAI's, those that OpenRouter
// adds, and sampling fields that many chat servers know. own has the fields of which something else
// becomes at a provider than at most. A test holds the manual of each provider to its table.
func ChatFields(own Fields) Fields {
	f := maps.Clone(chatFields)
	maps.Copy(f, own)
	return f
}

var chatFields = Fields{
	"function_call":         Mapped,
	"functions":             Mapped,
	"include_reasoning":     Mapped,
	"max_completion_tokens": Mapped,
	"max_tokens":            Mapped,
	"messages":              Mapped,
	"model":                 Mapped,
	"reasoning":             Mapped,
	"reasoning_effort":      Mapped,
	"response_format":       Mapped,
	"service_tier":          Mapped,
	"stop":                  Mapped,
	"stream":                Mapped,
	"stream_options":        Mapped,
	"temperature":           Mapped,
	"tool_choice":           Mapped,
	"tools":                 Mapped,
	"top_k":                 Mapped,
	"top_p":                 Mapped,

	// The gateway chooses model and provider, and usage always comes. The rest is the bookkeeping
	// of OpenRouter, of OpenAI and of clients.
	"cache_control":          Ignored,
	"client_metadata":        Ignored,
	"debug":                  Ignored,
	"metadata":               Ignored,
	"models":                 Ignored,
	"prompt_cache_key":       Ignored,
	"prompt_cache_options":   Ignored,
	"prompt_cache_retention": Ignored,
	"provider":               Ignored,
	"route":                  Ignored,
	"safety_identifier":      Ignored,
	"session_id":             Ignored,
	"trace":                  Ignored,
	"usage":                  Ignored,
	"user":                   Ignored,

	// OpenRouter documents that a model which does not have these is called without.
	"frequency_penalty":  LeftOut,
	"logit_bias":         LeftOut,
	"min_p":              LeftOut,
	"presence_penalty":   LeftOut,
	"repetition_penalty": LeftOut,
	"top_a":              LeftOut,
	// Hints, and what clients send for models that they do not know. OpenAI promises nothing for a
	// seed.
	"parallel_tool_calls": LeftOut,
	"prediction":          LeftOut,
	"seed":                LeftOut,
	"verbosity":           LeftOut,

	"audio":                  Refused,
	"image_config":           Refused,
	"logprobs":               Refused,
	"modalities":             Refused,
	"moderation":             Refused,
	"n":                      Refused,
	"plugins":                Refused,
	"preset":                 Refused,
	"stop_server_tools_when": Refused,
	"store":                  Refused,
	"top_logprobs":           Refused,
	"transforms":             Refused,
	"web_search_options":     Refused,
}

// ChatNeutral are the values of fields of a chat request that ask for nothing, where such a field
// is refused or left out.
var ChatNeutral = Neutral{
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
	"top_k":               {"0", "-1"},
	"top_logprobs":        {"0"},
	"transforms":          {"[]"},
	"verbosity":           {`"medium"`},
}
