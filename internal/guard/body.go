package guard

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// bodyReader reads the strings of one body, or of one event.
type bodyReader struct {
	side    *side
	reader  *reader
	body    []byte
	out     []byte // body up to at, edited
	at      int
	changed bool
	verdict *Verdict
	logs    []span // token probabilities, which repeat the text
	redacts []Verdict
	part    part // which the string before was of
	before  tail // and what it and those before it ended with
}

func newBodyReader(d *side, body []byte) *bodyReader {
	return &bodyReader{side: d, reader: d.readers.Get().(*reader), body: body}
}

func (b *bodyReader) release() {
	if b.reader != nil {
		b.side.readers.Put(b.reader)
		b.reader = nil
	}
}

// read goes through the body.
func (b *bodyReader) read() error {
	f := finder{data: b.body, answer: b.side.direction == Output}
	f.visit = func(start, end int) {
		if b.verdict == nil {
			if at, ok := f.inLogprobs(); ok && f.answer {
				if n := len(b.logs); n == 0 || b.logs[n-1].start != at {
					b.logs = append(b.logs, span{start: at})
				}
				return
			}
			b.text(start, end, f.form())
		}
	}
	return f.walk()
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

// text reads a string value, quotes included.
func (b *bodyReader) text(start, end int, how form) {
	out, verdict := b.judge(decoded(b.body[start:end]), how)
	if verdict != nil {
		b.verdict = verdict
		return
	}
	if out != nil {
		b.redacts = b.reader.told(b.redacts)
		b.put(start, end, out)
	}
}

// put replaces a string value by text.
func (b *bodyReader) put(start, end int, text []byte) {
	b.raw(start, end, jsonscan.AppendString(nil, string(text)))
}

// raw replaces a value by another.
func (b *bodyReader) raw(start, end int, value []byte) {
	b.out = append(b.out, b.body[b.at:start]...)
	b.out = append(b.out, value...)
	b.at, b.changed = end, true
}

// result returns the edited body, nil if it is as it was.
func (b *bodyReader) result() ([]byte, []Verdict) {
	if !b.changed {
		return nil, nil
	}
	b.out = append(b.out, b.body[b.at:]...)
	if len(b.logs) > 0 {
		b.out = withoutLogprobs(b.out)
	}
	return b.out, b.redacts
}

// decoded is the text of a valid string value.
func decoded(value []byte) string {
	inner := value[1 : len(value)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	s, _ := jsonscan.String(value)
	return s
}

// withoutLogprobs empties all token probabilities of an answer: null for those
// of a choice, which are an object, an empty list for those of a part.
func withoutLogprobs(body []byte) []byte {
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
