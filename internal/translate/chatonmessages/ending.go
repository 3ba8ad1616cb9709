package chatonmessages

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// maxReason bounds a stop_reason that is held; known ones have 29 bytes.
const maxReason = 64

// takeStop takes the members of a message, or of the delta that ends it, that say why it ends.
func (r *reader) takeStop(o openai.Object) {
	if reason := o.Kind('"', "stop_reason", ""); reason != nil && len(reason) <= maxReason {
		r.reason = bytes.Clone(reason)
	}
	if why, ok := translate.Unquoted(openai.OpenObject(o.Get("stop_details"), nil).Get("explanation")); ok {
		r.why = bytes.Clone(why)
	}
}

// end ends an answer that is whole, and returns its finish reason as chat has it. A turn that the
// provider paused is not an answer: only the Messages API can go on with it.
func (r *reader) end() (finish string, bad *apierror.Error) {
	finish = "stop"
	if r.calls > 0 {
		finish = r.original.functions.Finish()
	}
	switch string(r.reason) {
	case `"max_tokens"`, `"model_context_window_exceeded"`:
		finish = "length"
	case `"refusal"`:
		finish = "content_filter"
	case `"pause_turn"`:
		return "", translate.ProviderFailure(r.call, "paused its answer, which a chat completion cannot continue")
	}
	spoke := false
	for i := range r.blocks {
		b := &r.blocks[i]
		if !b.over {
			r.stop(b, finish == "length")
		}
		spoke = spoke || b.spoke && b.kind != thinkingBlock
	}
	r.thoughts.end()
	r.to.Begin(finish != "content_filter" || r.why == nil)
	if finish == "content_filter" && r.why != nil && !spoke {
		r.to.Refusal(r.why)
	}
	return finish, nil
}

// native returns the provider's own reason, finish if it gave none.
func (r *reader) native(finish string) string {
	if reason, ok := jsonscan.String(r.reason); ok && reason != "" {
		return reason
	}
	return finish
}
