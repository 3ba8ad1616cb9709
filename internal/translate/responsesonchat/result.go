package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
)

// Result appends the response that a provider's whole chat completion becomes. A body that is not a
// completion, reports an error, or has content that a response cannot have, is a [*apierror.Error],
// also in the summary, and dst is returned as it was.
func Result(dst, answer []byte, original *Original, call openai.Call, ids IDs) ([]byte, openai.Summary, error) {
	b := newBuilder(call, original, ids)
	sum, err := chunks.Result(answer, &b.call, b, writer{b}, b.options())
	if err != nil {
		return dst, sum, err
	}
	return b.response.append(dst, b.ending(sum)), sum, nil
}

// NewStream returns the stream of one client.
//
// It begins with response.created at the first chunk that has a choice. It ends with exactly one of
// response.completed, response.incomplete, and response.failed with an error event behind it.
func NewStream(original *Original, call openai.Call, ids IDs) *chunks.Stream {
	b := newBuilder(call, original, ids)
	b.events.on = true
	return chunks.NewStream(&b.call, b, writer{b}, b.options())
}

// options are what the provider's answer is read for.
func (b *builder) options() chunks.Options {
	return chunks.Options{Logprobs: b.original.logprobs, Details: b.original.signed, Answer: "a response"}
}

// ending is the end of an answer that came to its end.
func (b *builder) ending(sum openai.Summary) ending {
	return ending{reason: incompleteReason(sum.Finish), summary: sum, at: b.ids.Unix()}
}

// writer has a builder write its answer.
type writer struct{ b *builder }

func (w writer) Begin(chunk openai.Chunk, _ openai.Summary) {
	b := w.b
	if b.created == 0 {
		b.created = chunk.Created
	}
	if tier := chunk.ServiceTier; tier != nil && len(tier) <= translate.MaxTier {
		b.tier = append(b.tier[:0], tier...)
	}
	b.begin()
}

// End implements [chunks.Writer]. It ends the items that are open.
func (w writer) End(sum openai.Summary) *apierror.Error {
	b := w.b
	e := b.ending(sum)
	if len(b.items) == 0 {
		b.textPart(false) // callers expect a message even in an empty answer
	}
	for i := range b.items {
		it := &b.items[i]
		if it.status != inProgress {
			continue
		}
		status := completed
		if e.reason != "" && (i == len(b.items)-1 || it.isCall() && !it.hasArguments()) {
			status = incomplete
		}
		b.finish(it, status)
	}
	b.open = -1
	b.events.response("response."+e.status(), &b.response, e)
	return nil
}

// Fail implements [chunks.Writer]. No event reports the items that are open as done: a client would
// execute the function.
func (w writer) Fail(e *apierror.Error, sum openai.Summary) {
	b := w.b
	for i := range b.items {
		if b.items[i].status == inProgress {
			b.items[i].status = incomplete
		}
	}
	b.open = -1
	b.begin()
	b.events.response("response.failed", &b.response, ending{failure: e, summary: sum})
	b.events.failure(e)
}

// Summary, Out, Kept and CheckSize implement [chunks.Writer].
func (w writer) Summary(sum openai.Summary) openai.Summary { return sum }
func (w writer) Out() *[]byte                              { return &w.b.events.out }
func (w writer) Kept() int                                 { return w.b.textSize + w.b.logprobsBytes }
func (w writer) CheckSize() *apierror.Error                { return w.b.checkSize() }
