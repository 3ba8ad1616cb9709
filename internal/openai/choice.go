package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// choice is what is known of one choice of the call.
type choice struct {
	started  bool
	finished bool
	calls    []toolCall
}

// textSpan is the longest string of a delta: it is what differs in the next chunk.
type textSpan struct {
	start, end int // in the event; 0 for none
	twice      int // bytes in the edited event up to the same text once more; 0 if it has it once
}

// editChoices edits the choices in c.spans, of an array that begins at base in the event.
func (c *chat) editChoices(base int) *apierror.Error {
	if len(c.spans[0]) > c.shape.maxChoices() {
		return c.call.Broken("answered with too many choices")
	}
	for i, span := range c.spans[0] {
		if span.Kind != '{' {
			return c.call.Broken("answered with a choice that is no object")
		}
		if bad := c.editChoice(base+span.Start, base+span.End, i); bad != nil {
			return bad
		}
	}
	return nil
}

// editChoice edits the choice at data[start:end], which stands at this position in the list.
func (c *chat) editChoice(start, end, position int) *apierror.Error {
	object := c.event.Data[start:end]
	p, members := c.open(AtChoice, object)
	c.text = textSpan{}
	t, bad := readChoice(c, p, object, members)
	if bad != nil {
		return bad
	}
	number := int64(position)
	if t.index >= 0 && isDigits(members[t.index].Value(object)) {
		number, _ = jsonscan.Int(members[t.index].Value(object))
	} else {
		set(p, t.index, "index", c.digits(number))
	}
	ch, bad := c.choice(number)
	if bad != nil {
		return bad
	}
	c.chunk.Choices = append(c.chunk.Choices, ChunkChoice{Index: number})
	out := &c.chunk.Choices[len(c.chunk.Choices)-1]
	if t.usage >= 0 {
		c.choiceUsage(p, t.usage, members[t.usage].Value(object))
	}
	if t.logprobs >= 0 {
		out.Logprobs = members[t.logprobs].Value(object)
	}
	switch {
	case c.shape.Text:
		var found bool
		if c.text, found = completeText(p, object, members, start); !found && !c.stream {
			return c.call.Broken("answered with a choice that has no text")
		}
		c.sum.Text = c.sum.Text || !c.shape.Echo && c.text.end-c.text.start > len(`""`)
	case t.message >= 0 && members[t.message].Kind == '{':
		m := members[t.message]
		if bad := c.editMessage(ch, out, start+m.ValueStart, start+m.ValueEnd); bad != nil {
			return bad
		}
	case !c.stream:
		return c.call.Broken("answered with a choice that has no message")
	case ch.started:
		set(p, t.message, deltaKey, jsonEmptyObject)
	default:
		set(p, t.message, deltaKey, []byte(`{"role":"assistant"}`))
	}
	c.first = c.first || !ch.started
	ch.started = true

	var reason []byte
	if t.finish >= 0 {
		reason = members[t.finish].Value(object)
	}
	if c.editFinish(p, ch, reason, t.finish, t.native) == finishError {
		return c.call.Broken("failed while it answered")
	}
	c.edits.add(p, start)
	return nil
}

// completeText returns the text of a choice that begins at start in the event. One that has none gets an
// empty one.
func completeText(p *jsonscan.Patch, object []byte, members []jsonscan.Member, start int) (textSpan, bool) {
	i, ok := jsonscan.Find(object, members, "text")
	if !ok {
		i = -1
	} else if m := members[i]; m.Kind == '"' {
		return textSpan{start: start + m.ValueStart, end: start + m.ValueEnd}, true
	}
	set(p, i, "text", jsonEmptyText)
	return textSpan{}, false
}

// choice returns the choice with an index, a new one if it is the first of it.
func (c *chat) choice(index int64) (*choice, *apierror.Error) {
	if index >= int64(c.shape.maxChoices()) {
		return nil, c.call.Broken("answered with too many choices")
	}
	for len(c.choices) <= int(index) {
		c.choices = append(c.choices, choice{})
	}
	return &c.choices[index], nil
}

// finish notes the end of a choice.
func (c *chat) finish(ch *choice) {
	if c.stream && !ch.finished {
		c.sum.Finished++
	}
	ch.finished = true
}

// editFinish puts the finish reason, if there is one, into the APIs' words, and returns it.
func (c *chat) editFinish(p *jsonscan.Patch, ch *choice, reason []byte, finish, native int) string {
	word := ""
	if len(reason) > 2 && reason[0] == '"' {
		raw := reason[1 : len(reason)-1]
		if word = finishReason(raw); word != string(raw) {
			p.Set(finish, c.quote(word))
		}
		c.finish(ch)
		c.sum.Finish, c.sum.NativeFinish = word, word
		if word != string(raw) {
			c.sum.NativeFinish, _ = jsonscan.String(reason)
		}
	} else if !c.stream { // a whole answer has ended, whatever it says
		word = ch.naturalEnd()
		set(p, finish, "finish_reason", c.quote(word))
		c.sum.Finish = word
	} else if finish >= 0 && !jsonscan.IsNull(reason) || finish < 0 && c.shape.Native {
		set(p, finish, "finish_reason", jsonNull)
	}
	if c.shape.Native && word != "" && native < 0 {
		if len(reason) <= 2 {
			reason = jsonNull
		}
		p.Add("native_finish_reason", reason)
	}
	return word
}

// naturalEnd returns the finish reason of a choice whose provider forgot it.
func (ch *choice) naturalEnd() string {
	if len(ch.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}
