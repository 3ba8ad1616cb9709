package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxToolCalls bounds the tool calls of one choice, each of which costs state;
// models make a handful at once.
const maxToolCalls = 512

// toolCall is one tool call of a choice that has begun.
type toolCall struct {
	given int64  // the provider's index, -1 for none
	id    string // as JSON; "" if the provider gave none
}

// editCalls edits the tool calls of a message, or the fragments of a delta,
// as editChoices does choices; c.splices[1] tells whether anything changed.
func (c *chat) editCalls(ch *choice, list []byte) ([]byte, *apierror.Error) {
	s := &c.splices[1]
	s.reset()
	c.spans[1] = jsonscan.Elements(list, c.spans[1][:0])
	for _, span := range c.spans[1] {
		if span.Kind != '{' {
			return nil, c.call.broken("answered with a tool call that is no object")
		}
		c.sum.Text = true
		value := span.Value(list)
		p := c.editCall(ch, value)
		if len(ch.calls) > maxToolCalls {
			return nil, c.call.broken("answered with too many tool calls")
		}
		if p.Changed() {
			c.bufs[AtCall] = p.Append(c.bufs[AtCall][:0])
			s.put(list, span.Start, span.End, c.bufs[AtCall])
		}
	}
	c.shift(c.spans[1])
	return s.done(list), nil
}

func (c *chat) editCall(ch *choice, object []byte) *jsonscan.Patch {
	p, members := c.patch(AtCall, object)
	index, id, typ, function := -1, -1, -1, -1
	for i, m := range members {
		key := m.DecodedKey(object)
		switch string(key) {
		case "index":
			one(p, &index, i)
			continue
		case "id":
			one(p, &id, i)
		case "type":
			one(p, &typ, i)
		case "function":
			one(p, &function, i)
		}
		if m.Kind == 'n' && c.shape.notNull(AtCall, key) {
			p.Drop(i)
		}
	}
	if typ >= 0 && string(members[typ].Value(object)) == `""` {
		p.Set(typ, []byte(`"function"`))
	}
	var quoted []byte
	if id >= 0 && members[id].Kind == '"' && members[id].ValueEnd-members[id].ValueStart > 2 {
		quoted = members[id].Value(object)
	}

	fresh := true
	if c.stream {
		want := int64(-1)
		if index >= 0 && isDigits(members[index].Value(object)) {
			want, _ = jsonscan.Int(members[index].Value(object))
		}
		var got int64
		got, fresh = ch.callIndex(want, quoted)
		c.first = c.first || fresh
		if got != want {
			c.set(p, index, "index", c.digits(got))
		}
		// Only the first fragment has id and name: accumulators join them.
		if !fresh && id >= 0 {
			p.Drop(id)
		}
	} else {
		ch.calls = append(ch.calls, toolCall{})
	}
	if fresh && quoted == nil {
		c.set(p, id, "id", c.quote("call_"+c.call.ID+"_"+strconv.Itoa(len(ch.calls))))
	}
	if fresh && function >= 0 && (typ < 0 || members[typ].Kind == 'n') {
		c.set(p, typ, "type", []byte(`"function"`))
	}
	if function >= 0 && members[function].Kind == '{' {
		if inner := c.editFunction(members[function].Value(object), fresh); inner.Changed() {
			c.bufs[AtFunction] = inner.Append(c.bufs[AtFunction][:0])
			p.Set(function, c.bufs[AtFunction])
		}
		c.lift(p, members[function].ValueStart)
	}
	return p
}

// callIndex says which tool call a fragment belongs to, and whether it is the
// first of it. Providers leave the index out, give every call index 0, begin
// at 1, or repeat the id in each fragment: an id that is new begins a call,
// unless it comes late for one that had none.
// The index a client gets is the call's place among those begun.
func (ch *choice) callIndex(given int64, id []byte) (index int64, fresh bool) {
	last := len(ch.calls) - 1
	if len(id) > 0 {
		for i := last; i >= 0; i-- {
			if ch.calls[i].id == string(id) {
				return int64(i), false
			}
		}
	}
	for i := last; i >= 0; i-- {
		if call := &ch.calls[i]; (len(id) == 0 || call.id == "") && (given < 0 || call.given == given) {
			return int64(i), false
		}
	}
	ch.calls = append(ch.calls, toolCall{given: given, id: string(id[:min(len(id), maxID)])})
	return int64(last + 1), true
}

// editFunction edits the function of a call: arguments are a string, even
// where a provider gives the object itself.
func (c *chat) editFunction(object []byte, fresh bool) *jsonscan.Patch {
	p, members := c.patch(AtFunction, object)
	arguments, name := -1, -1
	for i, m := range members {
		key := m.DecodedKey(object)
		switch string(key) {
		case "arguments":
			one(p, &arguments, i)
		case "name":
			one(p, &name, i)
		}
		if m.Kind == 'n' && c.shape.notNull(AtFunction, key) {
			p.Drop(i)
		}
	}
	if name >= 0 && !fresh {
		p.Drop(name)
	}
	if arguments >= 0 {
		value := members[arguments].Value(object)
		switch {
		case value[0] == 'n' && !c.stream:
			p.Set(arguments, []byte(`"{}"`))
		case value[0] != 'n' && value[0] != '"':
			p.Set(arguments, c.quote(string(value)))
		case value[0] == '"' && c.stream:
			c.mark(p, members[arguments])
		}
	} else if !c.stream {
		p.Add("arguments", []byte(`"{}"`))
	}
	return p
}
