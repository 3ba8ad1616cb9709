package realtime

import (
	"bytes"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// partOf names the member of a client's event that is judged, "" for an event without one. Events
// that are not here are refused: see the client events of openai-python's types/realtime.
var partOf = map[string]string{
	"session.update":             "session",
	"response.create":            "response",
	"conversation.item.create":   "item",
	"response.cancel":            "",
	"input_audio_buffer.append":  "",
	"input_audio_buffer.commit":  "",
	"input_audio_buffer.clear":   "",
	"output_audio_buffer.clear":  "",
	"conversation.item.retrieve": "",
	"conversation.item.truncate": "",
	"conversation.item.delete":   "",
}

// maxName bounds a text of the client in an error, in bytes.
const maxName = 64

// begin sends what the gateway itself asks of the session.
func (s *Session) begin() error {
	preset := s.o.Preset
	if preset == nil {
		s.mu.Lock()
		most := s.held.Output()
		s.mu.Unlock()
		if most == 0 {
			return nil
		}
		preset = append(openai.AppendInt([]byte(`{"type":"realtime"`), "max_output_tokens", most), '}')
	}
	return s.take(append(openai.AppendValue([]byte(`{"type":"session.update"`), "session", preset), '}'))
}

// take passes on an event of the client. The error ends the session.
func (s *Session) take(event []byte) error {
	if isSound(event) {
		return s.o.Upstream.Send(event)
	}
	var body jsonscan.Body
	defer body.Release()
	if err := request.InvalidJSON(body.Parse(event)); err != nil {
		return s.refuse(err, "")
	}
	id := text(event, "event_id")
	name := text(event, "type")
	part, known := partOf[name]
	if !known {
		return s.refuse(apierror.New(apierror.InvalidValue, "events of type %q are not known here", name[:min(len(name), maxName)]).WithParam("type"), id)
	}
	if part == "" {
		return s.o.Upstream.Send(event)
	}
	edited, warning, err := s.edited(&body, name, part)
	if err == nil && name == "response.create" {
		if id == "" { // an error of the provider says which event it is about
			id = newID()
			edited = edit(edited, []string{"event_id"}, func([]byte) []byte { return nil })
			edited = append(openai.AppendText(bytes.Clone(edited[:len(edited)-1]), "event_id", id), '}')
		}
		err = s.ask(id)
	}
	if err != nil {
		return s.refuse(err, id)
	}
	if err := s.o.Upstream.Send(edited); err != nil {
		return err
	}
	if warning != nil {
		return s.refuse(warning, id)
	}
	return nil
}

// edited returns an event as the provider gets it. A warning says what was left out.
func (s *Session) edited(b *jsonscan.Body, name, part string) (event []byte, warning, err error) {
	i, ok := b.Find(part)
	if !ok || b.Members()[i].Kind == 'n' {
		if name == "response.create" {
			return bytes.Clone(b.Data()), nil, nil
		}
		return nil, nil, apierror.New(apierror.MissingParameter, "missing required parameter: %q", part).WithParam(part)
	}
	value := b.Value(i)
	if value[0] != '{' {
		return nil, nil, apierror.New(apierror.InvalidValue, "%q must be an object", part).WithParam(part)
	}
	if part == "item" {
		value, err = s.item(value)
	} else {
		value, warning = s.transcripts(value)
		value, err = s.part(value, part)
	}
	if err != nil {
		return nil, nil, err
	}
	b.Set(i, value)
	return b.Append(nil), warning, nil
}

// part has a session or a response judged. The model of a session is that of its handshake.
func (s *Session) part(object []byte, name string) ([]byte, error) {
	model, some := get(object, "model"), false
	if model != nil && !jsonscan.IsNull(model) {
		some = true
		if is, _ := jsonscan.String(model); is != s.o.Asked && is != s.o.Model {
			return nil, apierror.New(apierror.InvalidValue, "the model of a session is the one of its handshake, %q: open another session for another model",
				s.o.Asked).WithParam(name + ".model")
		}
	}
	edited, err := s.o.judged(edit(object, []string{"model"}, func([]byte) []byte { return nil }))
	if err == nil && !some {
		edited = edit(edited, []string{"model"}, func([]byte) []byte { return nil })
	}
	return edited, err
}

// judged has an object without a model judged.
func (o *Options) judged(object []byte) ([]byte, error) {
	body := openai.AppendText([]byte{'{'}, "model", o.Asked)
	if rest := bytes.TrimSpace(object[1:]); rest[0] != '}' {
		body = append(body, ',')
	}
	return o.Calls.Part(append(body, object[1:]...))
}

// item has an item of the conversation judged, as the input of a response.
func (s *Session) item(object []byte) ([]byte, error) {
	edited, err := s.o.judged(append(append([]byte(`{"input":[`), object...), `]}`...))
	if err != nil {
		return nil, err
	}
	input := get(edited, "input")
	return bytes.TrimSpace(input[1 : len(input)-1]), nil
}

// pathHeard is where a session names the model that writes transcripts.
var pathHeard = []string{"audio", "input", "transcription"}

// transcripts holds a transcript by the model that a session names for what is said. Agents' SDKs
// name one by themselves, in the event with their instructions: one that the key may not use is left
// out, with a warning.
func (s *Session) transcripts(session []byte) (edited []byte, warning error) {
	heard := get(session, pathHeard...)
	if heard == nil {
		return session, nil
	}
	asked := text(heard, "model")
	name := strings.TrimPrefix(asked, s.o.Provider+"/")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard != nil && (jsonscan.IsNull(heard) || s.hears[1] != name) {
		s.heard.Finish(nil)
		s.heard = nil
	}
	if heard[0] != '{' || asked == "" {
		return session, nil
	}
	if s.heard == nil {
		held, err := s.o.Calls.HoldHeard(s.o.Provider + "/" + name)
		if err != nil {
			e := *apierror.From(err)
			e.Message = "what is said is not transcribed: " + e.Message
			e.Param = "session.audio.input.transcription.model"
			return edit(session, pathHeard, func([]byte) []byte { return nil }), &e
		}
		s.heard, s.hears = held, [2]string{asked, name}
	}
	return edit(session, append(pathHeard[:3:3], "model"), func([]byte) []byte { return jsonscan.AppendString(nil, name) }), nil
}

// refuse tells the client that an event of it was not passed on. The session goes on, unless there
// are too many of them.
func (s *Session) refuse(err error, eventID string) error {
	e := apierror.From(err)
	if err := s.conn.Send(errorEvent(e, eventID)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.refused.Take(s.o.Now(), maxRefused) {
		return &endRefused
	}
	return nil
}
