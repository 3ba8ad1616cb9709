package guardrail

import (
	"bytes"
	"math"
	"unicode/utf16"
)

// channel is one text of a stream, whose pieces come in deltas: the content of
// a choice, its refusal, its reasoning, the arguments of one tool call.
type channel struct {
	id     string
	group  string // the choice of a chat, which ends as one
	phase  phase  // of that choice
	kind   string // the type of the deltas of a Response
	at     responsePlace
	reader *reader
	args   *arguments // nil for a text that is no JSON
	half   []byte     // the escape of half a character, waiting for the other
	held   string     // read and not yet sent, decoded
	tail   *tail      // what is kept for a text that goes on from this, nil for nothing
	send   event      // an event that carries nothing but a piece of it
	ending bool       // it ends with the event in work
	pieces int        // how many pieces of it that event has left
}

// event is an event but for the text in it.
type event struct {
	name       string
	head, tail []byte
	sequence   span // in head: the digits of its sequence_number, if it has one

	// Of a chunk: the member of the delta that the text is in, and where the
	// delta begins in head and ends in tail. Chunks with different members can
	// be one.
	member           string
	deltaIn, deltaTo int
}

func newChannel(id, group string, s *Stream) *channel {
	c := &channel{id: id, group: group, reader: newReader(s.set.output.rules)}
	c.reader.reset(s.set.window)
	return c
}

// take decodes a piece, given as it stands in an event. Half a surrogate pair
// at its end waits for the other half, which some providers send by itself.
func (c *channel) take(value []byte) string {
	if value[0] != '"' {
		return string(value)
	}
	half := halfAtEnd(value[:len(value)-1])
	if half == 0 && len(c.half) == 0 {
		return decoded(value)
	}
	whole := append(append([]byte{'"'}, c.half...), value[1:len(value)-1]...)
	end := len(whole) - halfAtEnd(whole)
	c.half = bytes.Clone(whole[end:])
	return decoded(append(whole[:end], '"'))
}

// halfAtEnd is the length of the escape that a string's text ends with if that
// is the first half of a surrogate pair, else 0.
func halfAtEnd(text []byte) int {
	at := max(0, len(text)-len(`\uD800`))
	r, size, whole := unicodeEscape(string(text[at:]))
	if !whole || size == 0 || !utf16.IsSurrogate(r) || r >= 0xDC00 {
		return 0
	}
	before := bytes.TrimRight(text[:at], `\`)
	if (at-len(before))%2 == 1 {
		return 0 // its backslash is one that another escapes
	}
	return size
}

// push reads a piece, and returns what may be sent of all that is held.
func (c *channel) push(piece string) (string, *Verdict) {
	if c.args != nil {
		piece = c.args.decode(piece, false)
	}
	if !c.read(piece) {
		return "", c.reader.verdict()
	}
	return c.cut(c.reader.settled(), false), nil
}

// begin takes text that stands before the first piece and is sent as it is.
func (c *channel) begin(text string) {
	if c.args != nil {
		text = c.args.decode(text, false)
		c.args.skip(len(text))
	}
	if c.tail != nil {
		c.tail.add(text)
	}
	t := tail{}
	t.add(text)
	c.reader.before = t.String()
	c.reader.follow()
}

func (c *channel) read(piece string) bool {
	c.held += piece
	if c.tail != nil {
		c.tail.add(piece)
	}
	return c.reader.scan(piece)
}

// finish ends the text, and returns what was held of it.
func (c *channel) finish() (string, *Verdict) {
	rest := ""
	if len(c.half) > 0 {
		rest, c.half = "\ufffd", nil
	}
	if c.args != nil {
		rest = c.args.decode(rest, true)
	}
	if !c.read(rest) || !c.reader.end() {
		return "", c.reader.verdict()
	}
	return c.cut(math.MaxInt, true), nil
}

// cut takes what is before the character at to off what is held.
func (c *channel) cut(to int, last bool) string {
	r := c.reader
	if len(c.held) == 0 && !last {
		return ""
	}
	r.list = r.cover.edits(r.list[:0], c.held, to, &r.found, r.rules)
	r.cover.walk(c.held, to)
	n := r.cover.byte
	r.cover.byte = 0
	out := c.held[:n]
	c.held = c.held[n:]
	switch {
	case c.args != nil:
		out = string(c.args.give(nil, n, r.list, last))
	case len(r.list) > 0:
		out = string(apply(nil, out, r.list))
	}
	return out
}
