package messagesonchat

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// eventWriter writes the events of a message. SDKs dispatch on the name of an event.
type eventWriter struct {
	on      bool // a whole answer has no events
	out     []byte
	started bool           // message_start was written
	sum     openai.Summary // of the provider's answer so far
}

func (w *eventWriter) begin(typ string) { w.out = translate.AppendEventType(w.out, typ) }

func (w *eventWriter) end() { w.out = append(w.out, "}\n\n"...) }

// start writes the event that begins the message, once. It waits for content, because a provider
// that fails before can still be replaced by another.
func (w *eventWriter) start(b *builder) {
	if w.started {
		return
	}
	w.started = true
	w.begin("message_start")
	w.out = b.appendHead(translate.AppendKey(w.out, "message"))
	w.out = appendStop(append(w.out, ']'), "", "")
	w.out = append(b.appendUsage(translate.AppendKey(w.out, "usage"), &w.sum), '}')
	w.end()
}

func (w *eventWriter) block(typ string, index int) {
	w.begin(typ)
	w.out = strconv.AppendInt(translate.AppendKey(w.out, "index"), int64(index), 10)
}

func (w *eventWriter) blockStart(index int, it *block) {
	w.block("content_block_start", index)
	w.out = translate.AppendKey(w.out, "content_block")
	switch it.kind {
	case toolBlock:
		w.out = it.appendCall(w.out, []byte("{}"))
	case redactedBlock:
		w.out = it.appendRedacted(w.out)
	default:
		w.out = it.appendText(w.out, nil, emptyText)
	}
	w.end()
}

// A delta is nearly every event of a stream, so its text stands here as it is sent.
const (
	deltaHead = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":"
	deltaEnd  = "\"}}\n\n"
)

// deltas are the deltas up to their text, by kind of block.
var deltas = [...]string{
	thinkingBlock: `,"delta":{"type":"thinking_delta","thinking":"`,
	textBlock:     `,"delta":{"type":"text_delta","text":"`,
	toolBlock:     `,"delta":{"type":"input_json_delta","partial_json":"`,
}

func (w *eventWriter) delta(index int, kind blockKind, text []byte) {
	w.out = strconv.AppendInt(append(w.out, deltaHead...), int64(index), 10)
	w.out = append(append(append(w.out, deltas[kind]...), text...), deltaEnd...)
}

// signature writes the signature of thinking, behind its text.
func (w *eventWriter) signature(index int, it *block) {
	w.block("content_block_delta", index)
	w.out = append(translate.AppendKey(w.out, "delta"), `{"type":"signature_delta"`...)
	w.out = append(translate.AppendMember(w.out, "signature", it.signature()), '}')
	w.end()
}

func (w *eventWriter) blockStop(index int) {
	w.block("content_block_stop", index)
	w.end()
}

// stop writes the events that end a whole answer.
func (w *eventWriter) stop(b *builder) {
	if !w.on {
		return
	}
	w.start(b)
	w.begin("message_delta")
	w.out = append(translate.AppendKey(w.out, "delta"), '{')
	w.out = append(appendStop(w.out, b.stopReason(w.sum.Finish), w.sum.StopSequence), '}')
	w.out = b.appendUsage(translate.AppendKey(w.out, "usage"), &w.sum)
	w.end()
	w.begin("message_stop")
	w.end()
}
