package chatonresponses

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request. docs/responses.md shows it.
var fields = translate.ChatFields(translate.Fields{
	"metadata":               translate.Kept,
	"prompt_cache_key":       translate.Kept,
	"prompt_cache_options":   translate.Kept,
	"prompt_cache_retention": translate.Kept,
	"safety_identifier":      translate.Kept,
	"service_tier":           translate.Kept,
	"temperature":            translate.Kept,
	"top_p":                  translate.Kept,
	"user":                   translate.Kept,

	"logprobs":            translate.Mapped,
	"parallel_tool_calls": translate.Mapped,
	"store":               translate.Mapped,
	"top_logprobs":        translate.Mapped,
	"verbosity":           translate.Mapped,

	"top_k": translate.LeftOut,
})
