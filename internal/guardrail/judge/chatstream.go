package judge

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// A chunk of a chat stream, and the members that are read:
//
//	{"id", "object", "created", "model", …
//	 "choices": [{"index": 0,
//	              "delta": {"content": text, "refusal": text, "reasoning": text,
//	                        "tool_calls": [{"index": 0, "id", "function": {"name", "arguments": text}}],
//	                        "reasoning_details": [{"index": 0, "type", "text": text}], …},
//	              "logprobs": {…}, "finish_reason": null or a word}],
//	 "usage": {…}}
//
// In the older API of completions a choice has "text": text instead of the delta.
//
// Every string below a delta is a piece of a channel, unless it is not text. The channel is named by
// the path of the string. Content may also come as a list of parts, which are pieces of the same
// text.

// repeatedMembers are the members of a chunk that an inserted chunk repeats.
var repeatedMembers = []string{"id", "object", "created", "model", "provider", "system_fingerprint", "service_tier"}

// chatChoice is a choice of a chunk.
type chatChoice struct {
	at     document.Span
	index  string // as JSON
	phases phase  // for which it has text
}

func (e *eventEdit) readChat() {
	finished := e.readChoices()
	choices := e.choices
	at := 0
	e.walk(func(w *document.Walker, text document.Span) (*channel, document.Context, bool) {
		from := pieceFrame(w.Frames)
		if from == 0 {
			return nil, w.Context(), false
		}
		for at < len(choices) && choices[at].at.End <= text.Start {
			at++
		}
		if at == len(choices) || text.Start < choices[at].at.Start {
			return nil, w.Context(), false
		}
		empty := text.End-text.Start <= len(`""`)
		if !empty {
			choices[at].phases |= phaseOf(w.Frames[from].Key)
		}
		return e.chatChannel(w, from, choices[at].index, empty), w.Context(), false
	})
	failed := member(e.data, e.members, "error")
	everything := len(failed) > 0 && !jsonscan.IsNull(failed)
	e.end(func(c *channel) bool { return everything || finished[c.group] || c.over(choices) })
}

// pieceFrame returns the frame whose members are pieces: that of a delta, or of a choice with a text. It
// returns 0 if the frames lead to neither.
func pieceFrame(frames []document.Frame) int {
	switch {
	case len(frames) < 3 || frames[0].Key != "choices":
		return 0
	case len(frames) == 3 && frames[2].Key == "text":
		return 2
	case len(frames) > 3 && frames[2].Key == "delta":
		return 3
	}
	return 0
}

// phase is what a choice does at a time: reasoning, answering, calling tools. Clients, and
// translations in particular, take them in order. So the text that one phase held back is sent
// before the next begins.
type phase uint8

const (
	phaseReasoning phase = 1 << iota
	phaseContent
	phaseToolCalls
)

func phaseOf(member string) phase {
	switch {
	case strings.HasPrefix(member, "reasoning") || member == "thinking":
		return phaseReasoning
	case member == "tool_calls" || member == "function_call":
		return phaseToolCalls
	}
	return phaseContent
}

// over reports whether the choice of a channel is now in another phase. The arguments of a tool
// call have an end of their own.
func (c *channel) over(choices []chatChoice) bool {
	for i := range choices {
		if choices[i].index == c.group {
			return choices[i].phases != 0 && c.phase != phaseToolCalls && choices[i].phases&c.phase == 0
		}
	}
	return false
}

// readChoices collects the choices of the chunk in their order, and returns which of them end with
// it.
func (e *eventEdit) readChoices() (finished map[string]bool) {
	i, ok := jsonscan.Find(e.data, e.members, "choices")
	if !ok {
		return nil
	}
	value, offset := e.members[i].Value(e.data), e.members[i].ValueStart
	e.spans = jsonscan.Elements(value, e.spans[:0])
	for i, s := range e.spans {
		if s.Kind != '{' {
			continue
		}
		object := s.Value(value)
		e.inner = jsonscan.Members(object, e.inner[:0])
		members := e.inner
		c := chatChoice{at: document.Span{Start: offset + s.Start, End: offset + s.End}, index: strconv.Itoa(i)}
		if index := member(object, members, "index"); isIndex(index) {
			c.index = string(index)
		}
		e.choices = append(e.choices, c)
		// Some providers send the string "null" in every chunk.
		reason := member(object, members, "finish_reason")
		if len(reason) > len(`""`) && reason[0] == '"' && string(reason) != `"null"` {
			if finished == nil {
				finished = map[string]bool{}
			}
			finished[c.index] = true
		}
	}
	return finished
}

// chatChannel returns the channel of the string that the walker visits, which is below the delta of
// a choice, whose frame is from. It returns nil if the string is not a piece of a text.
func (e *eventEdit) chatChannel(w *document.Walker, from int, choice string, empty bool) *channel {
	var buf [64]byte
	id := append(append(buf[:0], choice...), "/content"...)
	if !isContentPart(w.Frames[from:]) {
		var ok bool
		if id, ok = e.path(id[:len(choice)], w, from, choice); !ok {
			return nil
		}
	}
	if empty && e.stream.open[string(id)] == nil {
		return nil
	}
	c, fresh := e.open(string(id), choice)
	if c == nil {
		return nil
	}
	if fresh {
		c.phase = phaseOf(w.Frames[from].Key)
		c.template = e.chunk(w, from, choice)
		if w.Context().InnerJSON {
			c.inner = new(document.InnerJSON)
		} else {
			e.follow(c, c.id)
		}
	}
	return c
}

// isContentPart reports whether the frames lead from a delta to the text of a part of its content.
func isContentPart(frames []document.Frame) bool {
	return len(frames) == 3 && frames[0].Key == "content" && !frames[1].Object && frames[2].Object && frames[2].Key == "text"
}

// chunk returns a chunk with a piece of the visited text, and nothing else.
func (e *eventEdit) chunk(w *document.Walker, from int, choice string) eventTemplate {
	out := eventTemplate{name: string(e.event.Name), head: []byte{'{'}}
	for _, key := range repeatedMembers {
		out.head = appendMember(out.head, key, member(e.data, e.members, key))
	}
	out.head = append(out.head, `"choices":[{"index":`+choice...)
	if w.Frames[from].Key == "text" && from == 2 {
		out.head, out.tail = append(out.head, `,"text":`...), []byte(`,"logprobs":null,"finish_reason":null}]}`)
		return out
	}
	head, tail := e.enclosing(w, from, choice)
	out.head = append(out.head, `,"delta":`...)
	out.member, out.deltaIn, out.deltaTo = w.Frames[from].Key, len(out.head), len(tail)
	out.head = append(out.head, head...)
	out.tail = append(tail, `,"finish_reason":null}]}`...)
	return out
}

// toolCall is a tool call of a choice that has begun.
type toolCall struct {
	index int64  // from the provider, -1 for none
	id    []byte // as JSON, nil for none
}

// toolCall returns the index of the tool call that a fragment belongs to. It follows the rule by
// which clients receive it (callIndex in package openai): a new id begins a call, unless it comes
// late for a call that had none. Without an id, the fragment belongs to the last call with its
// index. The same id later is the same call again.
func (e *eventEdit) toolCall(choice string, el *element) int {
	s := e.stream
	given := toolCall{index: -1}
	if el.index != nil {
		given.index, _ = jsonscan.Int(el.index)
	}
	if len(el.id) > len(`""`) && el.id[0] == '"' {
		given.id = el.id[:min(len(el.id), maxCopiedValue)]
	}
	list := s.calls[choice]
	if given.id != nil {
		for i := len(list) - 1; i >= 0; i-- {
			if bytes.Equal(list[i].id, given.id) {
				return i
			}
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		if (given.id == nil || list[i].id == nil) && (given.index < 0 || list[i].index == given.index) {
			return i
		}
	}
	if s.callCount++; s.callCount > maxChannels {
		e.err = ErrTooManyTexts
		return 0
	}
	given.id = bytes.Clone(given.id)
	s.calls[choice] = append(list, given)
	return len(list)
}

// callID returns the id of a call as JSON. It returns nil if the call has none, or one that is too
// long to repeat.
func (s *Stream) callID(choice string, call int) []byte {
	list := s.calls[choice]
	if call >= len(list) || len(list[call].id) == maxCopiedValue {
		return nil
	}
	return list[call].id
}
