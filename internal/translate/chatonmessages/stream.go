package chatonmessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// Stream translates the events of a message to the chunks of a chat completion.
//
// It begins with the role at the first content, so that a message which fails before can still be
// answered by a status. It ends with [DONE] only after message_stop. Every other end is a failure
// in the family's form.
type Stream struct {
	call   openai.Call
	reader reader
	client completion.Stream
	sum    openai.Summary // of the provider's message
	before int            // shape of the event before, 0 if none may repeat it
}

var _ openai.Stream = (*Stream)(nil)

// NewStream returns the stream of one client. It owns the family's own stream, which sends the
// chunks.
func NewStream(original *Original, call openai.Call, family openai.DeltaStream) *Stream {
	return NewStreamTo(original, call, completion.NewTarget(original.functions, family))
}

// NewStreamTo returns the stream of one client of any API. It owns the client's own stream.
func NewStreamTo(original *Original, call openai.Call, to completion.Target) *Stream {
	s := &Stream{call: call, client: completion.Stream{To: to}}
	content := to.Content()
	s.reader = reader{call: &s.call, original: original, to: content, thoughts: completion.NewThoughts(content, jsonscan.AppendString(nil, original.origin), false)}
	return s
}

func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	if s.client.Ended() || s.reader.done || len(e.Data) == 0 || e.Done() {
		return dst
	}
	s.client.Resume(dst)
	if s.before != 0 && e.Repeats() && e.Shape() == s.before {
		s.sum.Later++
		s.reader.repeat(e.Value(openai.VarText))
		return s.client.Pause(nil)
	}
	return s.client.Pause(s.read(e))
}

// read takes an event that repeats none.
func (s *Stream) read(e *openai.Event) *apierror.Error {
	s.before, s.reader.repeated = 0, nil
	members, err := e.Members()
	if err != nil {
		return translate.ProviderFailure(&s.call, "answered what is not JSON").WithCause(err)
	}
	o := openai.WalkedObject(e.Data, members)
	index := o.Index("index", -1)
	typ := eventType(e.Name, o)
	if string(typ) == "error" {
		s.takeUsage(o.Get("usage"))
		return s.call.Fault(openai.ParseProviderError(e.Data))
	}
	s.sum.Later++
	switch string(typ) {
	case "message_start":
		s.startMessage(openai.OpenInside(e, o.Get("message")))
	case "content_block_start":
		return s.reader.start(index, openai.OpenInside(e, o.Get("content_block")))
	case "content_block_delta":
		return s.delta(e, o, index)
	case "content_block_stop":
		if b := s.reader.open(index); b != nil {
			s.reader.stop(b, false)
		}
	case "message_delta":
		if s.reader.takeStop(openai.OpenInside(e, o.Get("delta"))); s.reader.reason != nil {
			s.sum.Finished = 1
		}
		s.takeUsage(o.Get("usage"))
	case "message_stop":
		return s.stop()
	}
	return nil // ping, and what is not known
}

// delta takes a piece of a block, which the next events may repeat with another text.
func (s *Stream) delta(e *openai.Event, o openai.Object, index int64) *apierror.Error {
	start, end := o.Span("delta")
	p := readDelta(e, start, end)
	if bad := s.reader.delta(index, &p); bad != nil {
		return bad
	}
	if s.reader.repeated != nil && e.Learn([openai.Variables]openai.Variable{openai.VarText: p.variable}) {
		s.before = e.Shape()
	}
	return nil
}

// startMessage takes the message that an answer begins with. Its content is empty.
func (s *Stream) startMessage(message openai.Object) {
	value := message.Get("id")
	if id, ok := jsonscan.String(value); ok && id != "" && s.sum.UpstreamID == "" && len(value) <= maxID {
		s.sum.UpstreamID = id
		s.client.To.SetHead(value, nil)
	}
	s.takeUsage(message.Get("usage"))
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
	s.client.To.Finish(completion.Ending{Finish: finish, Usage: s.sum.Usage, HasUsage: s.sum.HasUsage})
	s.reader.done = true
	return nil
}

func (s *Stream) Done() bool { return s.client.Ended() || s.reader.done }

func (s *Stream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	return s.client.Close(dst, failure, s.reader.done)
}

// Summary implements [openai.Stream]. Id, native finish reason and usage are those of the
// provider's message.
func (s *Stream) Summary() openai.Summary {
	sum := s.client.To.Summary()
	sum.UpstreamID, sum.Finished = s.sum.UpstreamID, s.sum.Finished
	sum.Usage, sum.HasUsage, sum.Later = s.sum.Usage, s.sum.HasUsage, s.sum.Later
	if s.sum.NativeFinish != "" {
		sum.NativeFinish = s.sum.NativeFinish
	}
	return sum
}

// Kept returns how many bytes of the answer the client's own stream keeps.
func (s *Stream) Kept() int { return s.client.To.Kept() }
