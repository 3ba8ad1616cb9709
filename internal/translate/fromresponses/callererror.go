package fromresponses

import (
	"errors"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
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
func CallerError(err error) error {
	var refusal *apierror.Error
	if !errors.As(err, &refusal) || refusal.Param == "" {
		return err
	}
	for _, f := range callerFields {
		if rest, ok := strings.CutPrefix(refusal.Param, f.chat); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			renamed := *refusal
			renamed.Param = f.responses // what is inside stands elsewhere
			renamed.Message = strings.ReplaceAll(refusal.Message, `"`+refusal.Param+`"`, `"`+f.responses+`"`)
			return &renamed
		}
	}
	return err
}
