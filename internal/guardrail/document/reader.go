package document

import (
	"cmp"
	"context"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Reader reads the strings of one body, or of one event, by the rules of a
// matcher, and has the edits that take out what they find.
type Reader struct {
	Edits
	matcher *detect.Matcher
	done    <-chan struct{} // closed when nobody wants the answer any more
	hits    int
	err     error
	part    part        // which the string before was of
	before  detect.Tail // and what it and those before it ended with
}

// Reset makes the reader ready for a body.
func (r *Reader) Reset(matcher *detect.Matcher, body []byte, answer bool) {
	r.Edits.Reset(body, answer)
	*r = Reader{Edits: r.Edits, matcher: matcher}
}

// Release lets go of the body and the matcher.
func (r *Reader) Release() {
	r.Edits.Release()
	*r = Reader{Edits: r.Edits}
}

// Read goes through the body, until a rule denies it or ctx ends. The error is
// [detect.ErrDenied], a [*DuplicateError], a [*LimitError], or why ctx ended.
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

// Text reads a string value, quotes included, or what else is read as a text.
// The error is [detect.ErrDenied], [detect.ErrStopped] or a [*LimitError].
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
		return &LimitError{What: "finds"}
	case err != nil || len(edits) == 0:
		return err
	}
	from := len(r.values)
	switch {
	case !how.InnerJSON:
		r.values = appendEdited(r.values, text, edits)
	case value[0] == '"':
		r.values = jsonscan.AppendString(r.values, string(inner.Append(nil, len(plain), edits, true)))
	default: // it stays the JSON that it is
		r.values = inner.Append(r.values, len(plain), edits, true)
	}
	r.put(at, from, true)
	if r.tooLong() {
		return &LimitError{What: "finds"}
	}
	return nil
}

// follow returns what a text goes on from, and notes its end for the part
// behind it.
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
