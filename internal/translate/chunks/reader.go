// Package chunks reads a chat completion, whole or in chunks, for a translation to another API.
// Package openai has repaired the chunks before. What remains are the shapes in which providers
// give the same content: texts or lists of parts, reasoning under several names. A [Reader] reads
// them, a [Stream] has the life of a translated stream, and a [Writer] writes the other API.
package chunks

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Options is what a [Reader] depends on.
type Options struct {
	Stream   bool   // chunks of a stream, not a whole completion
	Logprobs bool   // the caller asked for log probabilities
	Answer   string // what the caller gets, for errors: "a response"
	Details  bool   // what gets the content takes reasoning_details
}

// Reader reads a provider's chunks, or its whole completion, and gives their content to a
// translation.
type Reader struct {
	call *openai.Call
	to   translate.Content
	opt  Options

	choice int64  // the index of the choice that is the answer, -1 before it began
	calls  int64  // tool calls begun
	tokens []byte // the log probabilities of the chunk that is being read
	repeat repeat // what a chunk that repeats the one before has
}

// NewReader returns the reader of one answer.
func NewReader(call *openai.Call, to translate.Content, opt Options) Reader {
	return Reader{call: call, to: to, opt: opt, choice: -1}
}

// repeat is the content whose text is all by which a chunk differs that repeats the one before.
type repeat struct {
	kind contentKind
	call int64 // index of the tool call whose arguments it is
}

// contentKind is a kind of content in a delta.
type contentKind uint8

const (
	noContent contentKind = iota
	textContent
	reasoningContent
	argumentsContent
)

// Read takes a chunk, or a whole completion. The request was for one choice; others that a provider
// adds are not the answer.
func (r *Reader) Read(chunk *openai.Chunk) *apierror.Error {
	if chunk.Repeats {
		return r.readRepeated(chunk.Text)
	}
	r.repeat = repeat{}
	for i := range chunk.Choices {
		c := &chunk.Choices[i]
		if r.choice < 0 {
			r.choice = c.Index
		}
		if c.Index != r.choice {
			continue
		}
		if bad := r.readChoice(c); bad != nil {
			return bad
		}
		if len(chunk.Choices) == 1 && !r.opt.Logprobs {
			r.repeat = repeatOf(c, chunk.TextAt)
		}
	}
	return nil
}

// repeatOf returns what a chunk has that differs only in the text that begins at textAt: something
// if the chunk has no content but this text.
func repeatOf(c *openai.ChunkChoice, textAt int) (r repeat) {
	for _, more := range [...][]byte{c.Refusal.JSON, c.ReasoningDetails, c.Annotations} {
		if !openai.IsEmpty(more) {
			return repeat{}
		}
	}
	for _, v := range [...]struct {
		kind contentKind
		openai.ChunkValue
	}{{textContent, c.Content}, {reasoningContent, c.Reasoning}, {reasoningContent, c.ReasoningContent}} {
		switch {
		case v.At == textAt && textAt > 0:
			r.kind = v.kind
		case !openai.IsEmpty(v.JSON):
			return repeat{}
		}
	}
	switch {
	case len(c.Calls) == 0:
		return r
	case len(c.Calls) == 1 && c.Calls[0].Arguments.At == textAt && textAt > 0:
		return repeat{argumentsContent, c.Calls[0].Index}
	}
	return repeat{}
}

// readRepeated takes the text of a chunk that repeats the one before.
func (r *Reader) readRepeated(text []byte) *apierror.Error {
	piece, ok := translate.Unquoted(text)
	switch {
	case !ok:
	case r.repeat.kind == textContent:
		r.to.Text(piece, nil)
	case r.repeat.kind == reasoningContent:
		r.to.Reasoning(piece, nil)
	case r.repeat.kind == argumentsContent:
		r.to.Arguments(int(r.repeat.call), false, piece)
	}
	return nil
}

// readChoice takes the delta or message of a choice.
func (r *Reader) readChoice(c *openai.ChunkChoice) *apierror.Error {
	r.tokens = r.tokens[:0]
	if r.opt.Logprobs && len(c.Logprobs) > 0 && c.Logprobs[0] == '{' {
		r.readLogprobs(c.Logprobs)
	}
	if c.Other != nil {
		return translate.ProviderFailure(r.call, "answered with \""+string(c.Other)+"\", which "+r.opt.Answer+" cannot contain")
	}
	// Many providers send their reasoning under two names at once.
	if piece, ok := translate.Unquoted(c.Reasoning.JSON); ok {
		r.to.Reasoning(piece, nil)
	} else if piece, ok := translate.Unquoted(c.ReasoningContent.JSON); ok {
		r.to.Reasoning(piece, nil)
	} else if isArray(c.ReasoningDetails) {
		r.readReasoningDetails(c.ReasoningDetails)
	}
	if r.opt.Details {
		translate.EachObject(c.ReasoningDetails, func(detail []byte) { r.to.Reasoning(nil, detail) })
	}
	if bad := r.readContent(c.Content.JSON); bad != nil {
		return bad
	}
	if isArray(c.Annotations) {
		r.readAnnotations(c.Annotations)
	}
	if piece, ok := translate.Unquoted(c.Refusal.JSON); ok {
		r.to.Refusal(piece)
	}
	return r.readCalls(c.Calls)
}

// readLogprobs collects the log probabilities of a chunk's text in r.tokens. Those of a refusal
// have no counterpart.
func (r *Reader) readLogprobs(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		if string(m.DecodedKey(object)) != "content" {
			continue
		}
		list := m.Value(object)
		for span := range jsonscan.AllElements(list) {
			if span.Kind == '{' {
				r.tokens = translate.AppendToken(r.tokens, span.Value(list), "[]")
			}
		}
		return
	}
}

// trim releases the memory of a long chunk.
func (r *Reader) trim() {
	if cap(r.tokens) > translate.MaxScratch {
		r.tokens = nil
	}
}
