package openai

// finishWords maps the finish reasons of known providers to the closed set of OpenAI. Other words
// pass unchanged: no SDK rejects them, and a guess would hide why an answer ended.
var finishWords = map[string]string{
	"stop":           "stop",
	"length":         "length",
	"tool_calls":     "tool_calls",
	"content_filter": "content_filter",
	"function_call":  "function_call",
	"error":          finishError,

	"eos":           "stop", // Together, TGI
	"eos_token":     "stop",
	"end_turn":      "stop", // Anthropic
	"stop_sequence": "stop",
	"STOP":          "stop", // Gemini
	"max_tokens":    "length",
	"MAX_TOKENS":    "length",
	"model_length":  "length", // Mistral
	"tool_use":      "tool_calls",
	"SAFETY":        "content_filter",
	"refusal":       "content_filter",

	"model_context_window_exceeded": "length", // Anthropic
}

// finishError is the finish reason of providers that failed.
const finishError = "error"

// FinishReason returns OpenAI's word for a provider's. A word that has none (Anthropic's pause_turn)
// stays.
func FinishReason(native string) string { return finishReason([]byte(native)) }

func finishReason(native []byte) string {
	if word, ok := finishWords[string(native)]; ok {
		return word
	}
	return string(native)
}
