package guardrail

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	// maxFinds is how much is taken out of one body: more stretches than that
	// are in no text of a million tokens, and each costs memory.
	maxFinds = 1 << 17

	// maxGrowth is by how many bytes the new strings of a body may be longer
	// than twice the body.
	maxGrowth = 4 << 20
)

// bodyReader reads the strings of one body, or of one event.
type bodyReader struct {
	side    *side // nil for a webhook's
	reader  *reader
	body    []byte
	changes []change
	values  []byte // the values of the changes
	finds   int
	changed bool
	verdict *Verdict
	err     error
	redacts []Verdict
	part    part // which the string before was of
	before  tail // and what it and those before it ended with
}

// change puts another value in the place of one.
type change struct {
	at       span
	from, to int  // in values
	text     bool // a text became another
}

func newBodyReader(d *side, body []byte) *bodyReader {
	return &bodyReader{side: d, reader: d.readers.Get().(*reader), body: body}
}

func (b *bodyReader) release() {
	if b.reader != nil {
		b.reader.shrink()
		b.side.readers.Put(b.reader)
		b.reader = nil
	}
}

// read goes through the body, until a rule denies it or ctx ends.
func (b *bodyReader) read(ctx context.Context) error {
	b.reader.left = ctx.Done()
	f := finder{data: b.body, answer: b.side.direction == Output}
	f.visit = func(start, end int) {
		if b.text(start, end, f.form()); b.reader.stopped {
			b.err = ctx.Err()
		}
		f.stop = b.verdict != nil || b.err != nil
	}
	return cmp.Or(f.walk(), b.err)
}

// inLogprobs tells whether the walk is below a member logprobs, and where the
// value of it begins.
func (f *finder) inLogprobs() (start int, ok bool) {
	for i := range f.frames {
		if f.frames[i].name == "logprobs" {
			return f.frames[i].start, true
		}
	}
	return 0, false
}

// text reads a string value, quotes included, or what else is read as a text.
func (b *bodyReader) text(start, end int, how form) {
	text, args := decoded(b.body[start:end]), arguments{}
	how.arguments = how.arguments || isJSON(text)
	plain := b.begin(text, how, &args)
	edits, verdict := b.reader.whole(plain)
	b.finds += len(edits)
	switch {
	case verdict != nil:
		b.verdict = verdict
		return
	case b.reader.full || b.finds > maxFinds:
		b.err = &LimitError{What: "finds"}
		return
	case len(edits) == 0:
		return
	}
	b.redacts = b.reader.told(b.redacts)
	from := len(b.values)
	switch {
	case !how.arguments:
		b.values = appendEdited(b.values, text, edits)
	case b.body[start] == '"':
		b.values = jsonscan.AppendString(b.values, string(args.give(nil, len(plain), edits, true)))
	default: // it stays the JSON that it is
		b.values = args.give(b.values, len(plain), edits, true)
	}
	b.change(start, end, from, true)
	if len(b.values) > 2*len(b.body)+maxGrowth {
		b.err = &LimitError{What: "finds"}
	}
}

// put replaces a text by another.
func (b *bodyReader) put(start, end int, text []byte) {
	from := len(b.values)
	b.values = jsonscan.AppendString(b.values, string(text))
	b.change(start, end, from, true)
}

// raw replaces a value by another that tells of no other text.
func (b *bodyReader) raw(start, end int, value []byte) {
	from := len(b.values)
	b.values = append(b.values, value...)
	b.change(start, end, from, false)
}

// change replaces a value by what stands in values from there on. Changes are
// made in the order of the body.
func (b *bodyReader) change(start, end, from int, text bool) {
	b.changes = append(b.changes, change{span{start, end}, from, len(b.values), text})
	b.changed = true
}

// result returns the edited body, nil if it is as it was.
func (b *bodyReader) result() ([]byte, []Verdict) {
	if !b.changed {
		return nil, nil
	}
	if b.side.direction == Output {
		b.unlink()
	}
	out := make([]byte, 0, len(b.body)+len(b.values))
	at := 0
	for _, c := range b.changes {
		if c.at.start < at { // within one that was changed
			continue
		}
		out = append(out, b.body[at:c.at.start]...)
		out = append(out, b.values[c.from:c.to]...)
		at = c.at.end
	}
	return append(out, b.body[at:]...), b.redacts
}

// unlink empties the annotations of objects of which a text was changed: they
// tell of places in the old one.
func (b *bodyReader) unlink() {
	changes := b.changes
	if !slices.ContainsFunc(changes, func(c change) bool { return c.text }) {
		return
	}
	f := finder{data: b.body, answer: true, visit: func(int, int) {}}
	f.annotated = func(object, list span) {
		i, _ := slices.BinarySearchFunc(changes, object.start, func(c change, at int) int { return cmp.Compare(c.at.start, at) })
		for ; i < len(changes) && changes[i].at.start < object.end; i++ {
			if c := changes[i]; c.text && (c.at.start < list.start || c.at.start >= list.end) {
				b.raw(list.start, list.end, []byte("[]"))
				return
			}
		}
	}
	_ = f.walk() // of an answer: no key is too many
	slices.SortStableFunc(b.changes, func(a, b change) int { return cmp.Compare(a.at.start, b.at.start) })
}

// decoded is the text of a valid string value, or of a value of another kind.
func decoded(value []byte) string {
	if value[0] != '"' {
		return string(value)
	}
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	s, _ := jsonscan.String(value)
	return s
}

// withoutLogprobs empties all token probabilities of an answer: null for those
// of a choice, which are an object, an empty list for those of a part. They
// repeat the text in pieces, and say what else it might have been.
func withoutLogprobs(body []byte) []byte {
	if !bytes.Contains(body, []byte(`"logprobs"`)) {
		return body
	}
	var out []byte
	at, last := 0, -1
	f := finder{data: body, answer: true}
	f.visit = func(int, int) {
		start, ok := f.inLogprobs()
		if !ok || start == last {
			return
		}
		last = start
		end, empty := valueEnd(body, start), "null"
		if body[start] == '[' {
			empty = "[]"
		}
		out = append(append(out, body[at:start]...), empty...)
		at = end
	}
	_ = f.walk() // of an answer: no key is too many
	if out == nil {
		return body
	}
	return append(out, body[at:]...)
}

// valueEnd returns where the valid object or array at start ends.
func valueEnd(data []byte, start int) int {
	depth := 0
	for i := start; i < len(data); {
		switch data[i] {
		case '"':
			i, _ = jsonscan.StringEnd(data, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(data)
}
