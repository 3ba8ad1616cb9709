package judge

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

// channel is one text of a stream, whose pieces come in deltas: the content of a choice, its
// refusal, its reasoning, or the arguments of one tool call.
type channel struct {
	id       string
	group    string // the choice, the item of a Response or the block of a message; it ends as one
	phase    phase  // of the choice
	output   *checks
	matcher  *detect.Matcher
	pieces   document.PieceDecoder
	inner    *document.InnerJSON // nil for a text that is not JSON
	tail     *detect.Tail        // its end, for a text that may continue it; may be nil
	template eventTemplate       // of an event with a piece of this text only
	begun    bool                // some of it was read
	edited   bool                // something was taken out of it
	ending   bool                // it ends with the current event
	left     int                 // pieces of it in the current event that were not read yet

	heldText
	responseText // in a Response
}

// heldText is what a channel holds back.
type heldText struct {
	pending string          // decoded text that was read and not yet sent
	text    strings.Builder // ends with pending, if the text is not JSON
}

// eventTemplate is an event without its text.
type eventTemplate struct {
	name       string
	head, tail []byte
	sequence   document.Span // digits of its sequence_number in head, if it has one

	// In a chunk: the member of the delta that has the text, the start of the delta in head, and
	// its end in tail. Chunks with different members can be merged.
	member           string
	deltaIn, deltaTo int
}

func newChannel(id, group string, s *Stream) *channel {
	return &channel{id: id, group: group, output: &s.set.output, matcher: s.set.output.pieceMatcher(s.set.window)}
}

// release ends the use of a channel that has ended: another may have its matcher.
func (c *channel) release() {
	c.output.release(c.matcher)
	c.matcher = nil
}

// releaseEnding releases the channel if it ends with the current event, and reports whether it does.
func (c *channel) releaseEnding() bool {
	if c.ending {
		c.release()
	}
	return c.ending
}

// push reads the next piece, a JSON value, and returns the text that may be sent now.
func (c *channel) push(value []byte) (string, *guardrail.Verdict) {
	var text string
	if c.inner != nil {
		text = c.pending + c.inner.Decode(c.pieces.Decode(value), false)
	} else {
		text = c.append(value)
	}
	if !c.read(text) {
		return "", c.output.verdict(c.matcher)
	}
	return c.settle(false), nil
}

// usualText is the size of the buffers that the text of a channel is gathered in, in bytes.
const usualText = 512

// append returns the pending text and the next piece, in a buffer that usually has space for many.
func (c *channel) append(value []byte) string {
	before := c.text.Len() - len(c.pending)
	if c.text.Len()+len(value) > c.text.Cap() {
		c.text.Reset() // what others have of the old one stays
		c.text.Grow(max(usualText, 2*(len(c.pending)+len(value))))
		c.text.WriteString(c.pending)
		before = 0
	}
	c.pieces.Append(&c.text, value)
	return c.text.String()[before:]
}

// begin reads text before the first piece that is sent unchanged. JSON that has begun already goes
// on: some providers announce an item again, and what was held back must not be lost.
func (c *channel) begin(text string) {
	if c.inner != nil {
		if c.begun {
			return
		}
		c.begun = true
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

// read reads what text has more than the pending text.
func (c *channel) read(text string) bool {
	piece := text[len(c.pending):]
	c.begun, c.pending = true, text
	if c.tail != nil {
		c.tail.Add(piece)
	}
	return c.matcher.Scan(piece)
}

// finish ends the text and returns what was held back.
func (c *channel) finish() (string, *guardrail.Verdict) {
	rest := c.pieces.End()
	if c.inner != nil {
		rest = c.inner.Decode(rest, true)
	}
	if !c.read(c.pending+rest) || !c.matcher.End() {
		return "", c.output.verdict(c.matcher)
	}
	return c.settle(true), nil
}

// settle returns the pending text that can no longer become part of a match, edited.
func (c *channel) settle(last bool) string {
	if len(c.pending) == 0 && !last {
		return ""
	}
	n, edits := c.matcher.Settle(c.pending, last)
	c.edited = c.edited || len(edits) > 0
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
