// Package document reads the texts in JSON bodies and in the events of streams, and takes out what
// the rules of package detect find in them.
//
// A [Walker] goes through a body and visits every string, at any depth and under any name, except
// the exemptions listed in exemptions.go. So a member that an API adds tomorrow is read from its
// first day. A [Reader] runs the rules over each string and collects the [Edits] of the body. JSON
// inside a string, such as the arguments of a tool call, is read as decoded and stays JSON
// ([InnerJSON]).
package document

import (
	"bytes"
	"context"
	"unsafe"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Reader runs the rules of a matcher over the strings of one body or event, and collects the edits
// that take out what they find.
type Reader struct {
	Edits
	matcher *detect.Matcher
	done    <-chan struct{} // closed when the caller has gone
	hits    int
	err     error
	part    part        // of the string before
	before  detect.Tail // the end of the strings of that part
	walker  Walker
	text    []byte // the last text that had escapes
}

// maxKeptText and maxKeptFrames bound what is kept for the next body.
const (
	maxKeptText   = 64 << 10
	maxKeptFrames = 64
)

// Reset prepares the reader for a body.
func (r *Reader) Reset(matcher *detect.Matcher, body []byte, answer bool) {
	r.Edits.Reset(body, answer)
	r.matcher, r.done, r.hits, r.err = matcher, nil, 0, nil
	r.part, r.before = part{}, detect.Tail{}
}

// Release drops the body and the matcher, and lists that are too large to keep.
func (r *Reader) Release() {
	r.Edits.Release()
	kept := Reader{Edits: r.Edits}
	if cap(r.text) <= maxKeptText {
		kept.text = r.text[:0]
	}
	if w := &r.walker; cap(w.Frames) <= maxKeptFrames {
		clear(w.Frames[:cap(w.Frames)])
		kept.walker = Walker{Visit: w.Visit, Frames: w.Frames[:0]}
	}
	*r = kept
}

// Read reads all strings of the body, until a rule denies it or ctx ends. The error is
// [detect.ErrDenied], a [*guardrail.LimitError], or that of ctx.
func (r *Reader) Read(ctx context.Context) error {
	r.done = ctx.Done()
	w := &r.walker
	w.Data, w.Answer, w.Stop = r.body, r.answer, false
	if w.Visit == nil {
		w.Visit = func(at Span) {
			r.err = r.Text(at, w.Context())
			w.Stop = r.err != nil
		}
	}
	if w.Walk(); r.err == detect.ErrStopped {
		return ctx.Err()
	}
	return r.err
}

// Text reads one string, quotes included, or another value as its JSON text. The error is
// [detect.ErrDenied], [detect.ErrStopped] or a [*guardrail.LimitError].
func (r *Reader) Text(at Span, how Context) error {
	value := r.body[at.Start:at.End]
	text, inner := r.textOf(value), InnerJSON{}
	how.InnerJSON = how.InnerJSON || isJSON(text)
	plain := text
	if how.InnerJSON {
		plain = inner.whole(text)
	}
	edits, err := r.matcher.Whole(plain, r.follow(plain, how), r.done)
	r.hits += len(edits)
	switch {
	case err == detect.ErrTooManyHits || r.hits > detect.MaxHits:
		return &guardrail.LimitError{What: "matches"}
	case err != nil || len(edits) == 0:
		return err
	}
	from := len(r.values)
	switch {
	case !how.InnerJSON:
		r.values = appendEdited(r.values, text, edits)
	case value[0] == '"':
		r.values = jsonscan.AppendString(r.values, string(inner.Append(nil, len(plain), edits, true)))
	default:
		r.appendJSON(value[0], inner.Append(nil, len(plain), edits, true))
	}
	r.put(at, from, true)
	if r.tooLong() {
		return &guardrail.LimitError{What: "matches"}
	}
	return nil
}

// textOf is TextOf without a copy. The text is valid until the next call, and while the body is.
func (r *Reader) textOf(value []byte) string {
	if value[0] == '"' {
		value = value[1 : len(value)-1]
		if bytes.IndexByte(value, '\\') >= 0 {
			r.text = jsonscan.AppendText(r.text[:0], value)
			value = r.text
		}
	}
	return unsafe.String(unsafe.SliceData(value), len(value))
}

// follow returns the end of the text that a text continues, and keeps its own end for the next
// part.
func (r *Reader) follow(text string, how Context) (before string) {
	before = how.Before
	if how.part == (part{}) {
		return before
	}
	if how.part != r.part {
		r.part, r.before = how.part, detect.Tail{}
	}
	if before == "" {
		before = r.before.String()
	}
	r.before.Add(text)
	return before
}
