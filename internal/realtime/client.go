package realtime

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/socket"
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

// client passes on what the client says.
type client struct {
	s        *Session
	messages socket.Messages
	up       int64 // bytes
	refused  socket.Window
}

// begin sends what the gateway itself asks of the session.
func (c *client) begin() error {
	preset := c.s.o.Preset
	if preset == nil {
		most := c.s.o.Held.Output()
		if most == 0 {
			return nil
		}
		preset = append(openai.AppendInt([]byte(`{"type":"realtime"`), "max_output_tokens", most), '}')
	}
	return c.take(append(openai.AppendValue([]byte(`{"type":"session.update"`), "session", preset), '}'))
}

// next reads one event and passes it on.
func (c *client) next() error {
	u, data, err := c.messages.Next()
	switch {
	case socket.IsBusy(err):
		return c.refuse(err, "")
	case err != nil:
		return err
	}
	defer u.Close()
	c.up += int64(len(data))
	return c.take(data)
}

// take passes on an event of the client. The error ends the session.
func (c *client) take(event []byte) error {
	if isSound(event) {
		c.s.answers.heard.sound.Add(int64(len(event)))
		return c.s.o.Upstream.Send(event)
	}
	var body jsonscan.Body
	defer body.Release()
	if err := request.InvalidJSON(body.Parse(event)); err != nil {
		return c.refuse(err, "")
	}
	id := text(event, "event_id")
	name := text(event, "type")
	part, known := partOf[name]
	if !known {
		return c.refuse(apierror.New(apierror.InvalidValue, "events of type %q are not known here", name[:min(len(name), maxName)]).WithParam("type"), id)
	}
	if part == "" {
		switch name {
		case "input_audio_buffer.append":
			c.s.answers.heard.sound.Add(int64(len(event)))
		case "input_audio_buffer.commit":
			c.s.answers.commit(1)
		}
		return c.s.o.Upstream.Send(event)
	}
	edited, warning, err := c.edited(&body, name, part)
	if err == nil && name == "response.create" {
		if id == "" { // an error of the provider says which event it is about
			id = newID()
			edited = edit(edited, []string{"event_id"}, drop)
			edited = append(openai.AppendText(bytes.Clone(edited[:len(edited)-1]), "event_id", id), '}')
		}
		err = c.s.answers.ask(id)
	}
	if err != nil {
		if err := c.refuse(err, id); err != nil {
			return err
		}
		return c.s.answers.ending()
	}
	if err := c.s.o.Upstream.Send(edited); err != nil {
		return err
	}
	if warning != nil {
		return c.refuse(warning, id)
	}
	return nil
}

// edited returns an event as the provider gets it. A warning says what was left out.
func (c *client) edited(b *jsonscan.Body, name, part string) (event []byte, warning, err error) {
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
		value, err = c.s.item(value)
	} else {
		value, err = c.part(value, part)
	}
	if err != nil {
		return nil, nil, err
	}
	if part == "session" { // when nothing else can refuse it
		value, warning = c.transcripts(value)
	}
	b.Set(i, value)
	return b.Append(nil), warning, nil
}

// part has a session or a response judged. The model of a session is that of its handshake.
func (c *client) part(object []byte, name string) ([]byte, error) {
	model, some := get(object, "model"), false
	if model != nil && !jsonscan.IsNull(model) {
		some = true
		if is, _ := jsonscan.String(model); is != c.s.asked && is != c.s.model {
			return nil, apierror.New(apierror.InvalidValue, "the model of a session is the one of its handshake, %q: open another session for another model",
				c.s.asked).WithParam(name + ".model")
		}
	}
	edited, err := c.s.judged(edit(object, []string{"model"}, drop))
	if err == nil && !some {
		edited = edit(edited, []string{"model"}, drop)
	}
	return edited, err
}

// pathHeard is where a session names the model that writes transcripts.
var pathHeard = []string{"audio", "input", "transcription"}

// transcripts has what is said transcribed by the model that a session names for it. Agents' SDKs
// name one by themselves, in the event with their instructions: one that the key may not use is
// left out, with a warning.
func (c *client) transcripts(session []byte) (edited []byte, warning error) {
	heard := get(session, pathHeard...)
	asked := text(heard, "model")
	if heard == nil || jsonscan.IsNull(heard) {
		return session, nil
	}
	name, err := c.s.answers.transcribe(asked)
	if err != nil {
		e := *apierror.From(err)
		e.Message, e.Param = "what is said is not transcribed: "+e.Message, "session.audio.input.transcription.model"
		return edit(session, pathHeard, drop), &e
	}
	if asked == "" {
		return session, nil
	}
	return edit(session, append(pathHeard[:3:3], "model"), to(name)), nil
}

// refuse tells the client that an event of it was not passed on. The session goes on, unless there
// are too many of them.
func (c *client) refuse(err error, eventID string) error {
	e := apierror.From(err)
	if err := c.s.conn.Send(errorEvent(e, eventID)); err != nil {
		return err
	}
	if !c.refused.Take(c.s.o.Uploads.Now(), maxRefused) {
		return &endRefused
	}
	return nil
}
