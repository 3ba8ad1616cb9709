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
	t := readMessage(c, p, out, start, object, members)
	editRole(c, p, ch, object, members, t.role)
	if !c.stream && t.content < 0 {
		p.Add("content", jsonNull)
	}
	twice := repeatReasoning(c, p, out, start, members, &t)
	if t.calls >= 0 && members[t.calls].Kind == '[' {
		m := members[t.calls]
		if bad := c.editCalls(ch, out, start+m.ValueStart, m.Value(object)); bad != nil {
			return bad
		}
	}
	if c.text.end == 0 {
		findText(c, start, members, t)
		if twice && c.text.start == out.ReasoningContent.At {
			c.text.twice = len(asReasoning)
		}
	}
	c.edits.add(p, start)
	return nil
}

// editRole leaves the role in the first delta alone. Accumulators join what is repeated to
// "assistantassistant".
func editRole(c *chat, p *jsonscan.Patch, ch *choice, object []byte, members []jsonscan.Member, role int) {
	switch {
	case !ch.started && (role < 0 || !bytes.Equal(members[role].Value(object), jsonAssistant)):
		set(p, role, "role", jsonAssistant)
	case ch.started && role >= 0:
		p.Drop(role)
	}
}

// repeatReasoning writes reasoning_content as `reasoning` too, if the API requires that and the
// provider does not. It reports whether the text stands there twice.
func repeatReasoning(c *chat, p *jsonscan.Patch, out *ChunkChoice, start int, members []jsonscan.Member, t *messageMembers) bool {
	if !c.shape.Reasoning || t.reasoningContent < 0 || members[t.reasoningContent].Kind != '"' ||
		t.reasoning >= 0 && members[t.reasoning].Kind != 'n' {
		return false
	}
	if t.reasoning >= 0 {
		p.Drop(t.reasoning)
		t.reasoning = -1
	}
	at := len(c.small)
	c.small = append(append(c.small, asReasoning...), out.ReasoningContent.JSON...)
	end := start + members[t.reasoningContent].ValueEnd
	c.edits.put(end, end, c.small[at:len(c.small):len(c.small)])
	return true
}

// findText finds the longest text of a delta, which the next chunk may have another of.
func findText(c *chat, start int, members []jsonscan.Member, t messageMembers) {
	for _, i := range [...]int{t.content, t.reasoning, t.reasoningContent} {
		if i < 0 || members[i].Kind != '"' {
			continue
		}
		if m := members[i]; m.ValueEnd-m.ValueStart > c.text.end-c.text.start {
			c.text = textSpan{start + m.ValueStart, start + m.ValueEnd, 0}
		}
	}
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

// maxEmpty is how deep a value is read to find out that it is empty.
const maxEmpty = 4

// IsEmpty reports whether a member of an answer says nothing: it is absent, null, false, 0 or an empty text,
// or has only such values in it. Some servers send each member that they know.
func IsEmpty(value []byte) bool { return isEmpty(value, maxEmpty) }

func isEmpty(value []byte, deep int) bool {
	switch string(value) {
	case "", "null", "false", "0", `""`, "{}", "[]":
		return true
	}
	if value[0] != '{' && value[0] != '[' || deep == 0 {
		return false
	}
	for m := range jsonscan.AllMembers(value) {
		if !isEmpty(m.Value(value), deep-1) {
			return false
		}
	}
	for span := range jsonscan.AllElements(value) {
		if !isEmpty(span.Value(value), deep-1) {
			return false
		}
	}
	return true
}
