package responsesonchat

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// callerFields has the fields of a chat request, or their beginnings, whose values are from another
// field of a Responses request.
var callerFields = []struct{ chat, responses string }{
	{"max_completion_tokens", "max_output_tokens"},
	{"messages", "input"},
	{"reasoning_effort", "reasoning.effort"},
	{"response_format", "text.format"},
	{"verbosity", "text.verbosity"},
	{"logprobs", "include"},
}

// CallerError returns the refusal of the chat request that Request made, by a translation that
// follows, with the caller's name of the field.
func CallerError(err error) error { return translate.Renamed(err, CallerName) }

// CallerName returns the caller's name of a field of the chat request that Request made.
func CallerName(param string) string {
	for _, f := range callerFields {
		if rest, ok := strings.CutPrefix(param, f.chat); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			return f.responses // what is inside stands elsewhere
		}
	}
	return param
}
