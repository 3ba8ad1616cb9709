package tochat

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Stream turns the chunks of a chat completion into the events of a response.
//
// It begins with response.created at the first chunk that has a choice, and
// ends by exactly one of response.completed, response.incomplete, and
// response.failed with an error event behind it. Whether the provider's answer
// is whole is judged as for chat callers: every choice that began has its
// finish reason, or the provider said [DONE].
type Stream struct {
	call    openai.Call
	chat    *openai.ChatStream
	reader  reader
	chunk   []byte // the chunk in work, as chat repaired it
	failure *apierror.Error
	ended   bool // the client was told the end
}

var _ openai.Stream = (*Stream)(nil)

// NewStream returns the stream of one client; call.IncludeUsage has no meaning
// here.
func NewStream(original *Original, call openai.Call, ids IDs) *Stream {
	call.IncludeUsage = false
	s := &Stream{call: call, chat: openai.NewChatStream(call)}
	s.reader = newReader(newAnswer(&s.call, original, ids))
	s.reader.streamed = true
	return s
}

// Data implements [openai.Stream].
func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.ended {
		return dst
	}
	s.chunk = s.chat.Data(s.chunk[:0], e)
	s.reader.out = dst
	if bad := s.chat.Summary().Err; bad != nil {
		s.fail(bad)
	} else if chunk, ok := bytes.CutPrefix(s.chunk, []byte("data: ")); ok {
		if bad := s.reader.read(bytes.TrimRight(chunk, "\n")); bad != nil {
			s.fail(bad)
		}
	}
	if cap(s.chunk) > translate.MaxScratch {
		s.chunk = nil
	}
	s.reader.trim()
	return s.take()
}

// take returns the events told since the caller gave its buffer.
func (s *Stream) take() []byte {
	out := s.reader.out
	s.reader.out = nil
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
		s.reader.out = dst
		s.fail(failure)
		return s.take(), failure
	}
	var err error
	// What chat callers lack of the end is of no use here.
	if s.chunk, err = s.chat.Close(s.chunk[:0], nil); err != nil {
		return dst, err
	}
	s.reader.out = dst
	sum := s.chat.Summary()
	e := ending{reason: incompleteReason(sum.Finish), summary: sum, at: s.reader.ids.Unix()}
	s.reader.end(e.reason)
	s.reader.terminal(e)
	s.ended = true
	return s.take(), nil
}

// Summary implements [openai.Stream].
func (s *Stream) Summary() openai.Summary { return s.chat.Summary() }

// fail ends the stream.
func (s *Stream) fail(e *apierror.Error) {
	_, _ = s.chat.Close(nil, e) // for its summary
	s.ended, s.failure = true, e
	r := &s.reader
	r.abandon()
	r.start()
	r.terminal(ending{failure: e, summary: s.chat.Summary()})
	r.out = openai.AppendResponsesError(r.out, r.sequence, e)
}

// start tells of the response, once, before anything else: SDKs refuse a
// stream that begins otherwise, and so would not see its failure.
func (a *answer) start() {
	if !a.streamed || a.sequence > 0 {
		return
	}
	if a.created == 0 {
		a.created = a.ids.Unix()
	}
	for _, typ := range []string{"response.created", "response.in_progress"} {
		a.begin(typ)
		a.out = append(a.out, `,"response":`...)
		a.out = a.appendResponse(a.out, ending{})
		a.done()
	}
}

func (a *answer) terminal(e ending) {
	a.begin("response." + e.status())
	a.out = append(a.out, `,"response":`...)
	a.out = a.appendResponse(a.out, e)
	a.done()
}
