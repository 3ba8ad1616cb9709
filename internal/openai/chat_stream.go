package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/fault"
)

var (
	doneMark  = []byte("[DONE]")
	doneEvent = "data: [DONE]\n\n"
)

// ChatStream is the [Stream] of chat completions.
//
// Each chunk passes with the edits its family needs. A provider's [DONE] and
// its usage are held until the stream is known to be whole.
type ChatStream struct {
	chat
	done  bool // the provider said [DONE]
	ended bool // the client was told the end
}

// NewChatStream returns the stream of a first-family client.
func NewChatStream(call Call) *ChatStream { return NewShapedStream(call, Shape{}) }

// NewShapedStream is [NewChatStream] for a family with a [Shape] of its own.
func NewShapedStream(call Call, shape Shape) *ChatStream {
	return &ChatStream{chat: *newChat(call, shape, true)}
}

// Data implements [Stream].
func (s *ChatStream) Data(dst, name, data []byte) []byte {
	data = bytes.TrimSpace(data)
	if s.done || s.ended || len(data) == 0 {
		return dst
	}
	if bytes.Equal(data, doneMark) {
		s.done = true
		return dst
	}
	start := len(dst)
	dst = append(dst, "data: "...)
	at := len(dst)
	dst, found, bad := s.repair(dst, data)
	if bad == nil && string(name) == "error" {
		bad = s.failed(data)
	}
	s.trim()
	if bad != nil {
		return s.fail(dst[:start], bad)
	}
	if !found {
		return dst[:start]
	}
	return append(unwrap(dst, at), "\n\n"...)
}

// Done implements [Stream].
func (s *ChatStream) Done() bool { return s.done || s.ended }

// Close implements [Stream].
func (s *ChatStream) Close(dst []byte, failure *fault.Error) ([]byte, error) {
	switch {
	case s.ended && s.sum.Err != nil:
		return dst, s.sum.Err
	case s.ended:
		return dst, nil
	case failure != nil:
		return s.fail(dst, failure), failure
	case !s.whole():
		return dst, ErrCut
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

// whole tells whether the answer came to its end: a finish reason for every
// choice that began, or the provider's own word.
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

// fail ends the stream with the family's error.
func (s *ChatStream) fail(dst []byte, e *fault.Error) []byte {
	s.ended, s.sum.Err, s.sum.Finish = true, e, finishError
	if s.shape.Failure == nil {
		return AppendStreamError(dst, e)
	}
	dst = s.appendHead(dst)
	dst = s.shape.Failure(dst, e)
	return append(dst, "}\n\n"...)
}

// appendFinish appends the chunk a provider forgot before its [DONE].
func (s *ChatStream) appendFinish(dst []byte, index int, reason string) []byte {
	s.small = s.small[:0]
	dst = append(s.appendHead(dst), `,"choices":[{"index":`...)
	dst = append(dst, s.digits(int64(index))...)
	dst = append(dst, `,"delta":{},"finish_reason":`...)
	dst = append(dst, s.quote(reason)...)
	s.sum.Finish = reason
	return append(dst, "}]}\n\n"...)
}

// appendUsage appends the one chunk with usage, where the client gets one and
// the provider reported any.
func (s *ChatStream) appendUsage(dst []byte) []byte {
	if len(s.usage) == 0 {
		return dst
	}
	at := len(dst)
	dst = append(s.appendHead(dst), `,"choices":[],"usage":`...)
	if s.shape.Usage != nil {
		dst = s.shape.Usage(dst, s.usage, s.sum.Usage)
	} else {
		dst = append(dst, s.usage...)
	}
	return append(unwrap(dst, at), "}\n\n"...)
}

// appendHead begins a chunk of our own, without its closing brace.
func (s *ChatStream) appendHead(dst []byte) []byte {
	s.learnHead(top{-1, -1, -1, -1, -1, -1, -1}, nil)
	dst = append(dst, `data: {"id":`...)
	dst = append(dst, s.id...)
	dst = append(dst, `,"object":`...)
	dst = append(dst, s.object...)
	dst = append(dst, `,"created":`...)
	dst = append(dst, s.created...)
	dst = append(dst, `,"model":`...)
	dst = append(dst, s.model...)
	if s.provider != nil {
		dst = append(dst, `,"provider":`...)
		dst = append(dst, s.provider...)
	}
	return dst
}

// trim gives back what a long chunk made of the scratch.
func (s *ChatStream) trim() {
	for i := range s.bufs {
		if cap(s.bufs[i]) > maxScratch {
			s.bufs[i] = nil
		}
		if cap(s.members[i]) > maxScratch/64 {
			s.members[i] = nil
		}
	}
	for i := range s.splices {
		if cap(s.splices[i].buf) > maxScratch {
			s.splices[i].buf = nil
		}
		if cap(s.spans[i]) > maxScratch/64 {
			s.spans[i] = nil
		}
	}
	if cap(s.small) > maxScratch {
		s.small = nil
	}
}
