package chatonresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// reader reads the content of a response from the events of a stream or from the output of a whole
// response, and emits each piece to a writer once: deltas carry it first, and done events, items
// and the response repeat it. It accepts a provider that leaves some of these out.
type reader struct {
	call     *openai.Call
	original *Original
	to       completion.Writer

	inside   *openai.Event // what is read is inside of; nil for a whole answer
	items    itemList
	calls    int    // tool calls begun
	reasoned bool   // some reasoning was emitted
	shift    int64  // characters of the texts that are done, for citations
	tokens   []byte // the log probabilities of the event that is being read
	repeat   repeat // what an event that repeats the one before has a delta of
}

// repeat is the item and the part of the event before, if it had nothing but a piece of their text.
// They are valid until an event is read that does not repeat it.
type repeat struct {
	item *item // nil for none
	part *part // nil for a tool call
}

// canRepeat reports whether the next event may be read as one that repeats the one before.
func (r *reader) canRepeat() bool { return r.repeat.item != nil }

// readRepeated takes the delta of an event that repeats the one before.
func (r *reader) readRepeated(delta []byte) *apierror.Error {
	piece, ok := translate.Unquoted(delta)
	switch it := r.repeat.item; {
	case !ok:
	case it.kind == callItem:
		r.emitArguments(it, piece)
	case it.kind == reasoningItem:
		r.emitReasoning(it, r.repeat.part, piece)
	default:
		r.emitText(it, r.repeat.part, piece, nil)
	}
	return r.checkSize()
}

// open walks an object of the answer. It is valid as long as the event.
func (r *reader) open(object []byte) openai.Object {
	if r.inside == nil {
		return openai.OpenObject(object, nil)
	}
	return openai.OpenInside(r.inside, object)
}

// part returns a part of an item, and adds it if there is none.
func (r *reader) part(it *item, index int64, summary bool) *part {
	return r.items.part(it, index, summary, r.shift)
}

// checkSize fails an answer that has more items than any should have.
func (r *reader) checkSize() *apierror.Error { return translate.CheckSize(r.call, r.items.parts, 0) }

// beginCall begins a tool call, whose name is quoted. If another has the same id, the family makes
// up an id for this one: the caller could not distinguish their results.
func (r *reader) beginCall(index int64, o openai.Object) (*item, *apierror.Error) {
	name, id, callID := o.Text("name"), o.Text("id"), o.Text("call_id")
	if name == nil {
		return nil, translate.ProviderFailure(r.call, translate.NamelessCall)
	}
	if r.original.functions && r.calls > 0 {
		return nil, translate.ProviderFailure(r.call, translate.SecondFunction)
	}
	if callID == nil {
		callID = id
	}
	if r.items.hasCall(callID) {
		callID = nil
	}
	it := r.items.add(index, id, callItem)
	it.call, it.callID, it.custom = r.calls, bytes.Clone(callID), string(o.Get("type")) == `"custom_tool_call"`
	r.calls++
	r.to.Begin(false)
	r.to.BeginCall(it.call, it.custom, it.callID, bytes.Clone(r.original.names.Caller(name)))
	return it, nil
}

func (r *reader) emitText(it *item, p *part, piece, logprobs []byte) {
	p.emitted = true
	r.to.Begin(true)
	if piece = it.joins.Next(piece); len(piece) > 0 || len(logprobs) > 0 {
		r.to.Text(piece, logprobs)
	}
}

func (r *reader) emitRefusal(it *item, p *part, piece []byte) {
	p.emitted = true
	r.to.Begin(true)
	if piece = it.joins.Next(piece); len(piece) > 0 {
		r.to.Refusal(piece)
	}
}

// emitReasoning emits either the reasoning of an item or the summary of it, whichever comes first.
// An empty line separates parts.
func (r *reader) emitReasoning(it *item, p *part, piece []byte) {
	if r.original.hideReasoning || it.parts[0].summary != p.summary {
		return
	}
	r.to.Begin(false)
	if !p.emitted && r.reasoned {
		r.to.Reasoning([]byte(`\n\n`), nil)
	}
	p.emitted, r.reasoned = true, true
	if piece = it.joins.Next(piece); len(piece) > 0 {
		r.to.Reasoning(piece, nil)
	}
}

func (r *reader) emitArguments(it *item, piece []byte) {
	r.part(it, 0, false).emitted = true
	if piece = it.joins.Next(piece); len(piece) > 0 {
		r.to.Arguments(it.call, it.custom, piece)
	}
}

// emitCitation emits the citation of a URL. Chat nests its members; other annotations refer to what
// only the provider has. Citations count characters from the beginning of their part, and in a chat
// completion from that of the message.
func (r *reader) emitCitation(p *part, annotation []byte) {
	c := translate.ReadCitation(annotation)
	if string(c.Type) != `"url_citation"` {
		return
	}
	p.cited = true
	start, _ := jsonscan.Int(c.Start)
	end, _ := jsonscan.Int(c.End)
	r.to.Citation(completion.URLCitation(c.URL, c.Title, start+p.before, end+p.before))
}

// flush emits what replaces half a character that an item was left with.
func (r *reader) flush(it *item) {
	rest := it.joins.Rest()
	switch {
	case rest == nil:
	case it.kind == callItem:
		r.to.Arguments(it.call, it.custom, rest)
	case it.kind == reasoningItem:
		r.to.Reasoning(rest, nil)
	default:
		r.to.Text(rest, nil)
	}
}

// readTokens returns log probabilities as chat has them, if the caller asked for them.
func (r *reader) readTokens(list []byte) []byte {
	r.tokens = r.tokens[:0]
	if r.original.logprobs && len(list) > len("[]") && list[0] == '[' {
		for span := range jsonscan.AllElements(list) {
			if span.Kind == '{' {
				r.tokens = translate.AppendToken(r.tokens, span.Value(list), "null")
			}
		}
	}
	return r.tokens
}

// trim releases the buffer of a long event.
func (r *reader) trim() {
	if cap(r.tokens) > translate.MaxScratch {
		r.tokens = nil
	}
}
