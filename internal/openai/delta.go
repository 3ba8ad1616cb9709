package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Delta is a chunk with one choice that a translation makes. Values are JSON without line ends.
type Delta struct {
	// ID and Created say what the answer is, in all its chunks; nil if the provider did not.
	ID, Created []byte

	Members   []byte // of the delta, without its braces and the role
	Role      bool   // the role is before them; the first chunk has it in any case, and no other
	Reasoning []byte // the member reasoning_content, nil for none
	HasText   bool   // the members have text or a tool call
	BeginCall bool   // they begin a tool call, the next by its index
	Logprobs  []byte // nil for null

	// Of the last chunk: the reason it is the last, "" for any other, and members that come with
	// it, nil for none.
	Finish      string
	ServiceTier []byte
	Usage       []byte
}

// DeltaStream is a [Stream] that can send the chunks of a translation.
type DeltaStream interface {
	Stream

	// Write appends to dst the event that the client gets of a chunk.
	Write(dst []byte, d *Delta) []byte
}

var _ DeltaStream = (*ChatStream)(nil)

// NewCallID returns the id of a tool call that its provider gave none, as JSON. Calls of an answer
// count from 0.
func NewCallID(call *Call, n int) []byte {
	return jsonscan.AppendString(nil, "call_"+call.ID+"_"+strconv.Itoa(n+1))
}

// Write implements [DeltaStream].
func (s *ChatStream) Write(dst []byte, d *Delta) []byte {
	if s.done || s.ended {
		return dst
	}
	if len(s.choices) == 0 {
		s.choices = append(s.choices, choice{})
	}
	ch := &s.choices[0]
	if d.BeginCall {
		if len(ch.calls) == maxToolCalls {
			return s.fail(dst, s.call.broken(tooManyCalls))
		}
		ch.calls = append(ch.calls, toolCall{})
	}
	s.sum.Later++
	s.sum.Text = s.sum.Text || d.HasText || len(d.Reasoning) > len(`""`)
	s.head.learn(d.ID, d.Created, &s.call, &s.sum)

	h := &s.head
	dst = append(dst, dataField+"{"...)
	if d.ID != nil {
		dst = append(append(append(dst, `"id":`...), h.id...), ',')
	}
	if d.Created != nil {
		created := h.created
		if isDigits(d.Created) {
			created = d.Created
		}
		dst = append(append(append(dst, `"created":`...), created...), ',')
	}
	dst = append(append(dst, `"object":`...), h.object...)
	dst = append(dst, `,"choices":[{"index":0,"delta":{`...)
	dst = s.appendMembers(dst, d, !ch.started)
	ch.started = true
	dst = append(dst, `},"logprobs":`...)
	dst = appendOrNull(dst, d.Logprobs)
	dst = s.appendReason(append(dst, `,"finish_reason":`...), ch, d.Finish)
	dst = append(dst, "}]"...)
	if d.ServiceTier != nil {
		dst = append(append(dst, `,"service_tier":`...), d.ServiceTier...)
	}
	if d.Usage != nil && s.holdUsage(d.Usage) {
		dst = append(dst, `,"usage":null`...)
	}
	if d.ID == nil {
		dst = append(append(dst, `,"id":`...), h.id...)
	}
	if d.Created == nil {
		dst = append(append(dst, `,"created":`...), h.created...)
	}
	dst = append(append(dst, `,"model":`...), h.model...)
	if len(h.provider) > 0 {
		dst = append(append(dst, `,"provider":`...), h.provider...)
	}
	return append(dst, "}"+eventEnd...)
}

// appendMembers appends the members of a delta.
func (s *ChatStream) appendMembers(dst []byte, d *Delta, first bool) []byte {
	const role = `"role":"assistant"`
	start := len(dst)
	comma := func() {
		if len(dst) > start {
			dst = append(dst, ',')
		}
	}
	if first && d.Role {
		dst = append(dst, role...)
	}
	if len(d.Members) > 0 {
		comma()
		dst = append(dst, d.Members...)
	}
	if d.Reasoning != nil {
		comma()
		dst = append(append(dst, `"reasoning_content":`...), d.Reasoning...)
		if s.shape.Reasoning {
			dst = append(append(dst, asReasoning...), d.Reasoning...)
		}
	}
	if first && !d.Role {
		comma()
		dst = append(dst, role...)
	}
	return dst
}

// appendReason appends the finish reason. A chunk with one is the last.
func (s *ChatStream) appendReason(dst []byte, ch *choice, reason string) []byte {
	if reason == "" {
		return append(dst, jsonNull...)
	}
	s.sum.Finish, s.sum.NativeFinish = reason, reason
	ch.finished, s.done = true, true
	dst = jsonscan.AppendString(dst, reason)
	if s.shape.Native {
		dst = jsonscan.AppendString(append(dst, `,"native_finish_reason":`...), reason)
	}
	return dst
}

func appendOrNull(dst, value []byte) []byte {
	if value == nil {
		value = jsonNull
	}
	return append(dst, value...)
}
