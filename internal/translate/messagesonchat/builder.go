package messagesonchat

import (
	"bytes"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// builder builds a message from the pieces of a provider's answer, whole or in a stream. In a
// stream it writes an event for each change.
type builder struct {
	call      openai.Call
	original  *Original
	id, model []byte // quoted
	events    eventWriter

	blocks  []block
	head    int             // the block that is open in the stream; those before are done
	calls   []int           // the blocks of the provider's tool calls, by its index
	refused bool            // the provider said that it refuses
	bad     *apierror.Error // what fails the answer
	invalid bool            // some call has arguments that are no JSON object
	size    int             // bytes of tool calls, and of what waits for earlier blocks; of all blocks if whole
	output  int             // bytes of the answer
}

var _ translate.Content = (*builder)(nil)

func newBuilder(call openai.Call, original *Original, id string) *builder {
	return &builder{
		call: call, original: original,
		id: jsonscan.AppendString(nil, id), model: jsonscan.AppendString(nil, call.Model),
	}
}

// add begins a block.
func (b *builder) add(kind blockKind) *block {
	if n := len(b.blocks); n > 0 && b.blocks[n-1].kind != toolBlock {
		b.blocks[n-1].ended = true
	}
	b.blocks = append(b.blocks, block{kind: kind})
	return &b.blocks[len(b.blocks)-1]
}

// grow adds a piece to the last block, which is of this kind: a text does not continue after
// another block began.
func (b *builder) grow(kind blockKind, piece []byte) {
	n := len(b.blocks) - 1
	if n < 0 || b.blocks[n].kind != kind {
		b.add(kind)
		n++
	}
	b.piece(n, piece)
}

func (b *builder) piece(n int, piece []byte) {
	it := &b.blocks[n]
	b.output += len(piece)
	if it.kind == toolBlock || n != b.head || !b.events.on {
		b.size += len(piece)
	}
	it.take(piece)
	b.show()
}

func (b *builder) Begin(bool) {}

// Text implements [translate.Content]. Log probabilities have no counterpart.
func (b *builder) Text(piece, _ []byte) {
	if len(piece) > 0 {
		b.grow(textBlock, piece)
	}
}

func (b *builder) Reasoning(piece, detail []byte) {
	switch {
	case detail != nil:
		b.readSigned(detail)
		b.show()
	case b.original.thinking:
		b.grow(thinkingBlock, piece)
	}
}

// readSigned takes an element of reasoning_details, or a piece of one. It is the signature of the
// thinking before it. Without any it is redacted thinking: behind a text only what a call needs.
func (b *builder) readSigned(detail []byte) {
	last := len(b.blocks) - 1
	if last >= 0 && b.blocks[last].kind == thinkingBlock {
		b.size += b.blocks[last].signed.Take(detail)
		return
	}
	var s translate.SignedReasoning
	kept := s.Take(detail)
	if len(s.Elements) == 0 || last >= 0 && b.blocks[last].kind == textBlock && !bytes.Contains(detail, []byte(`"id"`)) {
		return
	}
	it := b.add(redactedBlock)
	it.signed, it.ended = s, true
	b.size += kept
}

func (b *builder) Refusal(piece []byte) {
	b.refused = true
	b.grow(textBlock, piece)
}

// Citation implements [translate.Content]. A message cites only what Anthropic's own search has
// found.
func (b *builder) Citation(translate.Citation) {}

func (b *builder) BeginCall(_ int, _ bool, id, name []byte) {
	it := b.add(toolBlock)
	it.id, it.name = callIDs.Quoted(id), bytes.Clone(b.original.names.Caller(name))
	b.calls = append(b.calls, len(b.blocks)-1)
	b.size += len(id) + len(name)
	b.show()
}

func (b *builder) Arguments(call int, _ bool, piece []byte) {
	n := b.calls[call]
	if n >= b.head || !b.events.on {
		b.piece(n, piece)
		return
	}
	if text, _ := jsonscan.String(append(append([]byte{'"'}, piece...), '"')); strings.TrimSpace(text) != "" {
		b.bad = translate.ProviderFailure(&b.call, "answered with a piece of a tool call that had ended")
	}
}

// show writes what can be shown: the open block, and those behind it as soon as it ends. A call
// ends when another block began and its arguments are complete, because providers may send the
// pieces of several calls in turns.
func (b *builder) show() {
	if !b.events.on {
		return
	}
	for ; b.head < len(b.blocks); b.head++ {
		it, last := &b.blocks[b.head], b.head == len(b.blocks)-1
		if !it.begun {
			it.begun = true
			b.events.start(b)
			b.events.blockStart(b.head, it)
		}
		ends := it.ended || !last && it.kind == toolBlock && it.nesting.complete()
		if ends {
			b.finish(it)
		}
		// Arguments that are no object are not shown: null stands for none.
		if len(it.waiting) > 0 && (it.kind != toolBlock || it.nesting.begun) {
			b.events.delta(b.head, it.kind, it.waiting)
			if it.waiting = it.waiting[:0]; cap(it.waiting) > translate.MaxScratch {
				it.waiting = nil
			}
		}
		if !ends {
			return
		}
		if it.kind == thinkingBlock && len(it.signed.Elements) > 0 {
			b.events.signature(b.head, it)
		}
		b.events.blockStop(b.head)
		it.waiting, it.arguments, it.signed = nil, nil, translate.SignedReasoning{}
	}
}

// finish completes what is in a block.
func (b *builder) finish(it *block) {
	it.ended = true
	it.rest()
	if it.kind == toolBlock {
		_, ok := it.input()
		b.invalid = b.invalid || !ok
	}
}

// checkSize fails an answer that is longer than any should be, or wrong.
func (b *builder) checkSize() *apierror.Error {
	if b.bad != nil {
		return b.bad
	}
	return translate.CheckSize(&b.call, len(b.blocks), b.size)
}
