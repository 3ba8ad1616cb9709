package tochat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// reader walks the provider's objects. Its rooms are reused by every chunk.
type reader struct {
	answer
	members [levels][]jsonscan.Member
	spans   [2][]jsonscan.Span

	chosen int64  // the index of the choice that is the answer, -1 before it began
	tokens []byte // the log probabilities of the chunk in work

	same        shortcut
	piece, past int  // where the text of the chunk in work is, 0 for none
	other       bool // the chunk has more for the answer than text
}

// The levels of an answer, each with a room for its walk.
const (
	atTop = iota
	atChoice
	atDelta
	atElement // of a list in the delta
	atInner   // an object in such an element
	levels
)

func (r *reader) walk(level int, object []byte) []jsonscan.Member {
	r.members[level] = jsonscan.Members(object, r.members[level][:0])
	return r.members[level]
}

// trim gives back what a long chunk made of the rooms.
func (r *reader) trim() {
	for i := range r.members {
		if cap(r.members[i]) > translate.MaxMembers {
			r.members[i] = nil
		}
	}
	for i := range r.spans {
		if cap(r.spans[i]) > translate.MaxMembers {
			r.spans[i] = nil
		}
	}
	if cap(r.tokens) > translate.MaxScratch {
		r.tokens = nil
	}
}

func newReader(a answer) reader { return reader{answer: a, chosen: -1} }

// read takes a chunk, or a whole completion, as package openai repaired it.
// The caller asked for one choice; others that a provider adds are not the
// answer.
func (r *reader) read(object []byte) *apierror.Error {
	if piece, ok := r.same.piece(object); ok {
		r.text(piece, nil)
		return r.exceeded()
	}
	var choices []byte
	base := 0
	r.past, r.other = 0, r.original.logprobs
	r.same.forget()
	for _, m := range r.walk(atTop, object) {
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
	r.start()
	r.spans[0] = jsonscan.Elements(choices, r.spans[0][:0])
	for _, span := range r.spans[0] {
		if bad := r.readChoice(span.Value(choices), base+span.Start); bad != nil {
			return bad
		}
	}
	if r.past > 0 && !r.other && len(r.spans[0]) == 1 {
		r.same.learn(object, r.piece, r.past)
	}
	return r.exceeded()
}

// readChoice takes a choice, which stands at base in the chunk.
func (r *reader) readChoice(object []byte, base int) *apierror.Error {
	var delta, logprobs []byte
	index, at := int64(0), 0
	for _, m := range r.walk(atChoice, object) {
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
	if r.chosen < 0 {
		r.chosen = index
	}
	if index != r.chosen {
		return nil
	}
	r.tokens = r.tokens[:0]
	if r.original.logprobs && len(logprobs) > 0 && logprobs[0] == '{' {
		r.readLogprobs(logprobs)
	}
	return r.readDelta(delta, at)
}

// readDelta takes a delta or a message, which stands at base in the chunk. What
// it has is told in the order in which a model makes it.
func (r *reader) readDelta(object []byte, base int) *apierror.Error {
	var content, refusal, annotations, calls []byte
	var thought, thoughtContent, details []byte
	for _, m := range r.walk(atDelta, object) {
		value := m.Value(object)
		switch key := m.DecodedKey(object); string(key) {
		case "content":
			content = value
			r.piece, r.past = base+m.ValueStart, base+m.ValueEnd
			if _, ok := translate.Inner(value); !ok {
				r.past = 0
			}
		case "refusal":
			refusal = value
		case "annotations":
			annotations = value
		case "tool_calls":
			calls = value
		case "reasoning":
			thought = value
		case "reasoning_content":
			thoughtContent = value
		case "reasoning_details":
			details = value
		case "function_call", "audio", "images":
			if says(value) {
				return translate.ProviderFailure(r.call, "answered with \""+string(key)+"\", which a response cannot show")
			}
		}
	}
	for _, more := range [...][]byte{refusal, annotations, calls, thought, thoughtContent, details} {
		r.other = r.other || len(more) > 0 && says(more)
	}
	// Many providers send their reasoning under two names, to please all.
	if piece, ok := translate.Inner(thought); ok {
		r.think(piece)
	} else if piece, ok := translate.Inner(thoughtContent); ok {
		r.think(piece)
	} else if len(details) > 0 && details[0] == '[' {
		r.readDetails(details)
	}
	if bad := r.readContent(content); bad != nil {
		return bad
	}
	if len(annotations) > 0 && annotations[0] == '[' {
		r.readAnnotations(annotations)
	}
	if piece, ok := translate.Inner(refusal); ok {
		r.refusal(piece)
	}
	if len(calls) > 0 && calls[0] == '[' {
		return r.readCalls(calls)
	}
	return nil
}

// says tells whether a member has something in it.
func says(value []byte) bool {
	switch string(value) {
	case "null", "[]", "{}", `""`:
		return false
	}
	return true
}
