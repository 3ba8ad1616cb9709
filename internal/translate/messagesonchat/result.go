package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
)

// options are what the provider's answer is read for.
func (b *builder) options() chunks.Options {
	return chunks.Options{Details: b.original.signed, Answer: "a message"}
}

// Result appends the message that a provider's whole chat completion becomes, with this id. A body
// that is not a completion, reports an error, or has content that a message cannot have, is a
// [*apierror.Error], also in the summary, and dst is returned as it was.
func Result(dst, completion []byte, original *Original, call openai.Call, id string) ([]byte, openai.Summary, error) {
	b := newBuilder(call, original, id)
	sum, err := chunks.Result(completion, &b.call, b, writer{b}, b.options())
	sum.StopSequence = call.StopSequence
	if err != nil {
		return dst, sum, err
	}
	return b.append(dst, &sum), sum, nil
}

// NewStream returns the stream of one client, whose message has this id.
//
// It begins with message_start at the first content. It ends with either message_delta and
// message_stop, or an error event.
func NewStream(original *Original, call openai.Call, id string) *chunks.Stream {
	b := newBuilder(call, original, id)
	b.events.on = true
	return chunks.NewStream(&b.call, b, writer{b}, b.options())
}

// writer has a builder write its answer.
type writer struct{ b *builder }

func (w writer) Begin(_ openai.Chunk, sum openai.Summary) {
	b := w.b
	if !b.events.started { // which shows usage
		b.events.sum = sum
	}
}

// End implements [chunks.Writer]. It ends the blocks that are open. SDKs fail in their own way at
// arguments that are no JSON object, so only an answer that was cut off may have them.
func (w writer) End(sum openai.Summary) *apierror.Error {
	b := w.b
	b.events.sum = sum
	for i := b.head; i < len(b.blocks); i++ {
		b.finish(&b.blocks[i])
	}
	if b.invalid && !isCut(sum.Finish) {
		return translate.ProviderFailure(&b.call, "answered with a tool call whose arguments are not a JSON object")
	}
	b.show()
	b.events.stop(b)
	return nil
}

func (w writer) Fail(e *apierror.Error, _ openai.Summary) {
	b := w.b
	b.events.out = anthropic.AppendStreamError(b.events.out, e, b.call.RequestID)
}

// Summary implements [chunks.Writer]. Reasoning that the client does not get is no text of it.
func (w writer) Summary(sum openai.Summary) openai.Summary {
	sum.Text = w.b.events.started
	return sum
}

// Out, CheckSize and Kept implement [chunks.Writer]. The last events repeat nothing.
func (w writer) Out() *[]byte               { return &w.b.events.out }
func (w writer) CheckSize() *apierror.Error { return w.b.checkSize() }
func (w writer) Kept() int                  { return 0 }
