package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxToolCalls bounds the tool calls of one choice, each of which costs state; models make a
// handful at once.
const maxToolCalls = 512

const tooManyCalls = "answered with too many tool calls"

// toolCall is one tool call of a choice that has begun.
type toolCall struct {
	given int64  // the provider's index, -1 for none
	id    string // as JSON; "" if the provider gave none
}

// editCalls edits the tool calls of a message, or the fragments of a delta, in an array that begins
// at base in the event.
func (c *chat) editCalls(ch *choice, out *ChunkChoice, base int, list []byte) *apierror.Error {
	c.spans[1] = jsonscan.Elements(list, c.spans[1][:0])
	first := len(c.calls)
	for _, span := range c.spans[1] {
		if span.Kind != '{' {
			return c.call.Broken("answered with a tool call that is no object")
		}
		c.sum.Text = true
		c.editCall(ch, base+span.Start, base+span.End)
		if len(ch.calls) > maxToolCalls {
			return c.call.Broken(tooManyCalls)
		}
	}
	if len(c.spans[1]) != 1 {
		c.text = textSpan{}
	}
	out.Calls = c.calls[first:len(c.calls):len(c.calls)]
	return nil
}

func (c *chat) editCall(ch *choice, start, end int) {
	object := c.event.Data[start:end]
	p, members := c.open(AtCall, object)
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
		if m.Kind == 'n' {
			c.shape.dropNull(p, AtCall, i, key)
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
	got := int64(len(ch.calls))
	if c.stream {
		want := int64(-1)
		if index >= 0 && isDigits(members[index].Value(object)) {
			want, _ = jsonscan.Int(members[index].Value(object))
		}
		got, fresh = ch.callIndex(want, quoted)
		c.first = c.first || fresh
		if got != want {
			set(p, index, "index", c.digits(got))
		}
		// Only the first fragment has id and name: accumulators join them.
		if !fresh && id >= 0 {
			p.Drop(id)
		}
	} else {
		ch.calls = append(ch.calls, toolCall{})
	}
	if fresh && quoted == nil {
		quoted = NewCallID(&c.call, len(ch.calls)-1)
		set(p, id, "id", quoted)
	}
	if fresh && function >= 0 && (typ < 0 || members[typ].Kind == 'n') {
		set(p, typ, "type", []byte(`"function"`))
	}
	call := ChunkCall{Index: got}
	if fresh {
		call.ID = quoted
	}
	if function >= 0 && members[function].Kind == '{' {
		c.editFunction(&call, start+members[function].ValueStart, start+members[function].ValueEnd, fresh)
	}
	c.calls = append(c.calls, call)
	c.edits.add(p, start)
}

// callIndex returns which tool call a fragment belongs to, and whether it is the first of it.
// Providers leave the index out, give every call index 0, begin at 1, or repeat the id in each
// fragment: an id that is new begins a call, unless it comes late for one that had none. A client
// gets as index how many calls were begun before.
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

// editFunction edits the function of a call: arguments are a string, even where a provider gives
// the object itself.
func (c *chat) editFunction(call *ChunkCall, start, end int, fresh bool) {
	object := c.event.Data[start:end]
	p, members := c.open(AtFunction, object)
	arguments, name := -1, -1
	for i, m := range members {
		key := m.DecodedKey(object)
		switch string(key) {
		case "arguments":
			one(p, &arguments, i)
		case "name":
			one(p, &name, i)
		}
		if m.Kind == 'n' {
			c.shape.dropNull(p, AtFunction, i, key)
		}
	}
	switch {
	case name < 0:
	case fresh:
		call.Name = members[name].Value(object)
	default:
		p.Drop(name)
	}
	if arguments >= 0 {
		m := members[arguments]
		at := start + m.ValueStart
		value := c.event.valueAt(VarText, at, start+m.ValueEnd)
		switch {
		case value[0] == 'n' && !c.stream:
			value = []byte(`"{}"`)
			p.Set(arguments, value)
		case value[0] != 'n' && value[0] != '"':
			value = c.quote(string(value))
			p.Set(arguments, value)
		case m.Kind == '"' && c.stream:
			c.text = textSpan{at, start + m.ValueEnd, 0}
		}
		call.Arguments = ChunkValue{value, at}
	} else if !c.stream {
		call.Arguments.JSON = []byte(`"{}"`)
		p.Add("arguments", call.Arguments.JSON)
	}
	c.edits.add(p, start)
}
