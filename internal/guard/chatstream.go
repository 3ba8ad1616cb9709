package guard

import (
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// A chunk of a chat stream, and what is read of it:
//
//	{"id", "object", "created", "model", …
//	 "choices": [{"index": 0,
//	              "delta": {"content": text, "refusal": text, "reasoning": text,
//	                        "tool_calls": [{"index": 0, "id", "function": {"name", "arguments": text}}],
//	                        "reasoning_details": [{"index": 0, "type", "text": text}], …},
//	              "logprobs": {…}, "finish_reason": null or a word}],
//	 "usage": {…}}
//
// Every string below a delta is a piece of a channel, named by its path, but
// for those that are no text.

// chatHead are the members of a chunk that one which is put in repeats.
var chatHead = []string{"id", "object", "created", "model", "provider", "system_fingerprint", "service_tier"}

// wholeInDelta are members of a delta that come in one piece.
var wholeInDelta = map[string]bool{"name": true, "format": true, "mime_type": true, "annotations": true, "images": true}

// chatChoice is a choice of a chunk.
type chatChoice struct {
	at    span
	index string // as JSON
}

func (e *pushed) readChat() {
	list := member(e.data, e.members, "choices")
	var choices []chatChoice
	var finished []string
	offset := 0
	if i, ok := jsonscan.Find(e.data, e.members, "choices"); ok {
		offset = e.members[i].ValueStart
	}
	for i, s := range jsonscan.Elements(list, nil) {
		if s.Kind != '{' {
			continue
		}
		value := s.Value(list)
		members := jsonscan.Members(value, nil)
		c := chatChoice{at: span{offset + s.Start, offset + s.End}, index: strconv.Itoa(i)}
		if index := member(value, members, "index"); len(index) > 0 && len(index) < maxIndex && isDigit(rune(index[0])) {
			c.index = string(index)
		}
		choices = append(choices, c)
		if reason := member(value, members, "finish_reason"); len(reason) > len(`""`) && reason[0] == '"' {
			finished = append(finished, c.index)
		}
	}
	e.walk(func(f *finder, start int) *channel {
		if len(f.frames) < 4 || f.frames[0].key != "choices" || f.frames[2].key != "delta" {
			return nil
		}
		for _, c := range choices {
			if c.at.start <= start && start < c.at.end {
				return e.chatChannel(f, c.index)
			}
		}
		return nil
	})
	failed := member(e.data, e.members, "error")
	everything := len(failed) > 0 && !jsonscan.IsNull(failed)
	e.end(func(c *channel) bool {
		for _, index := range finished {
			if c.group == index {
				return true
			}
		}
		return everything
	})
}

// maxIndex bounds an index, in digits.
const maxIndex = 10

// chatChannel is the channel of the string the finder is at, below the delta
// of a choice.
func (e *pushed) chatChannel(f *finder, choice string) *channel {
	var id strings.Builder
	id.WriteString(choice)
	var head, tail []byte // of what is put in, from the delta down
	for i := 3; i < len(f.frames); i++ {
		frame := &f.frames[i]
		if !frame.object {
			head, tail = append(head, '['), append([]byte{']'}, tail...)
			continue
		}
		if frame.key == "" || len(frame.key) > maxCopied || wholeInDelta[frame.key] {
			return nil
		}
		head, tail = append(head, '{'), append([]byte{'}'}, tail...)
		if !f.frames[i-1].object { // an element
			object := e.data[frame.start:]
			members := jsonscan.Members(object, nil)
			index := member(object, members, "index")
			if len(index) >= maxIndex {
				index = nil
			}
			id.WriteString("[")
			id.Write(index)
			id.WriteString("]")
			head = appendMember(head, "index", index)
			if frame.name == "tool_calls" {
				e.newCall(id.String(), member(object, members, "id"))
			} else {
				head = appendMember(head, "type", member(object, members, "type"))
			}
		}
		id.WriteString("/")
		id.WriteString(frame.key)
		head = append(jsonscan.AppendString(head, frame.key), ':')
	}
	c, fresh := e.open(id.String(), choice)
	if fresh {
		c.send.name = string(e.name)
		c.send.head = append(c.send.head, '{')
		for _, key := range chatHead {
			c.send.head = appendMember(c.send.head, key, member(e.data, e.members, key))
		}
		c.send.head = append(c.send.head, `"choices":[{"index":`+choice+`,"delta":`...)
		c.send.head = append(c.send.head, head...)
		c.send.tail = append(tail, `,"finish_reason":null}]}`...)
	}
	return c
}

// newCall sees the id of a tool call. One that is new where there was another
// begins another call, though it may have the index of the one before, or
// none: what was held of that one is sent first.
func (e *pushed) newCall(place string, id []byte) {
	if len(id) <= len(`""`) || id[0] != '"' {
		return
	}
	given := string(id[:min(len(id), maxCopied)])
	if last, ok := e.stream.calls[place]; ok && last != given {
		e.end(func(c *channel) bool { return strings.HasPrefix(c.id, place+"/") })
	}
	if len(e.stream.calls) < maxChannels {
		e.stream.calls[place] = given
	}
}
