package guardrail

import (
	"bytes"
	"errors"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxChannels bounds how many texts a stream may have open at once: each holds
// up to its window, and what the rules remember of it.
const maxChannels = 512

// ErrTooManyTexts is returned for a stream that has more texts open at once
// than anybody sends. It is the provider's mistake (502).
var ErrTooManyTexts = errors.New("too many texts open in one stream")

// Wire is a form of streams.
type Wire uint8

// The wires.
const (
	Chat      Wire = iota // chat.completion.chunk objects, then [DONE]
	Responses             // the typed events of the Responses API
)

// Event is one event of a stream, as an SSE reader gives it.
type Event struct {
	Name, Data []byte
}

// Stream judges an answer event by event. It is a state machine without clock
// or I/O, driven by one goroutine.
//
//	events --Push--> channels (what is held) --> the same events, and a few more
//	                     | a rule that denies
//	                     v
//	                  Verdict: nothing more is sent
//
// Each event goes out at once, with as much of the text of its channels as can
// no longer become part of a find, which may be none. What is held goes out in
// later events of its channel, and the rest in one more event before the event
// that ends the channel: the finish reason of its choice, the done event of its
// part or item, the end of the stream. Only where such an event was put in do
// the sequence numbers of later ones change. Token probabilities are emptied,
// for they repeat the text ahead of it. The texts that done and terminal
// events repeat are read again, as whole texts.
type Stream struct {
	set            *Set
	wire           Wire
	channels       []*channel              // in the order in which they began
	open           map[string]*channel     // those that do not end with the event in work, by id
	tails          map[string]*detect.Tail // what texts that may go on end with
	precedingTexts map[responsePart]string // and what the parts of a Response go on from
	calls          map[string][]toolCall   // by choice
	callCount      int                     // how many calls these are
	sequence       int64                   // the sequence number of the event in work, as it came
	shift          int64                   // how many numbered events were put in before it
	out            []Event
	redacts        []Verdict
	ended          bool
}

// Stream returns the judge of one streamed answer, or nil where nothing reads
// answers. It stands before the translation to what the client gets: an event
// that is put in names its tool call by the id too, as not every client
// expects.
func (s *Set) Stream(wire Wire) *Stream {
	if s == nil || len(s.output.rules) == 0 {
		return nil
	}
	return &Stream{set: s, wire: wire,
		open: map[string]*channel{}, tails: map[string]*detect.Tail{},
		precedingTexts: map[responsePart]string{}, calls: map[string][]toolCall{}}
}

var doneMark = []byte("[DONE]")

// Push takes one event and returns those to send now; their data is valid
// until the next call, and as long as the event's own.
// A Verdict ends the stream: what is returned with it is to be sent, nothing
// after it. The error is [ErrMalformed], [ErrTooManyTexts] or a
// [*LimitError], and ends it too.
func (s *Stream) Push(name, data []byte) ([]Event, *Verdict, error) {
	s.out = s.out[:0]
	data = bytes.TrimSpace(data)
	if s.ended || len(data) == 0 {
		return nil, nil, nil
	}
	if bytes.Equal(data, doneMark) {
		s.sequence++
		if v := s.flush(func(*channel) bool { return true }); v != nil {
			return s.end(v, nil)
		}
		s.out = append(s.out, Event{Name: name, Data: data})
		return s.out, nil, nil
	}
	e := &eventEdit{scratch: scratches.Get().(*scratch), stream: s, name: name, data: data}
	defer e.free()
	var err error
	if e.members, err = jsonscan.Lenient(data, e.members[:0]); err != nil {
		return s.end(nil, ErrMalformed)
	}
	e.choices, e.regions, e.elements = e.choices[:0], e.regions[:0], e.elements[:0]
	if s.wire == Chat {
		e.readChat()
	} else {
		e.readResponses()
	}
	if e.verdict == nil && e.err == nil {
		e.send()
	}
	if e.verdict != nil || e.err != nil {
		return s.end(e.verdict, e.err)
	}
	return s.out, nil, nil
}

// Close returns what is held when a stream ended without an event that says
// so. Afterwards Push returns nothing.
func (s *Stream) Close() ([]Event, *Verdict) {
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

// Redacted says what was taken out so far, each kind once.
func (s *Stream) Redacted() []Verdict { return s.redacts }

func (s *Stream) end(v *Verdict, err error) ([]Event, *Verdict, error) {
	s.ended, s.channels = true, nil
	return nil, v, err
}

// channel returns the open channel of an id, a new one if there is none; nil
// if there are too many.
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

// flush ends the channels that which names and puts in events with what was
// held of them.
func (s *Stream) flush(which func(*channel) bool) *Verdict {
	kept := s.channels[:0]
	var remainders []remainder
	for _, c := range s.channels {
		if !which(c) {
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
		if text != "" {
			remainders = append(remainders, remainder{c, text})
		}
	}
	clear(s.channels[len(kept):])
	s.channels = kept
	s.insert(remainders)
	return nil
}

// remainder is what was held of a text when it ended.
type remainder struct {
	*channel
	text string
}

// insert puts in the events with remainders. Those of one choice are one chunk where
// they can be: some providers tell the same reasoning by two names, and clients
// take one of them from each chunk.
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
		s.out = append(s.out, Event{Name: []byte(first.name), Data: data})
		if first.sequence.End > 0 {
			s.shift++
		}
		remainders = remainders[n:]
	}
}

// fitsChunk tells whether a rest can go out in one chunk with others.
func (r remainder) fitsChunk(others []remainder) bool {
	return r.template.member != "" && r.group == others[0].group &&
		!slices.ContainsFunc(others, func(o remainder) bool { return o.template.member == r.template.member })
}

// mergedChunk is the chunk with several members of a delta.
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

// with is the event with a text, and with a sequence number if it has one.
func (e *eventTemplate) with(text string, sequence int64) []byte {
	out := append([]byte(nil), e.head[:e.sequence.Start]...)
	if e.sequence.End > 0 {
		out = strconv.AppendInt(out, sequence, 10)
	}
	out = append(out, e.head[e.sequence.End:]...)
	out = jsonscan.AppendString(out, text)
	return append(out, e.tail...)
}
