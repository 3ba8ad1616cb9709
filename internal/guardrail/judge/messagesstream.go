package judge

import (
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// The events of a Messages stream, and the members that are read:
//
//	message_start       {"message": {…, "content": []}}
//	content_block_start {"index", "content_block": {"type": "text", "text": text, …}}
//	content_block_delta {"index", "delta": {"type": "text_delta", "text": text}}
//	content_block_stop  {"index"}
//	message_delta       {"delta": {"stop_reason", "stop_sequence", …}, "usage": {…}}
//	message_stop, ping, error {"error": {…}}
//
// Each string of a delta is a piece of a channel, which is named by the index of its block and the
// path of the string. The text with which a text or thinking block starts is the first piece. Text
// that was held back is sent before the stop of its block, because clients take none after it.
//
// The text blocks of a message are one text, as its parts are elsewhere: citations divide it.
//
// A signature ends the thinking before it. If that was changed, the signature is emptied: a
// provider refuses a signature that does not fit, and an empty one says that there is none.

// The events that begin, continue and end a block.
const (
	blockStart = "content_block_start"
	blockDelta = "content_block_delta"
	blockStop  = "content_block_stop"
)

// wholeInBlockDelta are members of a delta that are not split over deltas.
var wholeInBlockDelta = map[string]bool{"citation": true, "signature": true, "encrypted_content": true}

// messagesEvent is an event of a Messages stream.
type messagesEvent struct {
	*eventEdit
	typ     string
	block   string   // its index, "" for none
	delta   []byte   // type of the delta of its texts, as JSON
	initial string   // member of the block that is the first piece of a text, "" for none
	signed  *channel // the thinking that it signs
}

func (e *messagesEvent) read() {
	e.typ = e.eventType()
	if index := member(e.data, e.members, "index"); isIndex(index) {
		e.block = string(index)
	}
	switch e.typ {
	case blockStart:
		e.readStart()
	case blockDelta:
		e.readDelta()
	}
	e.walk(func(w *document.Walker, text document.Span) (*channel, document.Context, bool) {
		if !e.inText(w) {
			return nil, w.Context(), false
		}
		return e.channel(w, text.End-text.Start <= len(`""`)), w.Context(), false
	})
	e.sortRegions()
	e.end(func(c *channel) bool { return c == e.signed || e.ends(c) })
}

// readStart reads with which text, if any, the event starts a block that deltas continue. A block
// that is signed already is whole.
func (e *messagesEvent) readStart() {
	object := member(e.data, e.members, "content_block")
	e.inner = jsonscan.Members(object, e.inner[:0])
	name, _ := jsonscan.String(member(object, e.inner, "type"))
	signature, _ := jsonscan.String(member(object, e.inner, "signature"))
	if signature == "" && (name == "text" || name == "thinking") {
		e.initial, e.delta = name, []byte(`"`+name+`_delta"`)
	}
}

// readDelta reads the type of the delta, and its signature.
func (e *messagesEvent) readDelta() {
	i, ok := jsonscan.Find(e.data, e.members, "delta")
	if !ok {
		return
	}
	value := e.members[i].Value(e.data)
	e.inner = jsonscan.Members(value, e.inner[:0])
	e.delta = member(value, e.inner, "type")
	thinking := e.stream.open[e.block+"/thinking"]
	if j, ok := jsonscan.Find(value, e.inner, "signature"); ok && thinking != nil && e.inner[j].Kind == '"' {
		from := e.members[i].ValueStart
		at := document.Span{Start: from + e.inner[j].ValueStart, End: from + e.inner[j].ValueEnd}
		e.signed = thinking
		e.regions = append(e.regions, region{at: at, signed: thinking})
	}
}

// inText reports whether the string that the walker visits is in a text of the block.
func (e *messagesEvent) inText(w *document.Walker) bool {
	if len(w.Frames) < 2 || !w.Frames[1].Object {
		return false
	}
	switch key := w.Frames[1].Key; w.Frames[0].Key {
	case "delta":
		return e.typ == blockDelta && !wholeInBlockDelta[key]
	case "content_block":
		return e.initial != "" && e.initial == key
	}
	return false
}

// ends reports whether the event ends a channel.
func (e *messagesEvent) ends(c *channel) bool {
	switch e.typ {
	case blockStart: // one block is open at a time
		return c.group != e.block
	case blockStop:
		return c.group == e.block
	case "message_delta", "message_stop", "error":
		return true
	}
	return false
}

// channel returns the channel of the string that the walker visits. It returns nil if the string is
// not a piece of a text.
func (e *messagesEvent) channel(w *document.Walker, empty bool) *channel {
	const from = 1 // index of the frame of the block or delta
	var buf [64]byte
	id, ok := e.path(append(buf[:0], e.block...), w, from, "")
	if !ok || empty && e.stream.open[string(id)] == nil {
		return nil
	}
	c, fresh := e.open(string(id), e.block)
	if c == nil || !fresh {
		return c
	}
	switch w.Frames[from].Key {
	case "partial_json":
		c.inner = new(document.InnerJSON)
	case "text":
		e.follow(c, "text")
	}
	head, tail := e.enclosing(w, from, "")
	c.template = eventTemplate{name: blockDelta, head: []byte(`{"type":"` + blockDelta + `",`), tail: append(tail, '}')}
	out := &c.template.head
	*out = appendMember(*out, "index", []byte(e.block))
	*out = append(*out, `"delta":{`...)
	*out = appendMember(*out, "type", e.delta)
	*out = append(*out, head[len("{"):]...)
	return c
}
