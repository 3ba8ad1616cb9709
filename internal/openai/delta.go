package openai

import (
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Delta is a chunk with one choice that a translation makes. Values are JSON without line ends, nil
// for those that are absent. It is changed only between two uses.
type Delta struct {
	// ID and Created say what the answer is, in all its chunks; nil if the provider did not.
	ID, Created []byte

	// Role has the role before the content. The first chunk has the role in any case, and no other.
	Role bool

	Content, Refusal []byte // quoted texts, or null
	Annotations      []byte // an array
	Images           []byte // an array, as OpenRouter has it
	Call             *CallDelta

	// Reasoning is a quoted text, the member reasoning_content. ReasoningDetails is an array as
	// OpenRouter has it. It may repeat the text, and has what else belongs to the reasoning: its
	// signature, or what of it is encrypted.
	Reasoning, ReasoningDetails []byte

	Logprobs []byte // an object, nil for null

	// Of the last chunk: the reason it is the last, "" for any other, and members that come with
	// it.
	Finish string
	// StopSequence is the stop sequence that ended the answer, "" for none or an unknown one.
	StopSequence string
	ServiceTier  []byte
	Usage        []byte // of a chat completion
}

// CallDelta begins a tool call or is a fragment of one.
type CallDelta struct {
	Index     int    // counts the calls of the answer from 0
	Custom    bool   // of a custom tool; only the chat families have them
	Function  bool   // a function_call, the older form, of which an answer has one; likewise
	Begin     bool   // the first of its call, which alone has ID and Name
	ID, Name  []byte // quoted; without an ID the call gets one
	Arguments []byte // a quoted piece, nil for none; the input of a custom tool
	Extra     []byte // extra_content, an object that only the first has; nil for none
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
	first, null, bad := s.accept(d)
	if bad != nil {
		return s.fail(dst, bad)
	}
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
	dst = s.appendMembers(dst, d, first)
	dst = append(dst, `},"logprobs":`...)
	dst = appendOrNull(dst, d.Logprobs)
	dst = s.appendReason(append(dst, `,"finish_reason":`...), d.Finish)
	dst = append(dst, "}]"...)
	if d.ServiceTier != nil {
		dst = append(append(dst, `,"service_tier":`...), d.ServiceTier...)
	}
	if null {
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

// Accept takes a chunk as Write does, for a stream that shows it in another way. Created is when the answer
// was, in unix seconds.
func (s *ChatStream) Accept(d *Delta) (created int64, bad *apierror.Error) {
	if s.done || s.ended {
		return 0, nil
	}
	if _, _, bad = s.accept(d); bad != nil {
		s.fail(nil, bad)
	}
	created, _ = jsonscan.Int(s.head.created)
	return created, bad
}

// accept takes a chunk into the state of the stream. It reports whether the chunk is the first, and
// whether it has null as its usage.
func (s *ChatStream) accept(d *Delta) (first, null bool, bad *apierror.Error) {
	if len(s.choices) == 0 {
		s.choices = append(s.choices, choice{})
	}
	ch := &s.choices[0]
	if d.Call != nil && d.Call.Begin {
		if len(ch.calls) == maxToolCalls {
			return false, false, s.call.Broken(tooManyCalls)
		}
		ch.calls = append(ch.calls, toolCall{})
	}
	first, ch.started = !ch.started, true
	s.sum.Later++
	s.sum.Text = s.sum.Text || d.Call != nil || isText(d.Content) || isText(d.Reasoning)
	s.head.learn(d.ID, d.Created, &s.call, &s.sum)
	if d.Finish != "" {
		s.sum.Finish, s.sum.NativeFinish = d.Finish, d.Finish
		s.sum.StopSequence = d.StopSequence
		s.finish(ch)
		s.done = true
	}
	if d.Usage != nil {
		null = s.holdUsage(d.Usage)
	}
	return first, null, nil
}

// isText reports whether a value is a text that is not empty.
func isText(value []byte) bool { return len(value) > len(`""`) && value[0] == '"' }

// appendMembers appends the members of a delta.
func (s *ChatStream) appendMembers(dst []byte, d *Delta, first bool) []byte {
	if first && d.Role {
		dst = AppendValue(dst, "role", jsonAssistant)
	}
	dst = AppendValue(dst, "content", d.Content)
	dst = AppendValue(dst, "refusal", d.Refusal)
	dst = AppendValue(dst, "annotations", d.Annotations)
	dst = AppendValue(dst, "images", d.Images)
	if d.Call != nil {
		dst = d.Call.append(dst, &s.call)
	}
	dst = AppendValue(dst, "reasoning_content", d.Reasoning)
	if d.Reasoning != nil && s.shape.Reasoning {
		dst = append(append(dst, asReasoning...), d.Reasoning...)
	}
	dst = AppendValue(dst, "reasoning_details", d.ReasoningDetails)
	if first && !d.Role {
		dst = AppendValue(dst, "role", jsonAssistant)
	}
	return dst
}

// append appends the member tool_calls, or function_call.
func (c *CallDelta) append(dst []byte, call *Call) []byte {
	if c.Function {
		dst = append(AppendKey(dst, "function_call"), '{')
		dst = AppendValue(dst, "name", c.Name)
		return append(AppendValue(dst, "arguments", c.Arguments), '}')
	}
	typ, key := "function", "arguments"
	if c.Custom {
		typ, key = "custom", "input"
	}
	dst = strconv.AppendInt(append(AppendKey(dst, "tool_calls"), `[{"index":`...), int64(c.Index), 10)
	if c.Begin {
		dst = AppendValue(dst, "id", c.ID)
		dst = AppendText(dst, "type", typ)
	}
	dst = append(AppendKey(dst, typ), '{')
	if c.Begin {
		dst = AppendValue(dst, "name", c.Name)
	}
	dst = append(AppendValue(dst, key, c.Arguments), '}')
	if c.Begin && c.ID == nil {
		dst = AppendValue(dst, "id", NewCallID(call, c.Index))
	}
	dst = AppendValue(dst, "extra_content", c.Extra)
	return append(dst, "}]"...)
}

// appendReason appends the finish reason. A chunk with one is the last.
func (s *ChatStream) appendReason(dst []byte, reason string) []byte {
	if reason == "" {
		return append(dst, jsonNull...)
	}
	dst = jsonscan.AppendString(dst, reason)
	if s.shape.Native {
		dst = AppendText(dst, "native_finish_reason", reason)
	}
	return dst
}

func appendOrNull(dst, value []byte) []byte {
	if value == nil {
		value = jsonNull
	}
	return append(dst, value...)
}
