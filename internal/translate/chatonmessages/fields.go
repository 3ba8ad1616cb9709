package chatonmessages

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request. docs/anthropic.md shows it.
var fields = translate.ChatFields(translate.Fields{
	"cache_control": translate.Kept,

	"parallel_tool_calls": translate.Mapped,
	"safety_identifier":   translate.Mapped,
	"user":                translate.Mapped,

	// Anthropic documents that its own API for OpenAI's SDKs ignores these.
	"audio":        translate.LeftOut,
	"logprobs":     translate.LeftOut,
	"store":        translate.LeftOut,
	"top_logprobs": translate.LeftOut,
})
