package messagesonchat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chunks"
)

// Stream translates the chunks of a chat completion to the events of a message.
//
// It begins with message_start at the first content. It ends with either message_delta and
// message_stop, or an error event. The provider's answer is whole by the same rule as for chat
// callers: every choice that began has its finish reason, or the provider sent [DONE].
type Stream struct {
	call    openai.Call
	chat    *openai.ChatStream
	message *builder
	reader  chunks.Reader
	sum     openai.Summary // that the events show
	failure *apierror.Error
	ended   bool // the client got the end
}

var _ openai.DeltaStream = (*Stream)(nil)

// NewStream returns the stream of one client, whose message has this id; call.IncludeUsage has no
// meaning here.
func NewStream(original *Original, call openai.Call, id string) *Stream {
	call.IncludeUsage = false
	s := &Stream{call: call, chat: openai.NewChatStream(call)}
	s.message = newBuilder(&s.call, original, id)
	s.message.events.on, s.message.events.sum = true, &s.sum
	s.reader = chunks.NewReader(&s.call, s.message, chunks.Options{Stream: true, Answer: inMessage})
	return s
}

// Data implements [openai.Stream].
func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.ended {
		return dst
	}
	chunk, found, bad := s.chat.Read(e)
	dst = s.read(dst, &chunk, found, bad)
	if !s.reader.CanRepeat() {
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
	s.message.events.out = dst
	if bad == nil && found {
		if !s.message.events.started { // which shows usage
			s.sum = s.chat.Summary()
		}
		if bad = s.reader.Read(chunk); bad == nil {
			bad = s.message.checkSize()
		}
	}
	if bad != nil {
		s.fail(bad)
	}
	s.reader.Trim()
	s.message.trim()
	return s.take()
}

// trim releases the buffer of a long piece.
func (b *builder) trim() {
	if b.head < len(b.blocks) {
		if it := &b.blocks[b.head]; len(it.waiting) == 0 && cap(it.waiting) > translate.MaxScratch {
			it.waiting = nil
		}
	}
}

// take returns what was written since the caller gave its buffer.
func (s *Stream) take() []byte {
	out := s.message.events.out
	s.message.events.out = nil
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
		s.message.events.out = dst
		s.fail(failure)
		return s.take(), failure
	}
	if _, err := s.chat.Close(nil, nil); err != nil { // what it adds at the end is for chat callers
		return dst, err
	}
	s.message.events.out, s.sum = dst, s.chat.Summary()
	if bad := s.message.end(s.sum.Finish); bad != nil {
		s.fail(bad)
		return s.take(), bad
	}
	s.message.events.stop(s.message)
	s.ended = true
	return s.take(), nil
}

// Summary implements [openai.Stream]. Reasoning that the client does not get is no text of it.
func (s *Stream) Summary() openai.Summary {
	sum := s.chat.Summary()
	sum.Text = s.message.events.started
	if s.failure != nil {
		sum.Err, sum.Finish = s.failure, "error"
	}
	return sum
}

// fail ends the stream.
func (s *Stream) fail(e *apierror.Error) {
	_, _ = s.chat.Close(nil, e) // it completes the summary
	s.ended, s.failure = true, e
	s.message.events.out = anthropic.AppendStreamError(s.message.events.out, e, s.call.RequestID)
}
