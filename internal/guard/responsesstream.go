package guard

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// The events of a Responses stream, and what is read of them:
//
//	response.<kind>.delta       {"item_id", "output_index", "content_index", "delta": text}
//	response.<kind>.done        {the same, and the whole text by some name}
//	response.<part>.done        {…, "part": {…}}
//	response.output_item.done   {"output_index", "item": {…}}
//	response.completed, incomplete, failed {"response": {"output": […], …}}
//
// where kind is output_text, refusal, reasoning_text, reasoning_summary_text,
// function_call_arguments and whatever else there may be. Each kind of delta
// in each place is a channel.

// placeKeys say which text a delta is of.
var placeKeys = []string{"item_id", "output_index", "content_index", "summary_index"}

// audioDeltas bring sound in base64.
var audioDeltas = map[string]bool{"response.audio.delta": true, "response.output_audio.delta": true}

func (e *pushed) readResponses() {
	typ := string(e.name)
	if t, ok := jsonscan.String(member(e.data, e.members, "type")); ok {
		typ = t
	}
	e.stream.sequence++
	if i, ok := jsonscan.Find(e.data, e.members, "sequence_number"); ok {
		if n, ok := jsonscan.Int(e.members[i].Value(e.data)); ok {
			e.stream.sequence = n
			e.sequence = span{e.members[i].ValueStart, e.members[i].ValueEnd}
		}
	}
	place, group := "", string(member(e.data, e.members, "output_index"))
	for _, key := range placeKeys {
		value := member(e.data, e.members, key)
		place += "|" + string(value[:min(len(value), maxCopied)])
	}

	delta, isDelta := jsonscan.Find(e.data, e.members, "delta")
	isDelta = isDelta && strings.HasSuffix(typ, ".delta") && e.members[delta].Kind == '"'
	e.walk(func(_ *finder, start int) *channel {
		if !isDelta || start != e.members[delta].ValueStart || audioDeltas[typ] {
			return nil
		}
		c, fresh := e.open(typ+place, group)
		if fresh {
			c.send = e.template(delta)
		}
		return c
	})
	if isDelta && audioDeltas[typ] {
		e.leave(e.members[delta].ValueStart)
	}
	switch kind, done := strings.CutSuffix(typ, ".done"); {
	case typ == "error", typ == "response.completed", typ == "response.incomplete", typ == "response.failed":
		e.end(func(*channel) bool { return true })
	case typ == "response.output_item.done":
		e.end(func(c *channel) bool { return c.group == group })
	case strings.HasSuffix(kind, "_part") && done:
		e.end(func(c *channel) bool { return strings.HasSuffix(c.id, place) })
	case done:
		e.end(func(c *channel) bool { return c.id == kind+".delta"+place })
	}
}

// leave takes the spot at start off the list.
func (e *pushed) leave(start int) {
	for i, s := range e.spots {
		if s.at.start == start {
			e.spots = append(e.spots[:i], e.spots[i+1:]...)
			return
		}
	}
}

// template is the event in work, to be sent once more with the rest of its
// channel: without padding and token probabilities.
func (e *pushed) template(delta int) event {
	out := event{name: string(e.name), head: []byte{'{'}}
	for i, m := range e.members {
		key := string(m.Key(e.data))
		switch value := m.Value(e.data); {
		case i == delta || key == "obfuscation":
		case key == "logprobs":
			out.head = append(out.head, `"logprobs":[],`...)
		case key == "sequence_number" && e.sequence.end > 0:
			out.head = append(out.head, `"sequence_number":`...)
			out.sequence.start = len(out.head)
			out.head = append(out.head, value...)
			out.sequence.end = len(out.head)
			out.head = append(out.head, ',')
		case m.PlainKey():
			out.head = appendMember(out.head, key, value)
		}
	}
	out.head = append(out.head, `"delta":`...)
	out.tail = []byte{'}'}
	return out
}
