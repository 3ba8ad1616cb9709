package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// choice is what is known of one choice of the call.
type choice struct {
	started  bool
	finished bool
	calls    []toolCall
}

// editChoices edits the elements of list that need it; the result is in the
// scratch, and c.splices[0] tells whether there is one.
func (c *chat) editChoices(list []byte) ([]byte, *apierror.Error) {
	if len(c.spans[0]) > maxChoices {
		return nil, c.call.broken("answered with too many choices")
	}
	s := &c.splices[0]
	s.reset()
	for i, span := range c.spans[0] {
		if span.Kind != '{' {
			return nil, c.call.broken("answered with a choice that is no object")
		}
		value := span.Value(list)
		p, bad := c.editChoice(value, i)
		if bad != nil {
			return nil, bad
		}
		if p.Changed() {
			c.bufs[AtChoice] = p.Append(c.bufs[AtChoice][:0])
			s.put(list, span.Start, span.End, c.bufs[AtChoice])
		}
	}
	c.shift(c.spans[0])
	return s.done(list), nil
}

func (c *chat) editChoice(object []byte, position int) (*jsonscan.Patch, *apierror.Error) {
	p, members := c.patch(AtChoice, object)
	part := "delta"
	if !c.stream {
		part = "message"
	}
	index, message, finish, native := -1, -1, -1, -1
	c.text = hole{}
	for i, m := range members {
		switch key := m.DecodedKey(object); string(key) {
		case "index":
			one(p, &index, i)
		case part:
			one(p, &message, i)
		case "finish_reason":
			one(p, &finish, i)
		case "native_finish_reason":
			one(p, &native, i)
		case "error":
			if truthy(m.Value(object)) {
				return nil, c.failed(object)
			}
			p.Drop(i)
		default:
			if m.Kind == 'n' && c.shape.notNull(AtChoice, key) {
				p.Drop(i)
			}
		}
	}

	number := int64(position)
	if index >= 0 && isDigits(members[index].Value(object)) {
		number, _ = jsonscan.Int(members[index].Value(object))
	} else {
		c.set(p, index, "index", c.digits(number))
	}
	if number >= maxChoices {
		return nil, c.call.broken("answered with too many choices")
	}
	for len(c.choices) <= int(number) {
		c.choices = append(c.choices, choice{})
	}
	ch := &c.choices[number]

	switch {
	case message >= 0 && members[message].Kind == '{':
		value := members[message].Value(object)
		inner, bad := c.editMessage(ch, value)
		if bad != nil {
			return nil, bad
		}
		if inner.Changed() {
			c.bufs[AtMessage] = inner.Append(c.bufs[AtMessage][:0])
			p.Set(message, c.bufs[AtMessage])
		}
	case !c.stream:
		return nil, c.call.broken("answered with a choice that has no message")
	case ch.started:
		c.set(p, message, part, jsonEmptyObject)
	default:
		c.set(p, message, part, []byte(`{"role":"assistant"}`))
	}
	c.first = c.first || !ch.started
	ch.started = true

	var reason []byte
	if finish >= 0 {
		reason = members[finish].Value(object)
	}
	if c.editFinish(p, ch, reason, finish, native) == finishError {
		return nil, c.call.broken("failed while it answered")
	}
	if c.text.length > 0 {
		c.lift(p, members[message].ValueStart)
	}
	return p, nil
}

// editFinish puts the finish reason, if there is one, into the families'
// words, and returns it.
func (c *chat) editFinish(p *jsonscan.Patch, ch *choice, reason []byte, finish, native int) string {
	word := ""
	if len(reason) > 2 && reason[0] == '"' {
		raw := reason[1 : len(reason)-1]
		if word = finishReason(raw); word != string(raw) {
			p.Set(finish, c.quote(word))
		}
		ch.finished = true
		c.sum.Finish, c.sum.NativeFinish = word, word
		if word != string(raw) {
			c.sum.NativeFinish, _ = jsonscan.String(reason)
		}
	} else if !c.stream { // a whole answer has ended, whatever it says
		word = ch.naturalEnd()
		c.set(p, finish, "finish_reason", c.quote(word))
		c.sum.Finish = word
	} else if finish >= 0 && !jsonscan.IsNull(reason) || finish < 0 && c.shape.Native {
		c.set(p, finish, "finish_reason", jsonNull)
	}
	if c.shape.Native && word != "" && native < 0 {
		if len(reason) <= 2 {
			reason = jsonNull
		}
		p.Add("native_finish_reason", reason)
	}
	return word
}

// naturalEnd is the finish reason of a choice whose provider forgot it.
func (ch *choice) naturalEnd() string {
	if len(ch.calls) > 0 {
		return "tool_calls"
	}
	return "stop"
}

// set replaces member i, or adds it when i is negative.
func (c *chat) set(p *jsonscan.Patch, i int, key string, value []byte) {
	if i < 0 {
		p.Add(key, value)
		return
	}
	p.Set(i, value)
}

// quote and digits return small values that live as long as the chunk.
func (c *chat) quote(s string) []byte {
	at := len(c.small)
	c.small = jsonscan.AppendString(c.small, s)
	return c.small[at:len(c.small):len(c.small)]
}

func (c *chat) digits(n int64) []byte {
	at := len(c.small)
	c.small = strconv.AppendInt(c.small, n, 10)
	return c.small[at:len(c.small):len(c.small)]
}
