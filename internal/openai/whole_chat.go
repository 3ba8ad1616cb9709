package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ChatEvents appends a whole chat completion as the events that a provider would have streamed: for
// each choice a chunk with the message and one with the finish reason, then usage and [DONE]. Some
// small servers answer so, whatever was asked for. What they left out the [ChatStream] repairs. A body
// that is no completion, or is an error, is a [*apierror.Error], and dst is returned as it was.
func ChatEvents(dst, body []byte, call Call) ([]byte, Summary, error) {
	call.OnID = nil // the stream reports them
	sum, err := ReadChatResult(body, call, func(*Chunk) {})
	if err != nil {
		return dst, sum, err
	}
	w := chatEvents{dst: dst, head: []byte(`{"object":"chat.completion.chunk"`)}
	var choices, usage []byte
	for m := range jsonscan.AllMembers(body) {
		switch value := m.Value(body); string(m.DecodedKey(body)) {
		case "object", "error":
		case "choices":
			choices = value
		case "usage":
			usage = value
		case "id", "created", "model", "system_fingerprint", "service_tier", "provider":
			w.head = appendMember(w.head, body, m)
		default:
			w.once = appendMember(w.once, body, m)
		}
	}
	position := 0
	for e := range jsonscan.AllElements(choices) {
		w.choice(e.Value(choices), position)
		position++
	}
	if len(usage) > 0 && usage[0] == '{' {
		w.chunk(nil, usage)
	}
	return append(w.dst, doneEvent...), sum, nil
}

// chatEvents writes the chunks of a completion.
type chatEvents struct {
	dst  []byte
	head []byte // members that all chunks have
	once []byte // members that the first one has, too
}

// chunk writes a chunk with a choice or with usage.
func (w *chatEvents) chunk(choice, usage []byte) {
	w.dst = append(w.dst, dataField...)
	at := len(w.dst)
	w.dst = append(append(w.dst, w.head...), w.once...)
	w.once = nil
	w.dst = append(append(append(w.dst, `,"choices":[`...), choice...), ']')
	if usage != nil {
		w.dst = append(append(w.dst, `,"usage":`...), usage...)
	}
	w.dst = append(unwrap(append(w.dst, '}'), at), eventEnd...)
}

func (w *chatEvents) choice(object []byte, position int) {
	index, finish := strconv.AppendInt(nil, int64(position), 10), jsonNull
	var message, logprobs, rest []byte
	for m := range jsonscan.AllMembers(object) {
		switch value := m.Value(object); string(m.DecodedKey(object)) {
		case "index":
			if isDigits(value) {
				index = value
			}
		case "message":
			message = value
		case "finish_reason":
			finish = value
		case "logprobs":
			logprobs = appendMember(nil, object, m)
		case "error":
		default:
			rest = appendMember(rest, object, m)
		}
	}
	begin := append(append([]byte(`{"index":`), index...), `,"delta":`...)
	first := appendDelta(append([]byte(nil), begin...), message)
	w.chunk(append(append(first, logprobs...), `,"finish_reason":null}`...), nil)
	last := append(append(begin, `{},"finish_reason":`...), finish...)
	w.chunk(append(append(last, rest...), '}'), nil)
}

// appendDelta appends a message as the delta that begins and ends it.
func appendDelta(dst, message []byte) []byte {
	dst = append(dst, '{')
	at := len(dst)
	for m := range jsonscan.AllMembers(message) {
		if m.Kind != '[' || string(m.DecodedKey(message)) != "tool_calls" {
			dst = appendMember(dst, message, m)
			continue
		}
		dst = append(append(append(dst, `,"`...), m.Key(message)...), `":[`...)
		calls, n := m.Value(message), 0
		for e := range jsonscan.AllElements(calls) {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = appendIndexed(dst, e.Value(calls), n)
			n++
		}
		dst = append(dst, ']')
	}
	if len(dst) > at { // the comma of the first member
		dst = append(dst[:at], dst[at+1:]...)
	}
	return append(dst, '}')
}

// appendIndexed appends a tool call with its index, which only streams have.
func appendIndexed(dst, call []byte, index int) []byte {
	members := jsonscan.Members(call, nil)
	if _, ok := jsonscan.Find(call, members, "index"); ok || call[0] != '{' {
		return append(dst, call...)
	}
	p := jsonscan.NewPatch(call, members)
	p.Add("index", strconv.AppendInt(nil, int64(index), 10))
	return p.Append(dst)
}

// appendMember appends a member of an object as one that follows another.
func appendMember(dst, object []byte, m jsonscan.Member) []byte {
	dst = append(append(append(dst, `,"`...), m.Key(object)...), `":`...)
	return append(dst, m.Value(object)...)
}
