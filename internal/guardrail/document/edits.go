package document

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxGrowth is how many bytes longer than twice the body the new values may be.
	maxGrowth = 4 << 20

	// maxKeptChanges and maxKeptValues bound the lists that are kept for the next body. A usual
	// event has a few dozen changes, the worst has thousands.
	maxKeptChanges = 256
	maxKeptValues  = 16 << 10
)

// Edits collects replacements of values in one body. They must be added in the order of the body.
type Edits struct {
	body    []byte
	answer  bool
	changes []change
	values  []byte // the values of the changes
}

// change replaces a value.
type change struct {
	at       Span
	from, to int  // the new value in Edits.values
	text     bool // the value is a text
}

// Reset prepares the edits for a body.
func (e *Edits) Reset(body []byte, answer bool) {
	e.body, e.answer = body, answer
	e.changes, e.values = e.changes[:0], e.values[:0]
}

// Release drops the body, and lists that are too large to keep.
func (e *Edits) Release() {
	e.body = nil
	if cap(e.changes) > maxKeptChanges || cap(e.values) > maxKeptValues {
		e.changes, e.values = nil, nil
	}
}

// PutEdits makes edits in a text, which is the string at a position, or the JSON of another value
// there. Such a value stays JSON.
func (e *Edits) PutEdits(at Span, text string, edits []detect.Edit) {
	from := len(e.values)
	if e.body[at.Start] == '"' {
		e.values = appendEdited(e.values, text, edits)
	} else {
		e.appendJSON(e.body[at.Start], editJSON(text, edits))
	}
	e.put(at, from, true)
}

// appendJSON appends the edited text of a value that was not a string. A number, true or false
// becomes one.
func (e *Edits) appendJSON(first byte, edited []byte) {
	if first == '{' || first == '[' {
		e.values = append(e.values, edited...)
	} else {
		e.values = jsonscan.AppendString(e.values, string(edited))
	}
}

// PutValue replaces a value by JSON. It does not count as a change of a text, so annotations stay.
func (e *Edits) PutValue(at Span, value []byte) {
	from := len(e.values)
	e.values = append(e.values, value...)
	e.put(at, from, false)
}

// EmptyLogprobs empties the value of a member logprobs: null for an object, as in a choice, and an
// empty list for a list, as in a part.
func (e *Edits) EmptyLogprobs(at Span) {
	empty := "null"
	if e.body[at.Start] == '[' {
		empty = "[]"
	}
	e.PutValue(at, []byte(empty))
}

// put replaces a value by what was appended to values since from.
func (e *Edits) put(at Span, from int, text bool) {
	e.changes = append(e.changes, change{at, from, len(e.values), text})
}

// tooLong reports whether the new values exceed maxGrowth.
func (e *Edits) tooLong() bool { return len(e.values) > 2*len(e.body)+maxGrowth }

// Apply returns the edited body, nil if there are no edits. It also empties what was derived from
// texts that were changed: their signatures, and in an answer their annotations.
func (e *Edits) Apply() []byte {
	if len(e.changes) == 0 {
		return nil
	}
	e.emptyDerived()
	out := make([]byte, 0, len(e.body)+len(e.values))
	at := 0
	for _, c := range e.changes {
		if c.at.Start < at { // inside a value that was replaced
			continue
		}
		out = append(out, e.body[at:c.at.Start]...)
		out = append(out, e.values[c.from:c.to]...)
		at = c.at.End
	}
	return append(out, e.body[at:]...)
}

// Len returns how many edits there are.
func (e *Edits) Len() int { return len(e.changes) }

// Move corrects the offsets of the members of the body for what Apply returned.
func (e *Edits) Move(members []jsonscan.Member) {
	at, by, next := 0, 0, 0 // by is how much longer the body is before at
	moved := func(offset int) int {
		for ; next < len(e.changes) && e.changes[next].at.Start < offset; next++ {
			if c := e.changes[next]; c.at.Start >= at {
				by += c.to - c.from - (c.at.End - c.at.Start)
				at = c.at.End
			}
		}
		return offset + by
	}
	for i := range members {
		m := &members[i]
		m.KeyStart, m.KeyEnd = moved(m.KeyStart), moved(m.KeyEnd)
		m.ValueStart, m.ValueEnd = moved(m.ValueStart), moved(m.ValueEnd)
	}
}

// emptyDerived empties the annotations of objects with a changed text, because they name positions
// in the old text, and the signatures, which no longer fit. A provider refuses a text with a wrong
// signature if it comes back, and an empty one says that there is none.
func (e *Edits) emptyDerived() {
	changes := e.changes
	if !slices.ContainsFunc(changes, func(c change) bool { return c.text }) {
		return
	}
	if !e.answer && !bytes.Contains(e.body, []byte(`"signature"`)) {
		return
	}
	w := Walker{Data: e.body, Answer: e.answer, Visit: func(Span) {}}
	w.onDerived = func(object, derived Span) {
		empty := `""`
		if e.body[derived.Start] == '[' {
			empty = "[]"
		}
		i, _ := slices.BinarySearchFunc(changes, object.Start, func(c change, at int) int { return cmp.Compare(c.at.Start, at) })
		for ; i < len(changes) && changes[i].at.Start < object.End; i++ {
			if c := changes[i]; c.text && (c.at.Start < derived.Start || c.at.Start >= derived.End) {
				e.PutValue(derived, []byte(empty))
				return
			}
		}
	}
	w.Walk()
	slices.SortStableFunc(e.changes, func(a, b change) int { return cmp.Compare(a.at.Start, b.at.Start) })
}

// WithoutLogprobs returns an answer with all token probabilities emptied: they repeat the text in
// pieces, together with its alternatives.
func WithoutLogprobs(body []byte) []byte {
	if !mayHaveLogprobs(body) {
		return body
	}
	var edits Edits
	edits.Reset(body, false)
	w := Walker{Data: body, Answer: true, Visit: func(Span) {}, Logprobs: edits.EmptyLogprobs}
	w.Walk()
	if out := edits.Apply(); out != nil {
		return out
	}
	return body
}

// mayHaveLogprobs reports whether a member logprobs may have another value than null, which usual
// answers have. It takes a text that looks like such a member for one.
func mayHaveLogprobs(body []byte) bool {
	key, space := []byte(`"logprobs"`), " \t\r\n"
	for at := bytes.Index(body, key); at >= 0; at = bytes.Index(body, key) {
		body = body[at+len(key):]
		value, isKey := bytes.CutPrefix(bytes.TrimLeft(body, space), []byte(":"))
		if !isKey || !bytes.HasPrefix(bytes.TrimLeft(value, space), []byte("null")) {
			return true
		}
	}
	return false
}

// appendEdited appends text as a JSON string with the edits made.
func appendEdited(dst []byte, text string, edits []detect.Edit) []byte {
	dst = append(dst, '"')
	at := 0
	for _, e := range edits {
		dst = appendInner(dst, text[at:e.From])
		dst = append(dst, e.Mark...)
		at = e.To
	}
	return append(appendInner(dst, text[at:]), '"')
}

// appendInner appends a part of a JSON string whose opening quote is in dst. It drops the quotes
// that AppendString adds.
func appendInner(dst []byte, part string) []byte {
	last := len(dst) - 1
	c := dst[last]
	dst = jsonscan.AppendString(dst[:last], part)
	dst[last] = c
	return dst[:len(dst)-1]
}
