package chatongemini

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// fields is the table of the fields of a chat request. docs/gemini.md shows it.
var fields = translate.ChatFields(translate.Fields{
	"frequency_penalty":  translate.Mapped,
	"logprobs":           translate.Mapped,
	"modalities":         translate.Mapped,
	"presence_penalty":   translate.Mapped,
	"seed":               translate.Mapped,
	"top_logprobs":       translate.Mapped,
	"web_search_options": translate.Mapped,
})
