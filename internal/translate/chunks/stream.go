package chunks

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Writer writes the answer of another API, whole or as the events of a stream. The
// [translate.Content] of a chunk comes between Begin and CheckSize.
type Writer interface {
	// Begin begins with a chunk that does not repeat the one before. sum is what is known of the
	// answer.
	Begin(chunk openai.Chunk, sum openai.Summary)

	// CheckSize fails an answer that is longer than any should be.
	CheckSize() *apierror.Error

	// End ends an answer that came to its end, and writes the last events of a stream.
	End(sum openai.Summary) *apierror.Error

	// Fail writes the last events of a stream that failed.
	Fail(e *apierror.Error, sum openai.Summary)

	// Summary returns what is known of the answer, as far as the client gets it.
	Summary(sum openai.Summary) openai.Summary

	// Out is what the events are appended to.
	Out() *[]byte

	// Kept returns how many bytes of the answer are kept for its last events.
	Kept() int
}

// Result reads a provider's whole chat completion. A body that is not a completion, reports an
// error, or has content that the writer's API cannot have, is a [*apierror.Error], also in the
// summary.
func Result(completion []byte, call *openai.Call, content translate.Content, to Writer, opt Options) (openai.Summary, error) {
	r := NewReader(call, content, opt)
	var bad *apierror.Error
	sum, err := openai.ReadChatResult(completion, *call, func(chunk *openai.Chunk) {
		to.Begin(*chunk, openai.Summary{})
		if bad = r.Read(chunk); bad == nil {
			bad = to.CheckSize()
		}
	})
	if err != nil {
		return sum, err
	}
	if bad == nil {
		bad = to.End(sum)
	}
	if bad != nil {
		sum.Err, sum.Finish = bad, "error"
		return sum, bad
	}
	return sum, nil
}

// Stream translates the chunks of a chat completion to the events of another API.
//
// The provider's answer is whole by the same rule as for chat callers: every choice that began has
// its finish reason, or the provider sent [DONE].
type Stream struct {
	chat    *openai.ChatStream
	reader  Reader
	to      Writer
	target  target
	failure *apierror.Error
	ended   bool // the client got the end
}

var _ openai.Stream = (*Stream)(nil)

// NewStream returns the stream of one client; call.IncludeUsage has no meaning here.
func NewStream(call *openai.Call, content translate.Content, to Writer, opt Options) *Stream {
	call.IncludeUsage, opt.Stream = false, true
	s := &Stream{chat: openai.NewChatStream(*call), reader: NewReader(call, content, opt), to: to}
	s.target.s = s
	return s
}

func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.ended {
		return dst
	}
	chunk, found, bad := s.chat.Read(e)
	dst = s.read(dst, &chunk, found, bad)
	if s.reader.repeat.kind == noContent {
		s.chat.ReadNextWhole()
	}
	return dst
}

// read takes what was found in an event of the provider.
func (s *Stream) read(dst []byte, chunk *openai.Chunk, found bool, bad *apierror.Error) []byte {
	out := s.to.Out()
	*out = dst
	if bad == nil && found {
		if !chunk.Repeats {
			s.to.Begin(*chunk, s.chat.Summary())
		}
		if bad = s.reader.Read(chunk); bad == nil {
			bad = s.to.CheckSize()
		}
	}
	if bad != nil {
		s.fail(bad)
	}
	s.reader.trim()
	return take(out)
}

// take returns what was written, and leaves nothing of the caller's buffer behind.
func take(out *[]byte) []byte {
	written := *out
	*out = nil
	return written
}

func (s *Stream) Done() bool { return s.ended || s.chat.Done() }

func (s *Stream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	switch {
	case s.ended && s.failure != nil:
		return dst, s.failure
	case s.ended:
		return dst, nil
	case failure == nil:
		if _, err := s.chat.Close(nil, nil); err != nil { // what it adds at the end is for chat callers
			return dst, err
		}
	}
	out := s.to.Out()
	*out = dst
	if failure == nil {
		failure = s.to.End(s.chat.Summary())
	}
	if failure != nil {
		s.fail(failure)
		return take(out), failure
	}
	s.ended = true
	return take(out), nil
}

func (s *Stream) Summary() openai.Summary {
	sum := s.to.Summary(s.chat.Summary())
	if s.failure != nil {
		sum.Err, sum.Finish = s.failure, "error"
	}
	return sum
}

// fail ends the stream.
func (s *Stream) fail(e *apierror.Error) {
	_, _ = s.chat.Close(nil, e) // it completes the summary
	s.ended, s.failure = true, e
	s.to.Fail(e, s.chat.Summary())
}

// Kept returns how many bytes of the answer are kept for its last events.
func (s *Stream) Kept() int { return s.to.Kept() }
