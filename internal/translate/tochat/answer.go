package tochat

import (
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

const (
	// maxText bounds, in bytes of JSON, the text, arguments, reasoning and annotations of an answer,
	// which its last events repeat in full. The longest outputs on the market have about 1 MiB.
	maxText = 16 << 20

	// maxLogprobs bounds the log probabilities of an answer in bytes of JSON. With 20 alternatives a
	// token has about 2 KiB.
	maxLogprobs = 64 << 20
)

// IDs gives what a Response has and a chat completion has not. It is called by one goroutine.
type IDs interface {
	// NewID returns a new id of printable ASCII that begins with prefix and an underscore. The
	// prefixes are resp, msg, rs and fc.
	NewID(prefix string) string

	// Unix returns the time in seconds.
	Unix() int64
}

// answer is the response that comes to be. It takes the provider's answer
// piece by piece, whole or in a stream, and, in a stream, appends the events
// that tell of each change to out.
type answer struct {
	call     *openai.Call
	original *Original
	ids      IDs

	id, model []byte // quoted
	created   int64
	tier      []byte // service_tier as the provider has it, nil for none

	items []item
	open  int   // the message or reasoning item that is open, -1 for none
	calls []int // the items of the provider's tool calls, by its index
	size  int   // bytes of text held
	probs int   // bytes of log probabilities held
	parts int   // items and parts

	streamed bool
	out      []byte
	sequence int64 // the next sequence_number
}

func newAnswer(call *openai.Call, original *Original, ids IDs) answer {
	return answer{
		call: call, original: original, ids: ids, open: -1,
		id:    jsonscan.AppendString(nil, ids.NewID("resp")),
		model: jsonscan.AppendString(nil, call.Model),
	}
}

// add begins an item.
func (a *answer) add(k kind) *item {
	a.items = append(a.items, item{
		kind: k, index: len(a.items), status: inProgress,
		id: jsonscan.AppendString(nil, a.ids.NewID(prefixes[k])),
	})
	a.parts++
	return &a.items[len(a.items)-1]
}

// current returns the open item of kind k. Another kind that is open ends: a
// message does not go on behind what came after it.
func (a *answer) current(k kind) *item {
	if a.open >= 0 && a.items[a.open].kind == k {
		return &a.items[a.open]
	}
	a.closeOpen()
	it := a.add(k)
	a.open = it.index
	a.itemAdded(it)
	return it
}

func (a *answer) closeOpen() {
	if a.open >= 0 {
		a.finish(&a.items[a.open], completed)
		a.open = -1
	}
}

// textPart returns the message that is open and its part for text or refusal.
func (a *answer) textPart(refusal bool) (*item, *part) {
	it := a.current(message)
	p := it.last()
	if p != nil && p.refusal == refusal {
		return it, p
	}
	if p != nil {
		a.partDone(it, p)
	}
	it.parts = append(it.parts, part{refusal: refusal})
	a.parts++
	p = it.last()
	a.partAdded(it, p)
	return it, p
}

// text takes a piece of text and the log probabilities of its tokens.
func (a *answer) text(piece, logprobs []byte) {
	it, p := a.textPart(false)
	if len(logprobs) > 0 {
		if len(p.logprobs) > 0 {
			p.logprobs = append(p.logprobs, ',')
		}
		p.logprobs = append(p.logprobs, logprobs...)
		a.probs += len(logprobs)
	}
	if piece = a.grow(p, piece); len(piece) > 0 || len(logprobs) > 0 {
		a.delta("response.output_text.delta", it, piece, logprobs)
	}
}

func (a *answer) refusal(piece []byte) {
	it, p := a.textPart(true)
	if piece = a.grow(p, piece); len(piece) > 0 {
		a.delta("response.refusal.delta", it, piece, nil)
	}
}

func (a *answer) annotate(annotation []byte) {
	it, p := a.textPart(false)
	if p.annotated > 0 {
		p.annotations = append(p.annotations, ',')
	}
	p.annotations = append(p.annotations, annotation...)
	a.size += len(annotation)
	a.annotationAdded(it, p.annotated, annotation)
	p.annotated++
}

func (a *answer) think(piece []byte) {
	it := a.current(reasoning)
	if len(it.parts) == 0 {
		it.parts = append(it.parts, part{})
		a.partAdded(it, it.last())
	}
	if piece = a.grow(it.last(), piece); len(piece) > 0 {
		a.delta("response.reasoning_summary_text.delta", it, piece, nil)
	}
}

// beginCall begins a function call; its id and name are quoted.
func (a *answer) beginCall(callID, name []byte) *item {
	a.closeOpen()
	it := a.add(functionCall)
	it.callID = append([]byte(nil), callID...)
	it.name = append([]byte(nil), name...)
	it.parts = []part{{}}
	a.size += len(callID) + len(name)
	a.calls = append(a.calls, it.index)
	a.itemAdded(it)
	return it
}

func (a *answer) argue(it *item, piece []byte) {
	if piece = a.grow(it.last(), piece); len(piece) > 0 {
		a.delta("response.function_call_arguments.delta", it, piece, nil)
	}
}

func (a *answer) grow(p *part, piece []byte) []byte {
	a.size += len(piece)
	return p.grow(piece)
}

// finish ends an item.
func (a *answer) finish(it *item, status string) {
	if p := it.last(); p != nil {
		if rest := p.rest(); rest != nil {
			a.delta(deltaEvent(it, p), it, rest, nil)
		}
		// A function without parameters is called with nothing by some; SDKs
		// parse what they get.
		if it.kind == functionCall && len(p.text) == 0 && status == completed {
			a.argue(it, []byte("{}"))
		}
		a.partDone(it, p)
	}
	it.status = status
	a.itemDone(it)
}

// end ends what is still open, for an answer that came to its own end. A
// reason says why that was before the model was done, "" if it was not.
func (a *answer) end(reason string) {
	if len(a.items) == 0 {
		a.textPart(false) // nothing was said, and callers look for a message
	}
	for i := range a.items {
		it := &a.items[i]
		if it.status != inProgress {
			continue
		}
		status := completed
		if reason != "" && (i == len(a.items)-1 || it.kind == functionCall && !it.hasArguments()) {
			status = incomplete
		}
		a.finish(it, status)
	}
	a.open = -1
}

// hasArguments tells whether the arguments of a call are all there.
func (it *item) hasArguments() bool {
	quoted := append(append([]byte{'"'}, it.parts[0].text...), '"')
	text, ok := jsonscan.String(quoted)
	return ok && json.Valid([]byte(text))
}

// abandon marks what is open in an answer that failed. No event says that it
// is done: a client would go and call the function.
func (a *answer) abandon() {
	for i := range a.items {
		if a.items[i].status == inProgress {
			a.items[i].status = incomplete
		}
	}
	a.open = -1
}

// exceeded tells of an answer that is longer than any should be.
func (a *answer) exceeded() *apierror.Error {
	switch {
	case a.parts > translate.MaxItems:
		return translate.ProviderFailure(a.call, "answered with too many items")
	case a.size > maxText || a.probs > maxLogprobs:
		return translate.ProviderFailure(a.call, "answered with too much text")
	}
	return nil
}

// incompleteReason is the word for a finish reason that is no proper end.
func incompleteReason(finish string) string {
	switch finish {
	case "length":
		return "max_output_tokens"
	case "content_filter":
		return finish
	}
	return ""
}
