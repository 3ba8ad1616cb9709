package anthropic

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Stream is the [openai.Stream] of the Messages API. Events pass as they came, each with its `event:`
// line, by which SDKs tell them apart; message_start names the model as asked. It ends by
// message_stop, or by an error event: SDKs take a stream that is cut for a whole one.
type Stream struct {
	message
	before int    // shape of the event before, 0 if none may repeat it
	name   []byte // of that event
	began  bool   // message_start was sent
	done   bool   // message_stop or an error was sent
}

// NewStream returns the stream of one client. IncludeUsage has no meaning here.
func NewStream(call openai.Call) *Stream { return &Stream{message: newMessage(call)} }

// Data implements [openai.Stream].
func (s *Stream) Data(dst []byte, e *openai.Event) []byte {
	switch {
	case s.done || len(e.Data) == 0 || e.Done():
		return dst
	case s.before != 0 && e.Repeats() && e.Shape() == s.before:
		s.sum.Later++
		return appendEvent(dst, s.name, e)
	}
	s.before = 0
	found, bad := s.read(e)
	switch {
	case bad != nil:
		return s.fail(dst, bad)
	case found.skip:
		return dst
	case found.repair != nil:
		dst = found.repair(appendHead(dst, found.typ), e.AppendTo(nil))
		return append(dst, "\n\n"...)
	}
	if found.text.End > 0 && s.sum.Text {
		var vars [openai.Variables]openai.Variable
		vars[openai.VarText] = found.text
		if e.Learn(vars) {
			s.before, s.name = e.Shape(), append(s.name[:0], found.typ...)
		}
	}
	return appendEvent(dst, found.typ, e)
}

// event is what matters of an event.
type event struct {
	typ    []byte
	skip   bool                                 // no client gets it
	text   openai.Variable                      // of a delta; its End is 0 for none
	repair func(dst []byte, data []byte) []byte // appends the data as the client needs it; nil = as they are
}

// read finds what matters in an event and learns from it.
func (s *Stream) read(e *openai.Event) (found event, bad *apierror.Error) {
	members, err := e.Members()
	if err != nil {
		return found, s.call.Broken("answered what is not JSON").WithCause(err)
	}
	found.typ = e.Name
	o := openai.WalkedObject(e.Data, members)
	if value := o.Kind('"', "type", ""); value != nil {
		found.typ = value[1 : len(value)-1] // as it is written: a line of its own must not break
	}
	if string(e.Name) == eventError {
		return found, s.fault(e.Data)
	}
	switch typ := string(found.typ); typ {
	case eventPing:
		return found, nil
	case eventError:
		return found, s.fault(e.Data)
	case eventMessageStart:
		if s.began || o.Kind('{', "message", "") == nil {
			return found, s.call.Broken("began its message twice, or with none")
		}
		s.began, found.repair = true, s.start
		return found, nil
	case eventBlockStart, eventBlockDelta, eventBlockStop, eventMessageDelta, eventMessageStop:
		if !s.began {
			return found, s.call.Broken("sent a part of a message that had not begun")
		}
	default:
		found.skip = !s.began || typ == ""
	}
	s.sum.Later++
	switch string(found.typ) {
	case eventBlockStart:
		if block := o.Kind('{', "content_block", ""); block != nil {
			s.block(block)
		}
	case eventBlockDelta:
		if delta := o.Kind('{', "delta", ""); delta != nil {
			start, _ := o.Span("delta")
			s.delta(&found, delta, start)
		}
	case eventMessageDelta:
		s.end(o.Get("delta"))
		if usage := o.Kind('{', "usage", ""); usage != nil {
			s.readUsage(usage)
		} else {
			found.repair = s.addUsage
		}
	case eventMessageStop:
		s.done = true
	}
	return found, nil
}

// delta finds the text in a delta that begins at start, which is what differs in the next event.
func (s *Stream) delta(found *event, object []byte, start int) {
	for m := range jsonscan.AllMembers(object) {
		switch string(m.Key(object)) {
		case "text", "partial_json", "thinking":
			if m.Kind == '"' {
				found.text = openai.Variable{Start: start + m.ValueStart, End: start + m.ValueEnd}
			}
		case "signature":
			s.call.ReportSealed(m.Value(object))
		}
	}
	s.sum.Text = s.sum.Text || found.text.End-found.text.Start != len(`""`)
}

// end reads the delta of message_delta.
func (s *Stream) end(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		switch string(m.DecodedKey(object)) {
		case "stop_reason":
			s.stop(m.Value(object))
		case "container":
			s.reportContainer(m.Value(object))
		}
	}
}

// start appends message_start with the model as asked.
func (s *Stream) start(dst, data []byte) []byte {
	members := jsonscan.Members(data, nil)
	i, _ := jsonscan.Find(data, members, "message")
	object := members[i].Value(data)
	inner := jsonscan.Members(object, nil)
	p := jsonscan.NewPatch(object, inner)
	s.edit(p, object, inner)
	dst = append(dst, data[:members[i].ValueStart]...)
	dst = p.Append(dst)
	return append(dst, data[members[i].ValueEnd:]...)
}

// addUsage appends message_delta with the usage so far: SDKs overwrite with it what they have.
func (s *Stream) addUsage(dst, data []byte) []byte {
	usage := openai.AppendInt([]byte{'{'}, "input_tokens", s.usage.input)
	usage = append(openai.AppendInt(usage, "output_tokens", s.usage.output), '}')
	members := jsonscan.Members(data, nil)
	p := jsonscan.NewPatch(data, members)
	if i, ok := jsonscan.Find(data, members, "usage"); ok {
		p.Set(i, usage)
	} else {
		p.Add("usage", usage)
	}
	return p.Append(dst)
}

// Done implements [openai.Stream].
func (s *Stream) Done() bool { return s.done }

// Close implements [openai.Stream].
func (s *Stream) Close(dst []byte, failure *apierror.Error) ([]byte, error) {
	return openai.CloseStream(dst, s.done, s.sum.Err, failure, s.fail)
}

// Summary implements [openai.Stream].
func (s *Stream) Summary() openai.Summary { return s.sum }

// fail ends the stream with an error event.
func (s *Stream) fail(dst []byte, e *apierror.Error) []byte {
	s.done, s.sum.Err, s.sum.Finish = true, e, "error"
	return AppendStreamError(dst, e, s.call.RequestID)
}

// appendEvent appends an event with its name.
func appendEvent(dst, name []byte, e *openai.Event) []byte {
	return append(e.AppendTo(appendHead(dst, name)), "\n\n"...)
}

func appendHead(dst, name []byte) []byte {
	dst = append(dst, "event: "...)
	dst = append(dst, name...)
	return append(dst, "\ndata: "...)
}
