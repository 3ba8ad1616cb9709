package tochat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// reader reads a provider's chunks, or its whole completion, and gives their content to a builder.
type reader struct {
	builder
	walker walker

	choice   int64  // the index of the choice that is the answer, -1 before it began
	tokens   []byte // the log probabilities of the chunk that is being read
	template textTemplate

	// Of the chunk that is being read:
	textStart, textEnd int  // where its text is, quotes included; 0 and 0 for none
	hasMore            bool // it has more content than this text
}

func newReader(b builder) reader { return reader{builder: b, choice: -1} }

// walker has the memory of the walks through a chunk, which the next chunk uses again.
type walker struct {
	members [levels][]jsonscan.Member
	spans   [2][]jsonscan.Span
}

// The levels of a chunk. A walk through one does not disturb those above.
const (
	atTop = iota
	atChoice
	atDelta
	atElement // of a list in the delta
	atInner   // an object in such an element
	levels
)

func (w *walker) walk(level int, object []byte) []jsonscan.Member {
	w.members[level] = jsonscan.Members(object, w.members[level][:0])
	return w.members[level]
}

// choices walks the choices of a chunk.
func (w *walker) choices(array []byte) []jsonscan.Span {
	w.spans[0] = jsonscan.Elements(array, w.spans[0][:0])
	return w.spans[0]
}

// list walks an array in a delta.
func (w *walker) list(array []byte) []jsonscan.Span {
	w.spans[1] = jsonscan.Elements(array, w.spans[1][:0])
	return w.spans[1]
}

// trim releases the memory of a long chunk.
func (w *walker) trim() {
	for i := range w.members {
		if cap(w.members[i]) > translate.MaxMembers {
			w.members[i] = nil
		}
	}
	for i := range w.spans {
		if cap(w.spans[i]) > translate.MaxMembers {
			w.spans[i] = nil
		}
	}
}

func (r *reader) trim() {
	r.walker.trim()
	if cap(r.tokens) > translate.MaxScratch {
		r.tokens = nil
	}
}

// read takes a chunk, or a whole completion, as package openai repaired it. The request was for one
// choice; others that a provider adds are not the answer.
func (r *reader) read(object []byte) *apierror.Error {
	if piece, ok := r.template.match(object); ok {
		r.text(piece, nil)
		return r.checkSize()
	}
	r.template.forget()
	r.textStart, r.textEnd, r.hasMore = 0, 0, r.original.logprobs
	var choices []byte
	base := 0
	for _, m := range r.walker.walk(atTop, object) {
		value := m.Value(object)
		switch string(m.DecodedKey(object)) {
		case "choices":
			choices, base = value, m.ValueStart
		case "created":
			if n, ok := jsonscan.Int(value); ok && r.created == 0 {
				r.created = n
			}
		case "service_tier":
			if m.Kind == '"' && len(value) <= translate.MaxTier {
				r.tier = append(r.tier[:0], value...)
			}
		}
	}
	r.begin()
	spans := r.walker.choices(choices)
	for _, span := range spans {
		if bad := r.readChoice(span.Value(choices), base+span.Start); bad != nil {
			return bad
		}
	}
	if r.textEnd > 0 && !r.hasMore && len(spans) == 1 {
		r.template.learn(object, r.textStart, r.textEnd)
	}
	return r.checkSize()
}

// readChoice takes a choice, which begins at base in the chunk.
func (r *reader) readChoice(object []byte, base int) *apierror.Error {
	var delta, logprobs []byte
	index, at := int64(0), 0
	for _, m := range r.walker.walk(atChoice, object) {
		value := m.Value(object)
		switch string(m.DecodedKey(object)) {
		case "index":
			index, _ = jsonscan.Int(value)
		case "delta", "message":
			delta, at = value, base+m.ValueStart
		case "logprobs":
			logprobs = value
		}
	}
	if r.choice < 0 {
		r.choice = index
	}
	if index != r.choice {
		return nil
	}
	r.tokens = r.tokens[:0]
	if r.original.logprobs && len(logprobs) > 0 && logprobs[0] == '{' {
		r.readLogprobs(logprobs)
	}
	return r.readDelta(delta, at)
}

// readLogprobs collects the log probabilities of a chunk's text in r.tokens. Those of a refusal
// have no counterpart in a response.
func (r *reader) readLogprobs(object []byte) {
	for _, m := range r.walker.walk(atElement, object) {
		if string(m.DecodedKey(object)) != "content" {
			continue
		}
		list := m.Value(object)
		for _, span := range r.walker.list(list) {
			if span.Kind == '{' {
				r.tokens = translate.AppendToken(r.tokens, span.Value(list), "[]")
			}
		}
		return
	}
}
