package responsesonchat

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// maxLogprobs bounds the log probabilities of an answer in bytes of JSON. With 20 alternatives a
// token has about 2 KiB.
const maxLogprobs = 64 << 20

// IDs gives what a Response has and a chat completion does not. One goroutine calls it.
type IDs interface {
	// NewID returns a new id of printable ASCII that begins with prefix and an underscore. The
	// prefixes are resp, msg, rs, fc, ctc and tsc.
	NewID(prefix string) string

	// Unix returns the time in seconds.
	Unix() int64
}

// builder builds a response from the pieces of a provider's answer, whole or in a stream. In a
// stream it writes an event for each change.
type builder struct {
	response
	events eventWriter
	call   openai.Call
	ids    IDs

	open  int   // the message or reasoning item that is open, -1 for none
	calls []int // the items of the provider's tool calls, by its index

	parts         int // items and parts
	textSize      int // of text, arguments, reasoning and annotations, which the last events repeat in full
	logprobsBytes int
}

var _ translate.Content = (*builder)(nil)

func newBuilder(call openai.Call, original *Original, ids IDs) *builder {
	return &builder{
		call: call, ids: ids, open: -1,
		response: response{
			original: original,
			id:       jsonscan.AppendString(nil, ids.NewID("resp")),
			model:    jsonscan.AppendString(nil, call.Model),
			metadata: call.Metadata,
		},
	}
}

// begin writes the first events, once. SDKs refuse a stream that begins otherwise, and so would not
// see its failure.
func (b *builder) begin() {
	if !b.events.on || b.events.sequence > 0 {
		return
	}
	if b.created == 0 {
		b.created = b.ids.Unix()
	}
	b.events.response("response.created", &b.response, ending{})
	b.events.response("response.in_progress", &b.response, ending{})
}

// add begins an item.
func (b *builder) add(k kind) *item {
	b.items = append(b.items, item{
		kind: k, index: len(b.items), status: inProgress,
		id: jsonscan.AppendString(nil, b.ids.NewID(kinds[k].prefix)),
	})
	b.parts++
	return &b.items[len(b.items)-1]
}

// current returns the open item of kind k. It ends an open item of another kind: a message does not
// continue after another item began.
func (b *builder) current(k kind) *item {
	if b.open >= 0 && b.items[b.open].kind == k {
		return &b.items[b.open]
	}
	b.closeOpen()
	it := b.add(k)
	b.open = it.index
	b.events.itemAdded(it)
	return it
}

func (b *builder) closeOpen() {
	if b.open >= 0 {
		b.finish(&b.items[b.open], completed)
		b.open = -1
	}
}

// textPart returns the open message and its part for text or refusal.
func (b *builder) textPart(refusal bool) (*item, *part) {
	it := b.current(message)
	p := it.last()
	if p != nil && p.refusal == refusal {
		return it, p
	}
	if p != nil {
		b.events.partDone(it, p)
	}
	it.parts = append(it.parts, part{refusal: refusal})
	b.parts++
	p = it.last()
	b.events.partAdded(it, p)
	return it, p
}

func (b *builder) Begin(bool) {}

func (b *builder) Text(piece, logprobs []byte) {
	it, p := b.textPart(false)
	if len(logprobs) > 0 {
		p.logprobs = append(translate.AppendComma(p.logprobs), logprobs...)
		b.logprobsBytes += len(logprobs)
	}
	b.grow(it, p, piece, logprobs)
}

func (b *builder) Refusal(piece []byte) {
	it, p := b.textPart(true)
	b.grow(it, p, piece, nil)
}

func (b *builder) Reasoning(piece, detail []byte) {
	it := b.current(reasoning)
	if detail != nil {
		b.textSize += it.signed.Take(detail)
		return
	}
	if len(it.parts) == 0 {
		it.parts = append(it.parts, part{})
		b.events.partAdded(it, it.last())
	}
	b.grow(it, it.last(), piece, nil)
}

func (b *builder) Citation(c translate.Citation) {
	annotation := urlCitation(c)
	it, p := b.textPart(false)
	p.annotations = append(translate.AppendComma(p.annotations), annotation...)
	b.textSize += len(annotation)
	b.events.annotationAdded(it, p.annotated, annotation)
	p.annotated++
}

func (b *builder) BeginCall(_ int, _ bool, callID, name []byte) {
	b.closeOpen()
	name = b.original.names.Caller(name)
	tool, ok := b.original.tools[string(name)]
	if !ok {
		tool = calledTool{kind: functionCall, name: bytes.Clone(name)}
	}
	it := b.add(tool.kind)
	it.callID, it.namespace, it.name = bytes.Clone(callID), tool.namespace, tool.name
	it.parts = []part{{}}
	b.textSize += len(callID) + len(tool.namespace) + len(tool.name)
	b.calls = append(b.calls, it.index)
	b.events.itemAdded(it)
}

func (b *builder) Arguments(call int, _ bool, piece []byte) {
	it := &b.items[b.calls[call]]
	if it.kind == customCall {
		b.textSize += len(piece) // also of what is not input
		piece = it.input.next(piece)
	}
	b.grow(it, it.last(), piece, nil)
}

// grow adds a piece to a part.
func (b *builder) grow(it *item, p *part, piece, logprobs []byte) {
	b.textSize += len(piece)
	if piece = p.grow(piece); len(piece) > 0 || len(logprobs) > 0 {
		b.events.delta(it, p, piece, logprobs)
	}
}

// finish ends an item.
func (b *builder) finish(it *item, status string) {
	if p := it.last(); p != nil {
		if it.kind == customCall {
			b.grow(it, p, it.input.rest(), nil)
		}
		if rest := p.rest(); rest != nil {
			b.events.delta(it, p, rest, nil)
		}
		// Some providers call a function without parameters with an empty text, but SDKs parse it
		// as JSON.
		if it.kind == functionCall && len(p.text) == 0 && status == completed {
			b.grow(it, p, []byte("{}"), nil)
		}
		b.events.partDone(it, p)
	}
	it.status = status
	b.events.itemDone(it)
}

// checkSize fails an answer that is longer than any should be.
func (b *builder) checkSize() *apierror.Error {
	bad := translate.CheckSize(&b.call, b.parts, b.textSize)
	if bad == nil && b.logprobsBytes > maxLogprobs {
		bad = translate.ProviderFailure(&b.call, translate.TooMuchText)
	}
	return bad
}
