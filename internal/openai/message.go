package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// editMessage edits the message of a choice, or its delta, and notes in out what it has.
func (c *chat) editMessage(ch *choice, out *ChunkChoice, start, end int) *apierror.Error {
	object := c.event.Data[start:end]
	p, members := c.open(AtMessage, object)
	role, content, calls, reasoning, reasoningContent := -1, -1, -1, -1, -1
	value := func(m jsonscan.Member) ChunkValue {
		return ChunkValue{c.event.valueAt(VarText, start+m.ValueStart, start+m.ValueEnd), start + m.ValueStart}
	}
	for i, m := range members {
		key := m.DecodedKey(object)
		switch string(key) {
		case "role":
			one(p, &role, i)
			continue
		case "content":
			one(p, &content, i)
			out.Content = value(m)
			c.said(out.Content)
		case "tool_calls":
			one(p, &calls, i)
		case "reasoning":
			one(p, &reasoning, i)
			out.Reasoning = value(m)
			c.said(out.Reasoning)
		case "reasoning_content":
			one(p, &reasoningContent, i)
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
			if out.Other == nil && !isEmpty(m.Value(object)) {
				out.Other = key
			}
		}
		if m.Kind == 'n' && c.shape.notNull(AtMessage, key) {
			p.Drop(i)
		}
	}
	// The first delta carries the role. Accumulators join what is repeated to
	// "assistantassistant", so the others do not.
	switch {
	case !ch.started && (role < 0 || !bytes.Equal(members[role].Value(object), jsonAssistant)):
		set(p, role, "role", jsonAssistant)
	case ch.started && role >= 0:
		p.Drop(role)
	}
	if !c.stream && content < 0 {
		p.Add("content", jsonNull)
	}
	twice := false
	if c.shape.Reasoning && reasoningContent >= 0 && members[reasoningContent].Kind == '"' &&
		(reasoning < 0 || members[reasoning].Kind == 'n') {
		if reasoning >= 0 {
			p.Drop(reasoning)
			reasoning = -1
		}
		at := len(c.small)
		c.small = append(append(c.small, asReasoning...), out.ReasoningContent.JSON...)
		end := start + members[reasoningContent].ValueEnd
		c.edits.put(end, end, c.small[at:len(c.small):len(c.small)])
		twice = true
	}
	if calls >= 0 && members[calls].Kind == '[' {
		if bad := c.editCalls(ch, out, start+members[calls].ValueStart, members[calls].Value(object)); bad != nil {
			return bad
		}
	}
	if c.text.end == 0 {
		for _, i := range [...]int{content, reasoning, reasoningContent} {
			if i >= 0 && members[i].Kind == '"' && members[i].ValueEnd-members[i].ValueStart > c.text.end-c.text.start {
				c.text = textSpan{start + members[i].ValueStart, start + members[i].ValueEnd, 0}
			}
		}
		if twice && c.text.start == out.ReasoningContent.At {
			c.text.twice = len(asReasoning)
		}
	}
	c.edits.add(p, start)
	return nil
}

// said notes whether a client has got any text.
func (c *chat) said(v ChunkValue) {
	c.sum.Text = c.sum.Text || saysSomething(v.JSON)
}

// saysSomething reports whether a content, a text or a list, is neither empty nor null.
func saysSomething(content []byte) bool { return len(content) > len(`""`) && content[0] != 'n' }

// reportAudio reports the id of an answer's audio, which a later message may name.
func (c *chat) reportAudio(value []byte) {
	if c.call.OnID == nil {
		return
	}
	c.first = true // each time: it must be reported
	members := c.inside(value)
	if i, ok := jsonscan.Find(value, members, "id"); ok {
		id, _ := jsonscan.String(members[i].Value(value))
		c.call.Report(KindAudio, id)
	}
}

const asReasoning = `,"reasoning":`

// isEmpty reports whether a member of a delta has nothing in it.
func isEmpty(value []byte) bool {
	switch string(value) {
	case "null", "[]", "{}", `""`:
		return true
	}
	return false
}
