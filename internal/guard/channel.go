package guard

import "math"

// channel is one text of a stream, whose pieces come in deltas: the content of
// a choice, its refusal, its reasoning, the arguments of one tool call.
type channel struct {
	id     string
	group  string // what ends together: the choice, or the output item
	reader *reader
	held   string // read and not yet sent
	send   event  // an event that carries nothing but a piece of it
	ending bool   // it ends with the event in work
	pieces int    // how many pieces of it that event has left
}

// event is an event but for the text in it.
type event struct {
	name       string
	head, tail []byte
	sequence   span // in head: the digits of its sequence_number, if it has one
}

func newChannel(id, group string, s *Stream) *channel {
	c := &channel{id: id, group: group, reader: newReader(s.set.output.rules)}
	c.reader.reset(s.set.window)
	return c
}

// push reads a piece, and returns what may be sent of all that is held.
func (c *channel) push(piece string) (string, *Verdict) {
	c.held += piece
	if !c.reader.scan(piece) {
		return "", c.reader.verdict()
	}
	return c.cut(c.reader.settled()), nil
}

// finish ends the text, and returns what was held of it.
func (c *channel) finish() (string, *Verdict) {
	if !c.reader.end() {
		return "", c.reader.verdict()
	}
	return c.cut(math.MaxInt), nil
}

// cut takes what is before the character at to off what is held.
func (c *channel) cut(to int) string {
	r := c.reader
	if len(c.held) == 0 {
		return ""
	}
	r.list = r.cover.edits(r.list[:0], c.held, to, &r.found, r.rules)
	r.cover.walk(c.held, to)
	n := r.cover.byte
	r.cover.byte = 0
	out := c.held[:n]
	c.held = c.held[n:]
	if len(r.list) > 0 {
		out = string(apply(nil, out, r.list))
	}
	return out
}
