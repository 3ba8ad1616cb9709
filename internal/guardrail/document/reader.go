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
	"cmp"
	"context"

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
}

// Reset prepares the reader for a body.
func (r *Reader) Reset(matcher *detect.Matcher, body []byte, answer bool) {
	r.Edits.Reset(body, answer)
	*r = Reader{Edits: r.Edits, matcher: matcher}
}

// Release drops the body and the matcher.
func (r *Reader) Release() {
	r.Edits.Release()
	*r = Reader{Edits: r.Edits}
}

// Read reads all strings of the body, until a rule denies it or ctx ends. The error is
// [detect.ErrDenied], a [*DuplicateError], a [*LimitError], or that of ctx.
func (r *Reader) Read(ctx context.Context) error {
	r.done = ctx.Done()
	w := Walker{Data: r.body, Answer: r.answer}
	w.Visit = func(at Span) {
		r.err = r.Text(at, w.Context())
		w.Stop = r.err != nil
	}
	err := cmp.Or(w.Walk(), r.err)
	if err == detect.ErrStopped {
		return ctx.Err()
	}
	return err
}

// Text reads one string, quotes included, or another value as its JSON text. The error is
// [detect.ErrDenied], [detect.ErrStopped] or a [*LimitError].
func (r *Reader) Text(at Span, how Context) error {
	value := r.body[at.Start:at.End]
	text, inner := TextOf(value), InnerJSON{}
	how.InnerJSON = how.InnerJSON || isJSON(text)
	plain := text
	if how.InnerJSON {
		plain = inner.whole(text)
	}
	edits, err := r.matcher.Whole(plain, r.follow(plain, how), r.done)
	r.hits += len(edits)
	switch {
	case err == detect.ErrTooManyHits || r.hits > detect.MaxHits:
		return &LimitError{What: "matches"}
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
		return &LimitError{What: "matches"}
	}
	return nil
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
