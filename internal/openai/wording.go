package openai

import (
	"regexp"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// wording is what vendors say in a message that others say by a code.
type wording struct {
	code  apierror.Code
	texts []*regexp.Regexp
}

// wordings are looked at for an error whose code says nothing of it. Agents shorten a conversation on the
// first, and ask for another model on the second. Each row names who says it: the vendor's documents, its
// source, or reports of its users.
var wordings = []wording{
	{apierror.ContextLengthExceeded, compiled(
		`prompt is too long`,                                                    // Anthropic, Fireworks
		"input length and `?max_tokens`? exceed",                                // Anthropic: with the output it is too long
		`input is too long`,                                                     // Claude on Bedrock
		`input tokens exceeded`,                                                 // Nova on Bedrock
		`number of input tokens exceeds`,                                        // likewise
		`too many input tokens`,                                                 // Titan on Bedrock
		`expected maxlength: \d+, actual: \d+`,                                  // Titan and Cohere on Bedrock
		`maximum context length`,                                                // OpenAI, vLLM, DeepSeek, OpenRouter, Llama on Bedrock, SGLang, Mistral
		`longer than the (model's context|maximum model)`,                       // SGLang, Together; vLLM
		`exceeds? (the|this model's) context (window|length)`,                   // OpenAI's Responses; Ollama's embeddings
		"`inputs` (tokens \\+ `max_new_tokens` must be <=|must have less than)", // TGI
		`exceeds the available context size`,                                    // llama.cpp
		`greater than the context length`,                                       // LM Studio
		`prompt too long; exceeded`,                                             // Ollama
		`exceeded (max(imum)? )?context length`,                                 // likewise
		`reduce the length of the (messages|prompt|input)`,                      // Groq
		`the input token count`,                                                 // Gemini; Vertex AI
		`maximum prompt length is \d+`,                                          // xAI
		`too many tokens: `,                                                     // Cohere
		`exceeded model token limit`,                                            // Moonshot
		`context window exceeds limit`,                                          // MiniMax
		`range of input length should be`,                                       // DashScope
		`prompt exceeds max length`,                                             // Z.ai
	)},
	{apierror.ModelNotFound, compiled(
		"^(the )?model:? ?['\"`]?[^ ]*['\"`]? (does not exist|not exist|not found|is not found|was not found)", // OpenAI, vLLM, Ollama, Groq, Cohere, xAI
		`^model not (exist|found)`,                 // DeepSeek; Fireworks
		`^model: [^ ]+$`,                           // Anthropic
		`^models/[^ ]+ is not found`,               // Gemini
		`^publisher model .* (was )?not found`,     // Vertex AI
		`is not a valid model id`,                  // OpenRouter
		`^no endpoints found for [^ ]+$`,           // likewise; for a feature it says "found that support"
		`^invalid model: `,                         // Mistral
		`^unable to access model`,                  // Together
		`^not found the model`,                     // Moonshot
		`^unknown model`,                           // Z.ai
		`model identifier is invalid`,              // Bedrock
		`from the provided model identifier`,       // likewise
		`on-demand throughput isn.t supported`,     // likewise: an inference profile is wanted
		`model version has reached the end of its`, // likewise
	)},
}

func compiled(texts ...string) []*regexp.Regexp {
	all := make([]*regexp.Regexp, len(texts))
	for i, text := range texts {
		all[i] = regexp.MustCompile(`(?i)` + text)
	}
	return all
}

// CodeOfWords returns what a message says, "" for nothing that is known.
func CodeOfWords(message string) apierror.Code {
	message = strings.TrimSpace(bounded(message))
	for _, w := range wordings {
		for _, text := range w.texts {
			if text.MatchString(message) {
				return w.code
			}
		}
	}
	return ""
}
