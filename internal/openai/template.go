package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxTemplate bounds a template, in bytes, chunk and event together: it is
	// held as long as the stream. Chunks of text are a few hundred bytes long.
	maxTemplate = 2 << 10

	// maxHoles are the creation time, the text and the padding of a chunk.
	maxHoles = 3
)

// template is a chunk and the event made of it. Nearly all chunks of a stream
// are like the one before, but for the text in them. What a chunk does to the
// stream's state it does again when it comes again, and that changes nothing
// more, unless it was the first of a choice or tool call. The repair looks at
// no text but to see whether there was any yet. So behind a chunk that was no
// first, one that differs from it in the text alone gives the same event but
// for that text, and no other state.
type template struct {
	chunk, event []byte // no chunk: no template
	holes        [maxHoles]hole
	n            int
	usage        bool // the chunk tells it
}

// hole is a value that may differ, in the chunk and in the event.
type hole struct {
	in, out int // where it begins
	length  int // 0 for no hole
	gap     int // in the event, up to the same value once more; 0 for none
	digits  bool
}

func (t *template) forget() { t.chunk = t.chunk[:0] }

// learn makes the template of a chunk and its event.
func (t *template) learn(chunk, event []byte, holes []hole) {
	if len(holes) == 0 || len(chunk)+len(event) > maxTemplate || len(holes) > maxHoles {
		return
	}
	t.chunk = append(t.chunk, chunk...)
	t.event = append(t.event[:0], event...)
	t.n = copy(t.holes[:], holes)
}

// apply appends the event of a chunk. It is false for one that is not like
// the template.
func (t *template) apply(dst, chunk []byte) ([]byte, bool) {
	if len(t.chunk) == 0 {
		return dst, false
	}
	start, at, in, out := len(dst), 0, 0, 0
	for _, h := range t.holes[:t.n] {
		same := t.chunk[in:h.in]
		if len(chunk)-at < len(same) || string(chunk[at:at+len(same)]) != string(same) {
			return dst[:start], false
		}
		at += len(same)
		end, ok := h.end(chunk, at)
		if !ok {
			return dst[:start], false
		}
		dst = append(dst, t.event[out:h.out]...)
		dst = append(dst, chunk[at:end]...)
		out = h.out + h.length
		if h.gap > 0 {
			dst = append(dst, t.event[out:out+h.gap]...)
			dst = append(dst, chunk[at:end]...)
			out += h.gap + h.length
		}
		at, in = end, h.in+h.length
	}
	if string(chunk[at:]) != string(t.chunk[in:]) {
		return dst[:start], false
	}
	return append(dst, t.event[out:]...), true
}

// end returns where the value at i of a chunk ends, if it may fill the hole.
func (h hole) end(chunk []byte, i int) (int, bool) {
	if !h.digits {
		return jsonscan.StringEnd(chunk, i)
	}
	end := i
	for end < len(chunk) && '0' <= chunk[end] && chunk[end] <= '9' {
		end++
	}
	return end, isTime(chunk[i:end])
}

// isTime tells whether value is digits that setHead leaves alone and that
// stay JSON whatever stood there before.
func isTime(value []byte) bool { return isDigits(value) && value[0] != '0' }

// lift makes the text's place one in the object around: the one that p edits,
// in which the object in work is the value at start.
func (c *chat) lift(p *jsonscan.Patch, start int) {
	if c.text.length == 0 {
		return
	}
	at, ok := p.Place(start)
	if !ok {
		c.text = hole{}
		return
	}
	c.text.in += start
	c.text.out += at
}

// shift does what lift does for the only element of an array.
func (c *chat) shift(spans []jsonscan.Span) {
	if len(spans) != 1 {
		c.text = hole{}
		return
	}
	c.text.in += spans[0].Start
	c.text.out += spans[0].Start
}

// mark takes member i, a string, as the text of the object that p edits.
func (c *chat) mark(p *jsonscan.Patch, m jsonscan.Member) {
	c.text = hole{length: m.ValueEnd - m.ValueStart}
	c.lift(p, m.ValueStart)
}

// is tells whether h, relative to the object of m, is its value.
func (h hole) is(m jsonscan.Member) bool { return h.length > 0 && h.in == m.ValueStart }

// findHoles notes what may differ in the next chunk, in order: nothing where
// there is no text, for such a chunk does not come twice.
func (c *chat) findHoles(p *jsonscan.Patch, t top, data []byte) {
	members := c.members[AtTop]
	c.lift(p, members[t.choices].ValueStart)
	if c.text.length == 0 {
		return
	}
	c.addHole(c.text)
	for _, i := range [...]int{t.created, t.obfuscation} {
		if i < 0 {
			continue
		}
		m := members[i]
		h := hole{in: m.ValueStart, length: m.ValueEnd - m.ValueStart, digits: i == t.created}
		var ok bool
		if h.out, ok = p.Place(m.ValueStart); ok && (!h.digits || isTime(m.Value(data))) {
			c.addHole(h)
		}
	}
}

// addHole adds a hole, given its place in the object sent, in order.
func (c *chat) addHole(h hole) {
	h.out += len("data: ")
	c.holes = append(c.holes, h)
	for i := len(c.holes) - 1; i > 0 && c.holes[i].in < c.holes[i-1].in; i-- {
		c.holes[i], c.holes[i-1] = c.holes[i-1], c.holes[i]
	}
}
