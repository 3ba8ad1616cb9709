package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Stream translates the events of a message to the chunks of a chat completion.
//
// It begins with the role at the first content, so that a message which fails before can still be
// answered by a status. It ends with [DONE] only after message_stop. Every other end is a failure
// in the family's form.
type Stream struct {
	call    openai.Call
	reader  reader
	chunks  chunkWriter
	sum     openai.Summary // of the provider's message
	before  int            // shape of the event before, 0 if none may repeat it
	failure *apierror.Error
	done    bool // message_stop has come
	ended   bool // the client got the end
}

var _ openai.Stream = (*Stream)(nil)

// NewStream returns the stream of one client. It owns the family's own stream, which sends the
// chunks.
func NewStream(original *Original, call openai.Call, family openai.DeltaStream) *Stream {
	s := &Stream{call: call, chunks: chunkWriter{original: original, family: original.functions.Stream(family)}}
	s.reader = reader{call: &s.call, original: original, to: &s.chunks}
	return s
}

// Data implements [openai.Stream].
func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.ended || s.done || len(e.Data) == 0 || e.Done() {
		return dst
	}
	s.chunks.out = dst
	s.sum.Later++
	if s.before != 0 && e.Repeats() && e.Shape() == s.before {
		s.reader.repeat(e.Value(openai.VarText))
	} else if bad := s.read(e); bad != nil {
		s.fail(bad)
		return s.take()
	}
	if bad := s.chunks.family.Summary().Err; bad != nil { // the client got it
		s.ended, s.failure = true, bad
	}
	s.chunks.trim()
	return s.take()
}

// read takes an event that repeats none.
func (s *Stream) read(e *openai.Event) *apierror.Error {
	s.before, s.reader.repeated = 0, nil
	members, err := e.Members()
	if err != nil {
		return translate.ProviderFailure(&s.call, "answered what is not JSON").WithCause(err)
	}
	var o event
	o.parse(e, members)
	switch string(o.name) {
	case "error":
		return s.call.Fault(openai.ParseProviderError(e.Data))
	case "message_start":
		s.startMessage(o.message)
	case "content_block_start":
		return s.reader.start(o.index, o.block)
	case "content_block_delta":
		return s.delta(e, &o)
	case "content_block_stop":
		if b := s.reader.open(o.index); b != nil {
			s.reader.stop(b, false)
		}
	case "message_delta":
		if s.reader.takeStop(o.delta); s.reader.reason != nil {
			s.sum.Finished = 1
		}
		s.takeUsage(o.usage)
	case "message_stop":
		return s.stop()
	}
	return nil // ping, and what is not known
}

// delta takes a piece of a block, which the next events may repeat with another text.
func (s *Stream) delta(e *openai.Event, o *event) *apierror.Error {
	piece, text := readDelta(e, o.deltaStart, o.delta)
	if bad := s.reader.delta(o.index, &piece); bad != nil {
		return bad
	}
	if s.reader.repeated != nil && e.Learn([openai.Variables]openai.Variable{openai.VarText: text}) {
		s.before = e.Shape()
	}
	return nil
}

// startMessage takes the message that an answer begins with. Its content is empty.
func (s *Stream) startMessage(message []byte) {
	each(message, func(key, value []byte) {
		switch string(key) {
		case "id":
			s.chunks.setID(value)
			s.sum.UpstreamID, _ = jsonscan.String(s.chunks.id)
		case "usage":
			s.takeUsage(value)
		}
	})
}

func (s *Stream) takeUsage(object []byte) {
	s.reader.usage.Read(object)
	if u, ok := s.reader.usage.OpenAI(); ok && object != nil {
		s.sum.Usage, s.sum.HasUsage, s.sum.Later = u, true, 0
	}
}

// stop ends the message. The usage before it is that of the whole answer.
func (s *Stream) stop() *apierror.Error {
	s.sum.Later--
	finish, bad := s.reader.end()
	if bad != nil {
		return bad
	}
	s.sum.NativeFinish = s.reader.native(finish)
	s.chunks.finish(finish, &s.sum)
	s.done = true
	return nil
}

// take returns what was written since the caller gave its buffer.
func (s *Stream) take() []byte {
	out := s.chunks.out
	s.chunks.out = nil
	return out
}

// Done implements [openai.Stream].
func (s *Stream) Done() bool { return s.ended || s.done }

// Close implements [openai.Stream].
func (s *Stream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	switch {
	case s.ended && s.failure != nil:
		return dst, s.failure
	case s.ended:
		return dst, nil
	case failure != nil:
		s.chunks.out = dst
		s.fail(failure)
		return s.take(), failure
	case !s.done:
		return dst, openai.ErrCut
	}
	out, err := s.chunks.family.Close(dst, nil)
	s.ended = err == nil
	return out, err
}

// Summary implements [openai.Stream]. Id, native finish reason and usage are those of the
// provider's message.
func (s *Stream) Summary() openai.Summary {
	sum := s.chunks.family.Summary()
	sum.UpstreamID, sum.Finished = s.sum.UpstreamID, s.sum.Finished
	sum.Usage, sum.HasUsage, sum.Later = s.sum.Usage, s.sum.HasUsage, s.sum.Later
	if s.sum.NativeFinish != "" {
		sum.NativeFinish = s.sum.NativeFinish
	}
	return sum
}

// fail ends the stream.
func (s *Stream) fail(e *apierror.Error) {
	s.ended, s.failure = true, e
	s.chunks.out, _ = s.chunks.family.Close(s.chunks.out, e)
}

// Kept returns how many bytes of the answer the family's stream keeps.
func (s *Stream) Kept() int {
	if family, ok := s.chunks.family.(interface{ Kept() int }); ok {
		return family.Kept()
	}
	return 0
}
