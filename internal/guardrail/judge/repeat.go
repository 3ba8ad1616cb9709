package judge

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// repeat is what is known of the event before, if nothing in it was changed but one piece of a
// text. The events that repeat it have a piece of the same channel, and begin or end none.
type repeat struct {
	shape    int      // of the event
	channel  *channel // nil: no event may repeat it
	numbered bool     // it has a sequence number
}

// maxKeptText bounds the buffer of a stream for the new texts of its events, in bytes.
const maxKeptText = 1 << 10

// learn takes in an event with one piece of a text. An empty piece is no piece of the phase of its
// choice, so it does not tell what another text leads to.
func (r *repeat) learn(e *eventEdit) {
	if !e.last.ending && e.text.End-e.text.Start > len(`""`) {
		*r = repeat{e.event.Shape(), e.last, e.sequence.End > 0}
	}
}

// repeats reports whether an event repeats the one before.
func (s *Stream) repeats(event *openai.Event) bool {
	r := &s.repeat
	return r.channel != nil && event.Repeats() && event.Shape() == r.shape &&
		(s.wire != guardrail.Responses || event.Has(openai.VarNumber) == r.numbered) &&
		(!event.Has(openai.VarPadding) || document.IsPadding(event.Value(openai.VarPadding)))
}

// pushAgain takes an event that repeats the one before.
func (s *Stream) pushAgain(event *openai.Event) *guardrail.Verdict {
	if s.wire == guardrail.Responses {
		s.sequence++
		if n, ok := jsonscan.Int(event.Value(openai.VarNumber)); ok {
			s.sequence = n
			if s.shift > 0 {
				event.Replace(openai.VarNumber, strconv.AppendInt(nil, n+s.shift, 10))
			}
		}
	}
	c := s.repeat.channel
	value := event.Value(openai.VarText)
	text, v := c.push(value)
	if v != nil {
		return v
	}
	s.redacts = c.output.redacted(c.matcher, s.redacts)
	if !document.IsText(value, text) {
		if cap(s.text) > maxKeptText {
			s.text = nil
		}
		s.text = jsonscan.AppendString(s.text[:0], text)
		event.Replace(openai.VarText, s.text)
	}
	return nil
}
