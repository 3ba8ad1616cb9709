package judge

import (
	"errors"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// maxChannels is how many texts a stream may have open at once. Each holds up to its window and the
// state of the rules.
const maxChannels = 512

// ErrTooManyTexts is returned for a stream that has too many texts open at once. It is the
// provider's mistake (502).
var ErrTooManyTexts = errors.New("too many texts open in one stream")

// Stream is a [guardrail.Stream]: a state machine without a clock or I/O.
//
//	events --Push--> channels (text held back) --> the same events, and a few more
//	                     | a rule denies
//	                     v
//	                  Verdict: nothing more is sent
//
// Each event is sent at once, with as much of the text of its channels as can no longer become part
// of a match, which may be none. Text that was held back is sent in later events of its channel.
// What is left at the end is sent in one more event before the event that ends the channel: the
// finish reason of its choice, the done event of its part or item, the stop or signature of its
// block, or the end of the stream. Only these inserted events change the sequence numbers of later
// ones.
//
// Token probabilities are emptied, because they repeat the text before it was judged. Texts that
// done events and the final event repeat are read again as whole texts.
//
// An event that repeats the one before, but for a piece of a text, is not read: the piece goes to
// the channel of that one.
type Stream struct {
	set            *Set
	wire           guardrail.Wire
	channels       []*channel              // open ones, in the order of their first pieces
	open           map[string]*channel     // by id, without those that end with the current event
	tails          map[string]*detect.Tail // ends of the texts that a channel may continue, by name
	precedingTexts map[responsePart]string // what the parts of a Response continue
	calls          map[string][]toolCall   // by choice
	callCount      int                     // number of all calls
	sequence       int64                   // original sequence number of the current event
	shift          int64                   // number of numbered events inserted before it
	repeat         repeat                  // of the event before
	text           []byte                  // new text of the current event, if it repeats that
	out            []*openai.Event
	redacts        []guardrail.Verdict
	ended          bool
}

// Stream implements [guardrail.Set].
func (s *Set) Stream(wire guardrail.Wire) guardrail.Stream {
	if wire == guardrail.Sound || len(s.output.rules) == 0 {
		return nil
	}
	return &Stream{set: s, wire: wire,
		open: map[string]*channel{}, tails: map[string]*detect.Tail{},
		precedingTexts: map[responsePart]string{}, calls: map[string][]toolCall{}}
}

// Push implements [guardrail.Stream]. The error is [ErrMalformed], [ErrTooManyTexts] or a
// [*guardrail.LimitError].
func (s *Stream) Push(event *openai.Event) ([]*openai.Event, *guardrail.Verdict, error) {
	s.out = s.out[:0]
	if s.ended || len(event.Data) == 0 {
		return nil, nil, nil
	}
	if event.Done() {
		s.repeat = repeat{}
		s.sequence++
		if v := s.flush(func(*channel) bool { return true }); v != nil {
			return s.end(v, nil)
		}
		s.out = append(s.out, event)
		return s.out, nil, nil
	}
	if s.repeats(event) {
		if v := s.pushAgain(event); v != nil {
			return s.end(v, nil)
		}
		s.out = append(s.out, event)
		return s.out, nil, nil
	}
	s.repeat = repeat{}
	members, err := event.Members()
	if err != nil {
		return s.end(nil, ErrMalformed)
	}
	e := newEventEdit(s, event, members)
	defer e.free()
	switch s.wire {
	case guardrail.Chat:
		e.readChat()
	case guardrail.Responses:
		e.readResponses()
	case guardrail.Messages:
		(&messagesEvent{eventEdit: e}).read()
	case guardrail.Generate:
		readGenerate(e)
	}
	if e.verdict == nil && e.err == nil {
		e.send()
	}
	if e.verdict != nil || e.err != nil {
		return s.end(e.verdict, e.err)
	}
	return s.out, nil, nil
}

// Close implements [guardrail.Stream].
func (s *Stream) Close() ([]*openai.Event, *guardrail.Verdict) {
	s.out = s.out[:0]
	if s.ended {
		return nil, nil
	}
	s.ended = true
	s.sequence++
	if v := s.flush(func(*channel) bool { return true }); v != nil {
		return nil, v
	}
	return s.out, nil
}

// Redacted implements [guardrail.Stream].
func (s *Stream) Redacted() []guardrail.Verdict { return s.redacts }

func (s *Stream) end(v *guardrail.Verdict, err error) ([]*openai.Event, *guardrail.Verdict, error) {
	s.ended, s.channels = true, nil
	return nil, v, err
}

// channel returns the open channel of an id, or a new one. It returns nil if there are too many.
func (s *Stream) channel(id, group string) (c *channel, fresh bool) {
	if c, ok := s.open[id]; ok {
		return c, false
	}
	if len(s.channels) == maxChannels {
		return nil, false
	}
	c = newChannel(id, group, s)
	s.channels, s.open[id] = append(s.channels, c), c
	return c, true
}

// flush ends the selected channels and inserts events with the text they held back.
func (s *Stream) flush(selected func(*channel) bool) *guardrail.Verdict {
	kept := s.channels[:0]
	var remainders []remainder
	for _, c := range s.channels {
		if !selected(c) {
			kept = append(kept, c)
			continue
		}
		if s.open[c.id] == c {
			delete(s.open, c.id)
		}
		text, v := c.finish()
		if v != nil {
			return v
		}
		s.redacts = c.output.redacted(c.matcher, s.redacts)
		c.release()
		if text != "" {
			remainders = append(remainders, remainder{c, text})
		}
	}
	clear(s.channels[len(kept):])
	s.channels = kept
	s.insert(remainders)
	return nil
}

// remainder is the text that a channel held back until its end.
type remainder struct {
	*channel
	text string
}

// insert adds events with remainders. The remainders of one choice share a chunk if they can: some
// providers send the same reasoning under two names, and clients read one of them from each chunk.
func (s *Stream) insert(remainders []remainder) {
	for len(remainders) > 0 {
		n := 1
		for n < len(remainders) && remainders[n].fitsChunk(remainders[:n]) {
			n++
		}
		first := &remainders[0].template
		data := first.with(remainders[0].text, s.sequence+s.shift)
		if n > 1 {
			data = mergedChunk(remainders[:n])
		}
		s.out = append(s.out, openai.NewEvent([]byte(first.name), data))
		if first.sequence.End > 0 {
			s.shift++
		}
		remainders = remainders[n:]
	}
}

// fitsChunk reports whether a remainder can share a chunk with others.
func (r remainder) fitsChunk(others []remainder) bool {
	return r.template.member != "" && r.group == others[0].group &&
		!slices.ContainsFunc(others, func(o remainder) bool { return o.template.member == r.template.member })
}

// mergedChunk returns one chunk with several members of a delta.
func mergedChunk(remainders []remainder) []byte {
	first := &remainders[0].template
	out := append([]byte(nil), first.head[:first.deltaIn]...)
	for i, r := range remainders {
		sign := byte(',')
		if i == 0 {
			sign = '{'
		}
		out = append(append(out, sign), r.template.head[r.template.deltaIn+1:]...)
		out = append(jsonscan.AppendString(out, r.text), r.template.tail[:r.template.deltaTo-1]...)
	}
	return append(append(out, '}'), first.tail[first.deltaTo:]...)
}

// with returns the event with a text, and with a sequence number if it has one.
func (e *eventTemplate) with(text string, sequence int64) []byte {
	out := append([]byte(nil), e.head[:e.sequence.Start]...)
	if e.sequence.End > 0 {
		out = strconv.AppendInt(out, sequence, 10)
	}
	out = append(out, e.head[e.sequence.End:]...)
	out = jsonscan.AppendString(out, text)
	return append(out, e.tail...)
}
