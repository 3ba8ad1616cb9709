package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// editMessage edits the message of a choice, or its delta.
func (c *chat) editMessage(ch *choice, object []byte) (*jsonscan.Patch, *apierror.Error) {
	p, members := c.patch(AtMessage, object)
	role, content, calls, reasoning, reasoningContent := -1, -1, -1, -1, -1
	twice := 0
	for i, m := range members {
		key := m.DecodedKey(object)
		switch string(key) {
		case "role":
			one(p, &role, i)
			continue
		case "content":
			one(p, &content, i)
			c.sum.Text = c.sum.Text || m.ValueEnd-m.ValueStart > 2 && m.Kind != 'n'
		case "tool_calls":
			one(p, &calls, i)
		case "reasoning":
			one(p, &reasoning, i)
			c.sum.Text = c.sum.Text || m.ValueEnd-m.ValueStart > 2 && m.Kind != 'n'
		case "reasoning_content":
			one(p, &reasoningContent, i)
			c.sum.Text = c.sum.Text || m.ValueEnd-m.ValueStart > 2 && m.Kind != 'n'
		case "audio":
			c.reportAudio(m.Value(object))
		}
		if m.Kind == 'n' && c.shape.notNull(AtMessage, key) {
			p.Drop(i)
		}
	}
	// The first delta carries the role. Accumulators join what is repeated to
	// "assistantassistant", so the others do not.
	switch {
	case !ch.started && (role < 0 || !bytes.Equal(members[role].Value(object), jsonAssistant)):
		c.set(p, role, "role", jsonAssistant)
	case ch.started && role >= 0:
		p.Drop(role)
	}
	if !c.stream && content < 0 {
		p.Add("content", jsonNull)
	}
	if c.shape.Reasoning && reasoningContent >= 0 && members[reasoningContent].Kind == '"' &&
		(reasoning < 0 || members[reasoning].Kind == 'n') {
		if reasoning >= 0 {
			p.Drop(reasoning)
			reasoning = -1
		}
		p.Set(reasoningContent, c.twice(members[reasoningContent].Value(object)))
		twice = len(asReasoning)
	}
	if calls >= 0 && members[calls].Kind == '[' {
		edited, bad := c.editCalls(ch, members[calls].Value(object))
		if bad != nil {
			return nil, bad
		}
		if c.splices[1].changed {
			p.Set(calls, edited)
		}
		c.lift(p, members[calls].ValueStart)
	}
	if c.stream && c.text.length == 0 {
		for _, i := range [...]int{content, reasoning, reasoningContent} {
			if i >= 0 && members[i].Kind == '"' && members[i].ValueEnd-members[i].ValueStart > c.text.length {
				c.mark(p, members[i])
			}
		}
		if reasoningContent >= 0 && c.text.is(members[reasoningContent]) {
			c.text.gap = twice
		}
	}
	return p, nil
}

// reportAudio tells of an answer's audio, which a later message may name.
func (c *chat) reportAudio(value []byte) {
	if c.call.OnID == nil {
		return
	}
	c.first = true // each time: it must be told
	members := jsonscan.Members(value, nil)
	if i, ok := jsonscan.Find(value, members, "id"); ok {
		id, _ := jsonscan.String(members[i].Value(value))
		c.call.report(KindAudio, id)
	}
}

const asReasoning = `,"reasoning":`

// twice is a value, and behind it the same as the member `reasoning`.
func (c *chat) twice(value []byte) []byte {
	at := len(c.small)
	c.small = append(append(append(c.small, value...), asReasoning...), value...)
	return c.small[at:len(c.small):len(c.small)]
}
