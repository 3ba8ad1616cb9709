package params

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// The parts of a Realtime session have the fields of a Responses request: a session and a response
// have model, instructions, tools, prompt and max_output_tokens, and an item is one of input.

// RealtimeFields are the fields of sessions and responses whose price is known.
var RealtimeFields = fieldsOf(everyField, `type object audio conversation include input instructions max_output_tokens modalities output_modalities
	parallel_tool_calls prompt reasoning tool_choice tools tracing truncation expires_at id`)

// ParseRealtime reads a part of a session. Its answer comes in events.
func ParseRealtime(b *jsonscan.Body) (Request, error) {
	req, err := head(b)
	req.Stream, req.Choices = true, 1
	return req, err
}

// RealtimeLimits is [ResponsesLimits] for a part of a session: max_output_tokens may be "inf".
func RealtimeLimits(b *jsonscan.Body) (RequestedLimits, error) {
	if i, ok := b.Find("max_output_tokens"); ok && string(b.Value(i)) == `"inf"` {
		l := RequestedLimits{Choices: 1, Param: responsesOutput[0], members: []int{i}}
		l.Messages = count(value(b, "input"))
		return l, nil
	}
	return ResponsesLimits(b)
}

// RealtimeReferences is [References] for a part of a session. Its conversation and its items are
// the session's own, not what the provider keeps.
func RealtimeReferences(b *jsonscan.Body) (Refs, error) {
	refs, err := references(b, Refs{}, "conversation")
	refs.IDs = slices.DeleteFunc(refs.IDs, func(r Ref) bool { return r.Kind == openai.KindItem })
	return refs, err
}

// RealtimeContent is [ContentOf] for a part of a session: any token may be one of sound.
func RealtimeContent(b *jsonscan.Body) Content {
	c := ContentOf(b)
	c.Units[units.AudioInput], c.Units[units.AudioOutput], c.Units[units.ImageInput] = 1, 1, 1
	return c
}

// maxHeard bounds the sound of one transcript in a session, in milliseconds: as long as a session.
const maxHeard = 60 * 60 * 1000

// TranscriptLimits is [RealtimeLimits] for the transcripts of what is said in a session.
func TranscriptLimits(*jsonscan.Body) (l RequestedLimits, err error) {
	l.Choices, l.Units[units.Millis] = 1, maxHeard
	return l, nil
}
