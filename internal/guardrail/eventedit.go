package guardrail

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// eventEdit is one event in work.
type eventEdit struct {
	*scratch
	stream   *Stream
	name     []byte
	data     []byte
	sequence document.Span // of its sequence number
	verdict  *Verdict
	err      error
}

// region is a place in an event that is to be read or changed.
type region struct {
	at      document.Span
	channel *channel         // the text it is a piece of; nil for a whole text
	how     document.Context // of a whole text
	logs    bool             // token probabilities
}

// walk collects the regions. Look says which channel the string that the walker
// is at belongs to, if any, or how else it is read, or that it is not.
func (e *eventEdit) walk(look func(w *document.Walker, at document.Span) (c *channel, how document.Context, unread bool)) {
	w := document.Walker{Data: e.data, Answer: true, Event: true, Frames: e.frames}
	w.Logprobs = func(at document.Span) { e.regions = append(e.regions, region{at: at, logs: true}) }
	w.Visit = func(at document.Span) {
		if e.err != nil {
			return
		}
		c, how, unread := look(&w, at)
		if unread {
			return
		}
		if c != nil {
			c.left++
		}
		e.regions = append(e.regions, region{at: at, channel: c, how: how})
	}
	_ = w.Walk() // of an answer: no key is too many
	e.frames = w.Frames[:0]
}

// open returns the channel of an id, and whether it is new.
func (e *eventEdit) open(id, group string) (c *channel, fresh bool) {
	if c, fresh = e.stream.channel(id, group); c == nil && e.err == nil {
		e.err = ErrTooManyTexts
	}
	return c, fresh
}

// send appends the event, and before it the ends of the channels that end
// without a piece in it.
func (e *eventEdit) send() {
	s := e.stream
	if e.verdict = s.flush(func(c *channel) bool { return c.ending && c.left == 0 }); e.verdict != nil {
		return
	}
	matcher := s.set.output.matcher()
	defer s.set.output.release(matcher)
	e.reader.Reset(matcher, e.data, true)
	if e.sequence.End > 0 && s.shift > 0 {
		e.regions = append(e.regions, region{at: e.sequence})
		slices.SortStableFunc(e.regions, func(a, b region) int { return cmp.Compare(a.at.Start, b.at.Start) })
	}
	for _, r := range e.regions {
		switch {
		case r.logs:
			e.reader.EmptyLogprobs(r.at)
		case r.at == e.sequence:
			e.reader.PutValue(r.at, strconv.AppendInt(nil, s.sequence+s.shift, 10))
		case r.channel == nil:
			e.text(matcher, r)
		default:
			e.piece(r)
		}
		if e.verdict != nil || e.err != nil {
			return
		}
	}
	s.redacts = s.set.output.redacted(matcher, s.redacts)
	s.channels = slices.DeleteFunc(s.channels, func(c *channel) bool { return c.ending })
	data := e.data
	if out := e.reader.Apply(); out != nil {
		data = out
	}
	s.out = append(s.out, Event{Name: e.name, Data: data})
}

// text reads a whole text.
func (e *eventEdit) text(matcher *detect.Matcher, r region) {
	if e.err = e.reader.Text(r.at, r.how); e.err == detect.ErrDenied {
		e.verdict, e.err = e.stream.set.output.verdict(matcher), nil
	}
}

// piece puts what may be sent of a channel in the place of a piece of it.
func (e *eventEdit) piece(r region) {
	c := r.channel
	value := e.data[r.at.Start:r.at.End]
	text, v := c.push(c.pieces.Decode(value))
	c.left--
	if v == nil && c.ending && c.left == 0 {
		var rest string
		rest, v = c.finish()
		text += rest
	}
	if v != nil {
		e.verdict = v
		return
	}
	e.stream.redacts = c.output.redacted(c.matcher, e.stream.redacts)
	if value[0] != '"' || text != document.TextOf(value) {
		e.reader.PutValue(r.at, jsonscan.AppendString(nil, text))
	}
}

// end marks the channels that which names as ending with this event.
func (e *eventEdit) end(which func(*channel) bool) {
	s := e.stream
	for _, c := range s.channels {
		if !c.ending && which(c) {
			c.ending = true
			delete(s.open, c.id)
		}
	}
}

// follow has a new channel go on from what was last read by that name, and
// returns that.
func (e *eventEdit) follow(c *channel, name string) (before string) {
	s := e.stream
	c.tail = s.tails[name]
	if c.tail == nil && len(s.tails) < maxChannels {
		c.tail = new(detect.Tail)
		s.tails[name] = c.tail
	}
	if c.tail != nil {
		before = c.tail.String()
	}
	c.matcher.Follow(before)
	return before
}

// member returns the value of the member named key, nil without it.
func member(object []byte, members []jsonscan.Member, key string) []byte {
	i, ok := jsonscan.Find(object, members, key)
	if !ok {
		return nil
	}
	return members[i].Value(object)
}

// maxCopiedValue bounds a value that is kept for the events that are put in; those
// of identifiers are shorter.
const maxCopiedValue = 1024

// appendMember appends a member whose value is raw JSON, and a comma.
func appendMember(dst []byte, key string, value []byte) []byte {
	if len(value) == 0 || len(value) > maxCopiedValue {
		return dst
	}
	dst = jsonscan.AppendString(dst, key)
	dst = append(dst, ':')
	dst = append(dst, value...)
	return append(dst, ',')
}
