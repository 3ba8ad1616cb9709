package guardrail

import (
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

// channel is one text of a stream, whose pieces come in deltas: the content of
// a choice, its refusal, its reasoning, the arguments of one tool call.
type channel struct {
	id       string
	group    string // the choice of a chat, which ends as one
	phase    phase  // of that choice
	kind     string // the type of the deltas of a Response
	at       responsePart
	output   *checks
	matcher  *detect.Matcher
	pieces   document.PieceDecoder
	inner    *document.InnerJSON // nil for a text that is no JSON
	pending  string              // read and not yet sent, decoded
	tail     *detect.Tail        // what is kept for a text that goes on from this, nil for nothing
	template eventTemplate       // an event that carries nothing but a piece of it
	ending   bool                // it ends with the event in work
	left     int                 // how many pieces of it that event has left
}

// eventTemplate is an event but for the text in it.
type eventTemplate struct {
	name       string
	head, tail []byte
	sequence   document.Span // in head: the digits of its sequence_number, if it has one

	// Of a chunk: the member of the delta that the text is in, and where the
	// delta begins in head and ends in tail. Chunks with different members can
	// be one.
	member           string
	deltaIn, deltaTo int
}

func newChannel(id, group string, s *Stream) *channel {
	return &channel{id: id, group: group, output: &s.set.output, matcher: detect.NewMatcher(s.set.output.rules, s.set.window)}
}

// push reads a piece, and returns what may be sent of all that is held.
func (c *channel) push(piece string) (string, *Verdict) {
	if c.inner != nil {
		piece = c.inner.Decode(piece, false)
	}
	if !c.read(piece) {
		return "", c.output.verdict(c.matcher)
	}
	return c.settle(false), nil
}

// begin takes text that stands before the first piece and is sent as it is.
func (c *channel) begin(text string) {
	if c.inner != nil {
		text = c.inner.Decode(text, false)
		c.inner.Skip(len(text))
	}
	if c.tail != nil {
		c.tail.Add(text)
	}
	t := detect.Tail{}
	t.Add(text)
	c.matcher.Follow(t.String())
}

func (c *channel) read(piece string) bool {
	c.pending += piece
	if c.tail != nil {
		c.tail.Add(piece)
	}
	return c.matcher.Scan(piece)
}

// finish ends the text, and returns what was held of it.
func (c *channel) finish() (string, *Verdict) {
	rest := c.pieces.End()
	if c.inner != nil {
		rest = c.inner.Decode(rest, true)
	}
	if !c.read(rest) || !c.matcher.End() {
		return "", c.output.verdict(c.matcher)
	}
	return c.settle(true), nil
}

// settle takes off what is held that can no longer become part of a find.
func (c *channel) settle(last bool) string {
	if len(c.pending) == 0 && !last {
		return ""
	}
	n, edits := c.matcher.Settle(c.pending, last)
	out := c.pending[:n]
	c.pending = c.pending[n:]
	switch {
	case c.inner != nil:
		out = string(c.inner.Append(nil, n, edits, last))
	case len(edits) > 0:
		out = string(detect.Apply(nil, out, edits))
	}
	return out
}
