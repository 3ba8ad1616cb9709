package guardrail

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// pushed is one event in work.
type pushed struct {
	*scratch
	stream   *Stream
	name     []byte
	data     []byte
	sequence span // of its sequence number
	verdict  *Verdict
	err      error
}

// spot is a place in an event that is to be read or changed.
type spot struct {
	at      span
	channel *channel // the text it is a piece of; nil for a whole text
	how     form     // of a whole text
	logs    bool     // token probabilities
}

// walk collects the spots. Look says which channel the string that the finder
// is at belongs to, if any, or how else it is read.
func (e *pushed) walk(look func(f *finder, start, end int) (*channel, form)) {
	f := finder{data: e.data, answer: true, event: true, frames: e.frames}
	f.visit = func(start, end int) {
		if e.err != nil {
			return
		}
		if at, ok := f.inLogprobs(); ok {
			if n := len(e.spots); n == 0 || e.spots[n-1].at.start != at {
				e.spots = append(e.spots, spot{at: span{at, valueEnd(e.data, at)}, logs: true})
			}
			return
		}
		c, how := look(&f, start, end)
		if how.unread {
			return
		}
		if c != nil {
			c.pieces++
		}
		e.spots = append(e.spots, spot{at: span{start, end}, channel: c, how: how})
	}
	_ = f.walk() // of an answer: no key is too many
	e.frames = f.frames[:0]
}

// open returns the channel of an id, and whether it is new.
func (e *pushed) open(id, group string) (c *channel, fresh bool) {
	if c, fresh = e.stream.channel(id, group); c == nil && e.err == nil {
		e.err = ErrTooManyTexts
	}
	return c, fresh
}

// send appends the event, and before it the ends of the channels that end
// without a piece in it.
func (e *pushed) send() {
	s := e.stream
	if e.verdict = s.flush(func(c *channel) bool { return c.ending && c.pieces == 0 }); e.verdict != nil {
		return
	}
	b := newBodyReader(&s.set.output, e.data)
	b.changes, b.values = e.changes[:0], e.values[:0]
	defer func() {
		e.changes, e.values = b.changes, b.values
		b.release()
	}()
	if e.sequence.end > 0 && s.shift > 0 {
		e.spots = append(e.spots, spot{at: e.sequence})
		slices.SortStableFunc(e.spots, func(a, b spot) int { return cmp.Compare(a.at.start, b.at.start) })
	}
	for _, spot := range e.spots {
		switch {
		case spot.logs && e.data[spot.at.start] == '[':
			b.raw(spot.at.start, spot.at.end, []byte("[]"))
		case spot.logs:
			b.raw(spot.at.start, spot.at.end, []byte("null"))
		case spot.at == e.sequence:
			b.raw(spot.at.start, spot.at.end, strconv.AppendInt(nil, s.sequence+s.shift, 10))
		case spot.channel == nil:
			b.text(spot.at.start, spot.at.end, spot.how)
		default:
			e.piece(b, spot)
		}
		if e.verdict, e.err = cmp.Or(e.verdict, b.verdict), b.err; e.verdict != nil || e.err != nil {
			return
		}
	}
	for _, v := range b.redacts {
		if !slices.Contains(s.redacts, v) {
			s.redacts = append(s.redacts, v)
		}
	}
	s.channels = slices.DeleteFunc(s.channels, func(c *channel) bool { return c.ending })
	data := e.data
	if out, _ := b.result(); out != nil {
		data = out
	}
	s.out = append(s.out, Event{Name: e.name, Data: data})
}

// piece puts what may be sent of a channel in the place of a piece of it.
func (e *pushed) piece(b *bodyReader, spot spot) {
	c := spot.channel
	value := e.data[spot.at.start:spot.at.end]
	text, v := c.push(c.take(value))
	c.pieces--
	if v == nil && c.ending && c.pieces == 0 {
		var rest string
		rest, v = c.finish()
		text += rest
	}
	if v != nil {
		e.verdict = v
		return
	}
	e.stream.redacts = c.reader.told(e.stream.redacts)
	if value[0] != '"' || text != decoded(value) {
		b.raw(spot.at.start, spot.at.end, jsonscan.AppendString(nil, text))
	}
}

// end marks the channels that which names as ending with this event.
func (e *pushed) end(which func(*channel) bool) {
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
func (e *pushed) follow(c *channel, name string) (before string) {
	s := e.stream
	c.tail = s.tails[name]
	if c.tail == nil && len(s.tails) < maxChannels {
		c.tail = new(tail)
		s.tails[name] = c.tail
	}
	if c.tail != nil {
		before = c.tail.String()
	}
	c.reader.before = before
	c.reader.follow()
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

// maxCopied bounds a value that is kept for the events that are put in; those
// of identifiers are shorter.
const maxCopied = 1024

// appendMember appends a member whose value is raw JSON, and a comma.
func appendMember(dst []byte, key string, value []byte) []byte {
	if len(value) == 0 || len(value) > maxCopied {
		return dst
	}
	dst = jsonscan.AppendString(dst, key)
	dst = append(dst, ':')
	dst = append(dst, value...)
	return append(dst, ',')
}
