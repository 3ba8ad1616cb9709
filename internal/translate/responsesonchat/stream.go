package responsesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Stream translates the chunks of a chat completion to the events of a response.
//
// It begins with response.created at the first chunk that has a choice. It ends with exactly one of
// response.completed, response.incomplete, and response.failed with an error event behind it. The
// provider's answer is whole by the same rule as for chat callers: every choice that began has its
// finish reason, or the provider sent [DONE].
type Stream struct {
	call    openai.Call
	chat    *openai.ChatStream
	reader  reader
	failure *apierror.Error
	ended   bool // the client got the end
}

var _ openai.DeltaStream = (*Stream)(nil)

// NewStream returns the stream of one client; call.IncludeUsage has no meaning here.
func NewStream(original *Original, call openai.Call, ids IDs) *Stream {
	call.IncludeUsage = false
	s := &Stream{call: call, chat: openai.NewChatStream(call)}
	b := newBuilder(&s.call, original, ids)
	b.events.on = true
	s.reader = newReader(b)
	return s
}

// Data implements [openai.Stream].
func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.ended {
		return dst
	}
	chunk, found, bad := s.chat.Read(e)
	dst = s.read(dst, &chunk, found, bad)
	if !s.reader.chunks.CanRepeat() {
		s.chat.ReadNextWhole()
	}
	return dst
}

// Write implements [openai.DeltaStream].
func (s *Stream) Write(dst []byte, d *openai.Delta) []byte {
	if s.ended {
		return dst
	}
	chunk, found, bad := s.chat.ReadDelta(d)
	return s.read(dst, &chunk, found, bad)
}

// read takes what was found in an event of the provider, or in a chunk of another translation.
func (s *Stream) read(dst []byte, chunk *openai.Chunk, found bool, bad *apierror.Error) []byte {
	s.reader.events.out = dst
	if bad == nil && found {
		bad = s.reader.read(chunk)
	}
	if bad != nil {
		s.fail(bad)
	}
	s.reader.chunks.Trim()
	return s.take()
}

// take returns what was written since the caller gave its buffer.
func (s *Stream) take() []byte {
	out := s.reader.events.out
	s.reader.events.out = nil
	return out
}

// Done implements [openai.Stream].
func (s *Stream) Done() bool { return s.ended || s.chat.Done() }

// Close implements [openai.Stream].
func (s *Stream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	switch {
	case s.ended && s.failure != nil:
		return dst, s.failure
	case s.ended:
		return dst, nil
	case failure != nil:
		s.reader.events.out = dst
		s.fail(failure)
		return s.take(), failure
	}
	if _, err := s.chat.Close(nil, nil); err != nil { // what it adds at the end is for chat callers
		return dst, err
	}
	s.reader.events.out = dst
	sum := s.chat.Summary()
	e := ending{reason: incompleteReason(sum.Finish), summary: sum, at: s.reader.ids.Unix()}
	s.reader.end(e.reason)
	s.reader.events.response("response."+e.status(), &s.reader.response, e)
	s.ended = true
	return s.take(), nil
}

// Summary implements [openai.Stream].
func (s *Stream) Summary() openai.Summary { return s.chat.Summary() }

// fail ends the stream.
func (s *Stream) fail(e *apierror.Error) {
	_, _ = s.chat.Close(nil, e) // it completes the summary
	s.ended, s.failure = true, e
	r := &s.reader
	r.abandon()
	r.begin()
	r.events.response("response.failed", &r.response, ending{failure: e, summary: s.chat.Summary()})
	r.events.failure(e)
}

// Kept returns how many bytes of the answer are kept for its last events.
func (s *Stream) Kept() int { return s.reader.textSize + s.reader.logprobsBytes }
