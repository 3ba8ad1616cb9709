package guardrail

import (
	"bytes"

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

func (e *eventEdit) readMessages() {
	typ := e.typ()
	index := member(e.data, e.members, "index")
	if !isIndex(index) {
		index = nil
	}
	block := string(index)
	var delta []byte    // its type, as JSON
	var initial string  // member of a block that starts with a first piece
	var signed *channel // the thinking that the event signs
	switch typ {
	case blockDelta:
		if i, ok := jsonscan.Find(e.data, e.members, "delta"); ok {
			value := e.members[i].Value(e.data)
			e.inner = jsonscan.Members(value, e.inner[:0])
			delta = member(value, e.inner, "type")
			signed = e.signature(value, e.members[i].ValueStart, block)
		}
	case blockStart:
		initial = e.initialText()
		delta = []byte(`"` + initial + `_delta"`)
	}
	e.walk(func(w *document.Walker, text document.Span) (*channel, document.Context, bool) {
		if len(w.Frames) < 2 || !w.Frames[1].Object {
			return nil, w.Context(), false
		}
		empty := text.End-text.Start <= len(`""`)
		switch key := w.Frames[1].Key; {
		case typ == blockDelta && w.Frames[0].Key == "delta" && !wholeInBlockDelta[key],
			initial != "" && w.Frames[0].Key == "content_block" && key == initial && !empty:
			return e.blockChannel(w, block, delta, empty), w.Context(), false
		}
		return nil, w.Context(), false
	})
	e.sortRegions()
	e.end(func(c *channel) bool { return c == signed || endsBlock(typ, block, c) })
}

// endsBlock reports whether an event of a type, with the index of a block, ends a channel.
func endsBlock(typ, block string, c *channel) bool {
	switch typ {
	case blockStart: // one block is open at a time
		return c.group != block
	case blockStop:
		return c.group == block
	case "message_delta", "message_stop", "error":
		return true
	}
	return false
}

// signature adds the signature of a delta, whose value begins at offset, to the regions. It returns
// the thinking that it signs, nil for none.
func (e *eventEdit) signature(delta []byte, offset int, block string) *channel {
	i, ok := jsonscan.Find(delta, e.inner, "signature")
	if !ok || e.inner[i].Kind != '"' {
		return nil
	}
	signed := e.stream.open[block+"/thinking"]
	if signed != nil {
		at := document.Span{Start: offset + e.inner[i].ValueStart, End: offset + e.inner[i].ValueEnd}
		e.regions = append(e.regions, region{at: at, signed: signed})
	}
	return signed
}

// initialText returns the member with which the event starts a block that deltas continue, "" for
// none. A block that is signed already is whole.
func (e *eventEdit) initialText() string {
	object := member(e.data, e.members, "content_block")
	e.inner = jsonscan.Members(object, e.inner[:0])
	name, _ := jsonscan.String(member(object, e.inner, "type"))
	if signature := member(object, e.inner, "signature"); len(signature) > len(`""`) && signature[0] == '"' {
		return ""
	}
	if name == "text" || name == "thinking" {
		return name
	}
	return ""
}

// blockChannel returns the channel of the string that the walker visits, which is in a block or in
// a delta of the given type. It returns nil if the string is not a piece of a text.
func (e *eventEdit) blockChannel(w *document.Walker, block string, delta []byte, empty bool) *channel {
	const from = 1 // index of the frame of the block or delta
	var buf [64]byte
	id, ok := e.path(append(buf[:0], block...), w, from, "")
	if !ok || empty && e.stream.open[string(id)] == nil {
		return nil
	}
	c, fresh := e.open(string(id), block)
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
	out := eventTemplate{name: blockDelta, head: []byte(`{"type":"` + blockDelta + `",`)}
	out.head = appendMember(out.head, "index", member(e.data, e.members, "index"))
	out.head = append(out.head, `"delta":{`...)
	out.head = appendMember(out.head, "type", delta)
	out.head = append(out.head, bytes.TrimPrefix(head, []byte("{"))...)
	out.tail = append(tail, '}')
	c.template = out
	return c
}
