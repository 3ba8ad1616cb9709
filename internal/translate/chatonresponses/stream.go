package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Stream translates the events of a response to the chunks of a chat completion.
//
// It begins with the role at the first output item, so that a response which fails before can still
// be answered by a status. It ends with [DONE] only after response.completed or
// response.incomplete. Every other end is a failure in the family's form.
type Stream struct {
	call      openai.Call
	responses *openai.ResponsesStream
	reader    reader
	chunks    chunkWriter
	until     *stopWriter
	failure   *apierror.Error
	ended     bool // the client got the end
}

var _ openai.Stream = (*Stream)(nil)

// NewStream returns the stream of one client. It owns the family's own stream, which sends the
// chunks.
func NewStream(original *Original, call openai.Call, family openai.DeltaStream) *Stream {
	s := &Stream{call: original.call(call), chunks: chunkWriter{family: original.functions.Stream(family)}}
	s.responses = openai.NewResponsesStream(s.call)
	s.until = original.until(&s.chunks)
	s.reader = reader{call: &s.call, original: original, to: s.until}
	return s
}

// Data implements [openai.Stream].
func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.ended || s.until.found != "" {
		return dst
	}
	s.chunks.out = dst
	repaired, found, _ := s.responses.Read(e)
	bad := s.responses.Summary().Err
	if bad == nil && found {
		bad = s.read(&repaired, e.Name)
	}
	if bad == nil && s.until.found != "" && !s.responses.Done() {
		s.stop()
	}
	if bad != nil {
		s.fail(bad)
	} else if bad := s.chunks.family.Summary().Err; bad != nil { // the client got it
		s.ended, s.failure = true, bad
	}
	s.chunks.trim()
	s.reader.trim()
	return s.take()
}

// read takes an event that responses repaired.
func (s *Stream) read(repaired *openai.ResponsesEvent, name []byte) *apierror.Error {
	if repaired.Repeats {
		return s.reader.readRepeated(repaired.Delta)
	}
	bad := s.readWhole(repaired, name)
	if !s.reader.canRepeat() {
		s.responses.ReadNextWhole()
	}
	return bad
}

func (s *Stream) readWhole(repaired *openai.ResponsesEvent, name []byte) *apierror.Error {
	s.reader.repeat = repeat{}
	var e event
	e.parse(repaired)
	if typ, ok := translate.Unquoted(e.typ); ok {
		name = typ
	}
	if e.response == nil {
		return s.reader.event(name, &e)
	}
	s.setHead(repaired)
	if !s.responses.Done() {
		return nil
	}
	if string(name) == "response.failed" { // without an error in the response
		return translate.ProviderFailure(&s.call, "failed while it answered")
	}
	end, bad := s.reader.end(repaired.Response, repaired.ResponseMembers, name)
	if bad != nil {
		return bad
	}
	s.until.end(&end)
	end.setUsage(s.responses.Summary())
	s.chunks.finish(end)
	return nil
}

// stop ends an answer whose provider still writes: its usage is not reported.
func (s *Stream) stop() {
	var e ending
	s.until.end(&e)
	if s.call.Estimate != nil {
		e.usage, e.hasUsage = s.call.Estimate(), true
	}
	s.chunks.finish(e)
}

// setHead takes id and time of the response.
func (s *Stream) setHead(e *openai.ResponsesEvent) {
	var id, created []byte
	if _, ok := translate.Unquoted(e.ID); ok && len(e.ID) <= maxItemID {
		id = e.ID
	}
	if i, ok := jsonscan.Find(e.Response, e.ResponseMembers, "created_at"); ok && e.ResponseMembers[i].Kind == '0' {
		created = e.ResponseMembers[i].Value(e.Response)
	}
	s.chunks.setHead(id, created)
}

// take returns what was written since the caller gave its buffer.
func (s *Stream) take() []byte {
	out := s.chunks.out
	s.chunks.out = nil
	return out
}

// Done implements [openai.Stream].
func (s *Stream) Done() bool { return s.ended || s.until.found != "" || s.responses.Done() }

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
	case !s.Done():
		return dst, openai.ErrCut
	}
	out, err := s.chunks.family.Close(dst, nil)
	s.ended = err == nil
	return out, err
}

// Summary implements [openai.Stream]. Id, finish reason and usage are those of the provider's
// response.
func (s *Stream) Summary() openai.Summary {
	sum, provider := s.chunks.family.Summary(), s.responses.Summary()
	sum.UpstreamID, sum.NativeFinish = provider.UpstreamID, provider.NativeFinish
	sum.Usage, sum.HasUsage, sum.Later = provider.Usage, provider.HasUsage, provider.Later
	return sum
}

// fail ends the stream.
func (s *Stream) fail(e *apierror.Error) {
	s.ended, s.failure = true, e
	s.chunks.out, _ = s.chunks.family.Close(s.chunks.out, e)
}
