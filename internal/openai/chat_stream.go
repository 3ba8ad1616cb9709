package openai

import (
	"strconv"
	"sync"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

const (
	doneMark  = "[DONE]"
	doneEvent = dataField + doneMark + eventEnd
)

// ChatStream is the [Stream] of chat completions.
//
// Each chunk passes with the edits its API needs. A provider's [DONE] and its usage are held until
// the stream is known to be whole.
//
// A chunk does to the state of the stream what the one did that it repeats, and that changes
// nothing more, unless that one began a choice or a tool call: the repair looks at no text but to
// see whether there was any. So a chunk that repeats the one before is sent as that was.
type ChatStream struct {
	chat
	before int      // shape of the chunk before, 0 if none may repeat it
	used   bool     // the chunk before had usage
	last   template // of that chunk
	done   bool     // the provider sent [DONE]
	ended  bool     // the client got the end
}

// NewChatStream returns the stream of a client of the OpenAI API.
func NewChatStream(call Call) *ChatStream { return NewShapedStream(call, Shape{}) }

// NewShapedStream is [NewChatStream] for an API with a [Shape] of its own.
func NewShapedStream(call Call, shape Shape) *ChatStream {
	s := chatStreams.Get().(*ChatStream)
	s.reset(call, shape, true)
	return s
}

var chatStreams = sync.Pool{New: func() any { return new(ChatStream) }}

// Release gives the memory of the stream to others. It is optional; the stream must not be used after
// it.
func (s *ChatStream) Release() {
	s.chat.empty()
	*s = ChatStream{chat: s.chat, last: template{event: s.last.event[:0]}}
	chatStreams.Put(s)
}

// Data implements [Stream].
func (s *ChatStream) Data(dst []byte, e *Event) []byte {
	switch {
	case s.skips(e):
		return dst
	case s.repeats(e):
		return s.last.append(dst, e)
	}
	found, bad := s.take(e)
	if bad != nil {
		return s.fail(dst, bad)
	}
	if !found {
		return dst
	}
	start := len(dst)
	dst = append(e.AppendTo(append(dst, dataField...)), eventEnd...)
	if len(dst)-start > maxTemplate {
		s.before = 0
	}
	if s.before != 0 {
		s.last.learn(e, dst[start:], len(dataField))
	}
	return dst
}

// Read takes an event as Data does, and returns what is in it for a client. It is false if there is
// nothing. The chunk is valid until the event is released.
func (s *ChatStream) Read(e *Event) (chunk Chunk, found bool, bad *apierror.Error) {
	switch {
	case s.skips(e):
		return chunk, false, nil
	case s.repeats(e):
		return Chunk{Repeats: true, Text: e.Value(VarText)}, true, nil
	}
	if found, bad = s.take(e); bad != nil {
		s.fail(nil, bad)
		return chunk, false, bad
	}
	return e.work.chunk, found, nil
}

// ReadNextWhole has Read return all of the next chunk, even if it repeats the one before.
func (s *ChatStream) ReadNextWhole() { s.before = 0 }

// skips reports whether an event has nothing to read.
func (s *ChatStream) skips(e *Event) bool {
	if s.done || s.ended || len(e.Data) == 0 {
		return true
	}
	s.done = e.Done()
	return s.done
}

// repeats reports whether an event repeats the one before, and counts it.
func (s *ChatStream) repeats(e *Event) bool {
	if s.before == 0 || !e.repeats || e.shape != s.before {
		return false
	}
	if !s.used {
		s.sum.Later++
	}
	return true
}

// take repairs an event, as repair does.
func (s *ChatStream) take(e *Event) (found bool, bad *apierror.Error) {
	s.sum.Later++
	s.before = 0
	found, bad = s.repair(e)
	if bad == nil && string(e.Name) == "error" {
		bad = s.sum.fault(&s.call, e.Data)
	}
	if bad != nil { // it used nothing
		s.sum.Later = max(s.sum.Later-1, 0)
	}
	if bad == nil && found && !s.first && s.sum.Text && e.Learn(s.vars) {
		s.before, s.used = e.shape, s.sum.Later == 0
	}
	s.event, s.work = nil, nil
	return found, bad
}

// Done implements [Stream].
func (s *ChatStream) Done() bool { return s.done || s.ended }

// Close implements [Stream].
func (s *ChatStream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	if s.ended || failure != nil || !s.whole() {
		return CloseStream(dst, s.ended, s.sum.Err, failure, s.fail)
	}
	for i := range s.choices {
		if ch := &s.choices[i]; ch.started && !ch.finished {
			dst = s.appendFinish(dst, i, ch.naturalEnd())
		}
	}
	dst = s.appendUsage(dst)
	s.ended = true
	return append(dst, doneEvent...), nil
}

// Summary implements [Stream].
func (s *ChatStream) Summary() Summary { return s.sum }

// whole reports whether the answer came to its end: a finish reason for every choice that began, or
// [DONE].
func (s *ChatStream) whole() bool {
	started := false
	for _, ch := range s.choices {
		if ch.started && !ch.finished && !s.done {
			return false
		}
		started = started || ch.started
	}
	return started
}

// fail ends the stream with the API's error.
func (s *ChatStream) fail(dst []byte, e *apierror.Error) []byte {
	s.ended, s.sum.Err, s.sum.Finish = true, e, finishError
	if s.shape.Failure == nil {
		return AppendStreamError(dst, e)
	}
	dst = s.begin(dst)
	dst = s.shape.Failure(dst, e)
	return append(dst, "}"+eventEnd...)
}

// appendFinish appends the chunk a provider forgot before its [DONE].
func (s *ChatStream) appendFinish(dst []byte, index int, reason string) []byte {
	dst = append(s.begin(dst), `,"choices":[{"index":`...)
	dst = strconv.AppendInt(dst, int64(index), 10)
	if s.shape.Text {
		dst = append(dst, `,"text":"","finish_reason":`...)
	} else {
		dst = append(dst, `,"delta":{},"finish_reason":`...)
	}
	dst = jsonscan.AppendString(dst, reason)
	s.sum.Finish = reason
	return append(dst, "}]}"+eventEnd...)
}

// appendUsage appends the one chunk with usage and metadata, if the client gets any and the provider
// reported some.
func (s *ChatStream) appendUsage(dst []byte) []byte {
	if len(s.usage) == 0 && s.shape.Metadata == nil {
		return dst
	}
	dst = append(s.begin(dst), `,"choices":[]`...)
	if len(s.usage) > 0 {
		if dst = AppendKey(dst, "usage"); s.shape.Usage != nil {
			dst = s.shape.Usage(dst, s.usage, s.sum.Usage)
		} else {
			dst = append(dst, s.usage...)
		}
	}
	if s.shape.Metadata != nil {
		dst = AppendValue(dst, MetadataKey, s.shape.Metadata())
	}
	return append(dst, "}"+eventEnd...)
}

// begin begins a chunk of our own, without its closing brace.
func (s *ChatStream) begin(dst []byte) []byte {
	s.head.learn(nil, nil, &s.call, &s.sum)
	return s.head.append(append(dst, dataField...))
}
