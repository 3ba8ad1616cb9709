package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// This file has the tables of members: what happens to each member of the three outer objects of a
// chat completion by its name. toolcall.go has those of a tool call. Of a member that is repeated
// the last one stays; its index is noted, -1 for none, and the object's own edits follow when all of
// its members are known. Null is dropped where an API does not take it.

// topMembers are the members of a chunk or result that matter.
type topMembers struct {
	id, object, created, model, choices, usage, provider, tier, padding int
}

// readTop reads the members of a chunk or result, and fails one that is an error.
func readTop(c *chat, p *jsonscan.Patch, members []jsonscan.Member) (topMembers, *apierror.Error) {
	data := c.event.Data
	t := topMembers{-1, -1, -1, -1, -1, -1, -1, -1, -1}
	for i, m := range members {
		switch key := m.DecodedKey(data); string(key) {
		case "id":
			one(p, &t.id, i)
		case "object":
			one(p, &t.object, i)
		case "created":
			one(p, &t.created, i)
		case "model":
			one(p, &t.model, i)
		case "choices":
			one(p, &t.choices, i)
		case "usage":
			one(p, &t.usage, i)
		case "provider":
			one(p, &t.provider, i)
		case "error":
			if truthy(m.Value(data)) {
				return t, c.sum.fault(&c.call, data)
			}
			p.Drop(i) // openai-go ends a stream at the mere key
		default:
			switch {
			case m.Kind == 'n':
				c.shape.dropNull(p, AtTop, i, key)
			case m.Kind == '"' && string(key) == "obfuscation":
				t.padding = i
			case m.Kind == '"' && string(key) == "service_tier":
				t.tier = i
			}
		}
	}
	if i := t.object; i >= 0 && string(members[i].Value(data)) == `"error"` { // vLLM
		return t, c.sum.fault(&c.call, data)
	}
	return t, nil
}

// choiceMembers are the members of a choice that matter.
type choiceMembers struct{ index, message, finish, native, logprobs, usage int }

const (
	deltaKey   = "delta"
	messageKey = "message"
)

// readChoice reads the members of a choice, and fails one that is an error.
func readChoice(c *chat, p *jsonscan.Patch, object []byte, members []jsonscan.Member) (choiceMembers, *apierror.Error) {
	part := deltaKey
	if !c.stream {
		part = messageKey
	}
	t := choiceMembers{-1, -1, -1, -1, -1, -1}
	for i, m := range members {
		switch key := m.DecodedKey(object); string(key) {
		case "index":
			one(p, &t.index, i)
		case part:
			one(p, &t.message, i)
		case "finish_reason":
			one(p, &t.finish, i)
		case "native_finish_reason":
			one(p, &t.native, i)
		case "usage":
			one(p, &t.usage, i)
		case "error":
			if truthy(m.Value(object)) {
				return t, c.sum.fault(&c.call, object)
			}
			p.Drop(i)
		default:
			switch {
			case m.Kind == 'n' && c.shape.dropNull(p, AtChoice, i, key):
			case string(key) == "logprobs":
				t.logprobs = i
			}
		}
	}
	return t, nil
}

// messageMembers are the members of a message or delta that are edited.
type messageMembers struct{ role, content, calls, reasoning, reasoningContent int }

// readMessage reads the members of a message or delta, which begins at start in the event, and
// notes in out what it has.
func readMessage(c *chat, p *jsonscan.Patch, out *ChunkChoice, start int, object []byte, members []jsonscan.Member) messageMembers {
	t := messageMembers{-1, -1, -1, -1, -1}
	value := func(m jsonscan.Member) ChunkValue {
		return ChunkValue{c.event.valueAt(VarText, start+m.ValueStart, start+m.ValueEnd), start + m.ValueStart}
	}
	for i, m := range members {
		key := m.DecodedKey(object)
		switch string(key) {
		case "role":
			one(p, &t.role, i)
			continue
		case "content":
			one(p, &t.content, i)
			out.Content = value(m)
			c.said(out.Content)
		case "tool_calls":
			one(p, &t.calls, i)
		case "reasoning":
			one(p, &t.reasoning, i)
			out.Reasoning = value(m)
			c.said(out.Reasoning)
		case "reasoning_content":
			one(p, &t.reasoningContent, i)
			out.ReasoningContent = value(m)
			c.said(out.ReasoningContent)
		case "refusal":
			out.Refusal = value(m)
		case "reasoning_details":
			out.ReasoningDetails = value(m).JSON
		case "annotations":
			out.Annotations = value(m).JSON
		case "audio":
			c.reportAudio(m.Value(object))
			fallthrough
		case "function_call", "images":
			if out.Other == nil && !IsEmpty(m.Value(object)) {
				out.Other = key
			}
		}
		if m.Kind == 'n' {
			c.shape.dropNull(p, AtMessage, i, key)
		}
	}
	return t
}

// dropNull drops a member that is null if the API does not take that.
func (s *Shape) dropNull(p *jsonscan.Patch, at Level, i int, key []byte) bool {
	if !s.notNull(at, key) {
		return false
	}
	p.Drop(i)
	return true
}

// one keeps the last of a repeated member: at is the index of the one before, -1 for none.
func one(p *jsonscan.Patch, at *int, i int) {
	if *at >= 0 {
		p.Drop(*at)
	}
	*at = i
}

// set replaces member i, or adds it if i is negative.
func set(p *jsonscan.Patch, i int, key string, value []byte) {
	if i < 0 {
		p.Add(key, value)
		return
	}
	p.Set(i, value)
}

// put replaces the member named key of an object, or adds it.
func put(p *jsonscan.Patch, object []byte, members []jsonscan.Member, key string, value []byte) {
	i, ok := jsonscan.Find(object, members, key)
	if !ok {
		i = -1
	}
	set(p, i, key, value)
}
