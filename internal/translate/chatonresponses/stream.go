package chatonresponses

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
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
	client    completion.Stream
	until     *stopWriter
}

var _ openai.Stream = (*Stream)(nil)

// NewStream returns the stream of one client. It owns the family's own stream, which sends the
// chunks.
func NewStream(original *Original, call openai.Call, family openai.DeltaStream) *Stream {
	return NewStreamTo(original, call, completion.NewTarget(original.functions, family))
}

// NewStreamTo returns the stream of one client of any API. It owns the client's own stream.
func NewStreamTo(original *Original, call openai.Call, to completion.Target) *Stream {
	s := &Stream{call: original.call(call), client: completion.Stream{To: to}}
	s.responses = openai.NewResponsesStream(s.call)
	s.until = original.until(to.Content())
	s.reader = reader{call: &s.call, original: original, to: s.until}
	return s
}

func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.client.Ended() || s.until.found != "" {
		return dst
	}
	s.client.Resume(dst)
	repaired, found, _ := s.responses.Read(e)
	bad := s.responses.Summary().Err
	if bad == nil && found {
		s.reader.inside = e
		bad = s.read(&repaired, e.Name)
		s.reader.inside = nil
	}
	if bad == nil && s.until.found != "" && !s.responses.Done() {
		s.stop()
	}
	s.reader.trim()
	return s.client.Pause(bad)
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
	e := event{openai.WalkedObject(repaired.Data, repaired.Members), repaired.Delta}
	if typ, ok := translate.Unquoted(e.Get("type")); ok {
		name = typ
	}
	if e.Get("response") == nil {
		return s.reader.event(name, &e)
	}
	s.setHead(repaired)
	if !s.responses.Done() {
		return nil
	}
	if string(name) == "response.failed" { // without an error in the response
		return translate.ProviderFailure(&s.call, "failed while it answered")
	}
	end, bad := s.reader.end(openai.WalkedObject(repaired.Response, repaired.ResponseMembers), name)
	if bad != nil {
		return bad
	}
	s.until.end(&end)
	sum := s.responses.Summary()
	end.Usage, end.HasUsage = sum.Usage, sum.HasUsage
	s.client.To.Finish(end)
	return nil
}

// stop ends an answer whose provider still writes: its usage is not reported.
func (s *Stream) stop() {
	var e completion.Ending
	s.until.end(&e)
	if s.call.Estimate != nil {
		e.Usage, e.HasUsage = s.call.Estimate(), true
	}
	s.client.To.Finish(e)
}

// setHead takes id and time of the response, from the first event that has it.
func (s *Stream) setHead(e *openai.ResponsesEvent) {
	var id, created []byte
	if _, ok := translate.Unquoted(e.ID); ok && len(e.ID) <= maxItemID {
		id = e.ID
	}
	if i, ok := jsonscan.Find(e.Response, e.ResponseMembers, "created_at"); ok && e.ResponseMembers[i].Kind == '0' {
		created = e.ResponseMembers[i].Value(e.Response)
	}
	s.client.To.SetHead(id, created)
}

func (s *Stream) Done() bool { return s.client.Ended() || s.until.found != "" || s.responses.Done() }

func (s *Stream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	return s.client.Close(dst, failure, s.Done())
}

// Summary implements [openai.Stream]. Id, finish reason and usage are those of the provider's
// response.
func (s *Stream) Summary() openai.Summary {
	sum, provider := s.client.To.Summary(), s.responses.Summary()
	sum.UpstreamID, sum.NativeFinish = provider.UpstreamID, provider.NativeFinish
	sum.Usage, sum.HasUsage, sum.Later = provider.Usage, provider.HasUsage, provider.Later
	return sum
}
