package anthropic

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Events appends a whole message as the events that a provider would have streamed, each block with its
// content in one delta. A body that is no message, or is an error, is a [*apierror.Error], and dst is
// returned as it was. See [openai.ChatEvents].
func Events(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error) {
	call.OnID = nil // the stream reports them
	_, sum, err := Result(nil, body, call)
	if err != nil {
		return dst, sum, err
	}
	members := jsonscan.Members(body, nil)
	began := jsonscan.NewPatch(body, members)
	var content, usage []byte
	end := []byte(`{"type":"message_delta","delta":{"stop_reason":`)
	reason, ends := []byte("null"), []byte(nil) // other members of the delta
	for i, m := range members {
		value := m.Value(body)
		switch string(m.DecodedKey(body)) {
		case "content":
			content = value
			began.Set(i, []byte("[]"))
		case "stop_reason":
			reason = value
			began.Set(i, []byte("null"))
		case "stop_sequence", "stop_details", "container":
			ends = append(append(append(ends, `,"`...), m.Key(body)...), `":`...)
			ends = append(ends, value...)
			began.Set(i, []byte("null"))
		case "usage":
			usage = value
			if m.Kind == '{' {
				began.Set(i, withoutOutput(value))
			}
		}
	}
	if len(content) == 0 || content[0] != '[' {
		return dst, sum, call.Broken("answered with what is no message")
	}
	out := appendWhole(dst, eventMessageStart, append(began.Append([]byte(`{"type":"message_start","message":`)), '}'))
	index := 0
	for e := range jsonscan.AllElements(content) {
		if e.Kind != '{' {
			return dst, sum, call.Broken("answered with a block that is no object")
		}
		out = appendBlock(out, e.Value(content), index)
		index++
	}
	end = append(append(append(end, reason...), ends...), '}')
	if len(usage) > 0 {
		end = append(append(end, `,"usage":`...), usage...)
	}
	out = appendWhole(out, eventMessageDelta, append(end, '}'))
	return appendWhole(out, eventMessageStop, []byte(`{"type":"message_stop"}`)), sum, nil
}

// withoutOutput returns the usage at the beginning of a message.
func withoutOutput(usage []byte) []byte {
	members := jsonscan.Members(usage, nil)
	p := jsonscan.NewPatch(usage, members)
	if i, ok := jsonscan.Find(usage, members, "output_tokens"); ok {
		p.Set(i, []byte("0"))
	}
	return p.Append(nil)
}

// block is a content block on its way into events.
type block struct {
	data    []byte
	members []jsonscan.Member
	start   *jsonscan.Patch // for content_block_start
	deltas  [][]byte        // without their index
}

// appendBlock appends the events of a content block. One of a type that has no deltas begins whole.
func appendBlock(dst, data []byte, index int) []byte {
	members := jsonscan.Members(data, nil)
	b := block{data: data, members: members, start: jsonscan.NewPatch(data, members)}
	typ, _ := jsonscan.String(openai.WalkedObject(data, members).Get("type"))
	switch typ {
	case "text":
		b.move("text", "text_delta")
		b.citations()
	case "thinking":
		b.move("thinking", "thinking_delta")
		b.move("signature", "signature_delta")
	case "tool_use", "server_tool_use", "mcp_tool_use":
		b.input()
	}
	n := strconv.AppendInt(nil, int64(index), 10)
	event := func(typ, member string, value []byte) {
		body := append([]byte(`{"type":"`+typ+`","index":`), n...)
		if member != "" {
			body = append(append(body, `,"`+member+`":`...), value...)
		}
		dst = appendWhole(dst, typ, append(body, '}'))
	}
	event(eventBlockStart, "content_block", b.start.Append(nil))
	for _, delta := range b.deltas {
		event(eventBlockDelta, "delta", delta)
	}
	event(eventBlockStop, "", nil)
	return dst
}

// take empties a member of this kind at the start of the block, and returns what it had; nil if there
// is none.
func (b *block) take(kind byte, key, empty string) []byte {
	i, ok := jsonscan.Find(b.data, b.members, key)
	if !ok || b.members[i].Kind != kind {
		return nil
	}
	b.start.Set(i, []byte(empty))
	return b.members[i].Value(b.data)
}

// move makes a text a delta.
func (b *block) move(key, delta string) {
	if value := b.take('"', key, `""`); len(value) > len(`""`) {
		b.add(delta, key, value)
	}
}

// citations makes each citation of a text a delta.
func (b *block) citations() {
	list := b.take('[', "citations", "[]")
	for e := range jsonscan.AllElements(list) {
		b.add("citations_delta", "citation", e.Value(list))
	}
}

// input makes the input of a tool a delta, which has its text.
func (b *block) input() {
	if input := b.take('{', "input", "{}"); input != nil {
		b.add("input_json_delta", "partial_json", jsonscan.AppendString(nil, string(input)))
	}
}

func (b *block) add(typ, member string, value []byte) {
	delta := append([]byte(`{"type":"`+typ+`","`+member+`":`), value...)
	b.deltas = append(b.deltas, append(delta, '}'))
}

// appendWhole appends an event. Line ends in its data can only stand between tokens.
func appendWhole(dst []byte, typ string, data []byte) []byte {
	for i, c := range data {
		if c == '\n' || c == '\r' {
			data[i] = ' '
		}
	}
	return append(append(appendHead(dst, []byte(typ)), data...), "\n\n"...)
}
