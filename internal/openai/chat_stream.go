package openai

import (
	"bytes"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
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
	last  template // of the chunk before, if more like it may come
	done  bool     // the provider said [DONE]
	ended bool     // the client was told the end
}

// NewChatStream returns the stream of a first-family client.
func NewChatStream(call Call) *ChatStream { return NewShapedStream(call, Shape{}) }

// NewShapedStream is [NewChatStream] for a family with a [Shape] of its own.
func NewShapedStream(call Call, shape Shape) *ChatStream {
	s := new(ChatStream)
	s.reset(call, shape, true)
	return s
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
	isError := string(name) == "error"
	if !isError {
		if out, ok := s.last.apply(dst, data); ok {
			if !s.last.usage {
				s.sum.Later++
			}
			return out
		}
	}
	s.sum.Later++
	start := len(dst)
	dst = append(dst, "data: "...)
	at := len(dst)
	s.borrow()
	defer s.giveBack()
	dst, found, bad := s.repair(dst, data)
	if bad == nil && isError {
		bad = s.failed(data)
	}
	if bad != nil {
		return s.fail(dst[:start], bad)
	}
	if !found {
		s.last.forget()
		return dst[:start]
	}
	dst = append(unwrap(dst, at), "\n\n"...)
	s.last.forget()
	if !s.first && s.sum.Text {
		s.last.learn(data, dst[start:], s.holes)
		s.last.usage = s.sum.Later == 0
	}
	return dst
}

// Done implements [Stream].
func (s *ChatStream) Done() bool { return s.done || s.ended }

// Close implements [Stream].
func (s *ChatStream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
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
func (s *ChatStream) fail(dst []byte, e *apierror.Error) []byte {
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
	dst = append(s.appendHead(dst), `,"choices":[{"index":`...)
	dst = strconv.AppendInt(dst, int64(index), 10)
	dst = append(dst, `,"delta":{},"finish_reason":`...)
	dst = jsonscan.AppendString(dst, reason)
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
	s.learnHead(nowhere, nil)
	dst = append(dst, `data: {"id":`...)
	dst = append(dst, s.id...)
	dst = append(dst, `,"object":`...)
	dst = append(dst, s.object...)
	dst = append(dst, `,"created":`...)
	dst = append(dst, s.created...)
	dst = append(dst, `,"model":`...)
	dst = append(dst, s.model...)
	if len(s.provider) > 0 {
		dst = append(dst, `,"provider":`...)
		dst = append(dst, s.provider...)
	}
	return dst
}
