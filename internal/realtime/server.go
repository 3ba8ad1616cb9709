package realtime

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// server passes on what the provider says.
type server struct{ s *Session }

// The types of events that the gateway acts on.
const (
	responseDone = "response.done"
	committed    = "input_audio_buffer.committed"
	heardPrefix  = "conversation.item.input_audio_transcription."
)

// serverEvents are what it does. All other events pass as they are judged.
var serverEvents = map[string]func(server, []byte) ([]byte, error){
	"session.created":         server.session,
	"session.updated":         server.updated,
	"response.created":        server.created,
	responseDone:              server.done,
	"error":                   server.fault,
	committed:                 server.committed,
	heardPrefix + "completed": server.transcript,
	heardPrefix + "failed":    server.transcript,
	// The rates of the operator's account.
	"rate_limits.updated": func(server, []byte) ([]byte, error) { return nil, nil },
}

// pass passes on an event of the provider. The error ends the session.
func (v server) pass(event []byte) error {
	if _, err := jsonscan.Lenient(event, nil); err != nil {
		return &endNonsense
	}
	frames, refusal, err := v.judged(text(event, "type"), event)
	for i, frame := range frames {
		act := serverEvents[text(frame, "type")]
		if act == nil {
			continue
		}
		var ending error
		if frames[i], ending = act(v, frame); ending != nil {
			err = ending
		}
	}
	if refusal != nil {
		frames = append(frames, errorEvent(refusal, ""))
	}
	v.s.send(frames...)
	return err
}

// judged returns what the client gets for an event after guardrails, and why one has refused it.
// The error ends the session.
func (v server) judged(name string, event []byte) (frames [][]byte, refusal *apierror.Error, err error) {
	as, live, id := &v.s.answers, v.s.o.Live, ""
	var a *answer
	switch {
	case strings.HasPrefix(name, heardPrefix) && !strings.HasSuffix(name, "ed"): // a piece
		if live.Guarded() { // the whole is judged
			return nil, nil, nil
		}
		live = nil
	case strings.HasPrefix(name, "conversation.item.") && byModel(get(event, "item")):
	case strings.HasPrefix(name, "response."):
		if id = text(event, "response_id"); id == "" {
			id = text(event, "response", "id")
		}
		if a = as.find(id); a != nil {
			live = a.Live
			v.note(a, name, event)
		}
	default:
		live = nil
	}
	switch silent := a != nil && a.silent; {
	case silent && name != responseDone:
		return nil, nil, nil
	case live == nil, silent:
		return [][]byte{event}, nil, nil
	}
	frames, refusal, err = live.Judged(name, event)
	switch {
	case err != nil:
		return nil, nil, &endNonsense
	case refusal == nil || a == nil:
		return frames, refusal, nil
	}
	as.deny(a, refusal)
	if name == responseDone { // it is charged, and the client knows that it has ended
		return append(frames, event), refusal, nil
	}
	return frames, refusal, v.s.o.Upstream.Send(cancelOf(id))
}

// byModel reports whether an item is the model's. Calls of tools have no role, nor have the
// client's answers to them.
func byModel(item []byte) bool {
	switch text(item, "role") {
	case "user", "system":
		return false
	case "":
		kind := text(item, "type")
		return item != nil && kind != "function_call_output" && kind != "mcp_approval_response"
	}
	return true
}

// soundOfToken is how many letters of base64 a token of sound has, in the usual format (PCM of 16
// bits at 24 kHz): 50 ms.
const (
	soundOfToken = 3200
	soundMillis  = 50
)

// note counts a piece of an answer.
func (v server) note(a *answer, name string, event []byte) {
	if !strings.HasSuffix(name, ".delta") {
		return
	}
	size := len(get(event, "delta"))
	if strings.HasSuffix(name, "audio.delta") {
		size = 3 * (size/soundOfToken + 1) // as many bytes as text of as many tokens
	}
	v.s.answers.piece(a, size)
}

// session names the models of a session as the client does, and leaves out the provider's secret.
func (v server) session(event []byte) ([]byte, error) {
	event = edit(event, []string{"session", "model"}, to(v.s.asked))
	event = edit(event, []string{"session", "client_secret"}, drop)
	return event, nil
}

// updated is session, for a session whose transcripts may have another model now.
func (v server) updated(event []byte) ([]byte, error) {
	input := get(event, "session", "audio", "input")
	if input == nil {
		return v.session(event)
	}
	path := append([]string{"session"}, append(pathHeard[:3:3], "model")...)
	heard := get(input, "transcription")
	asked, end := v.s.answers.hears(text(heard, "model"), heard != nil && !jsonscan.IsNull(heard))
	if end != nil {
		return nil, end
	}
	return v.session(edit(event, path, to(asked)))
}

// committed notes that something was said.
func (v server) committed(event []byte) ([]byte, error) {
	if end := v.s.answers.committed(text(event, "item_id")); end != nil {
		return event, end
	}
	return event, nil
}

// created matches an answer that begins with the one that is held. One that may not be made is
// cancelled.
func (v server) created(event []byte) ([]byte, error) {
	id := text(event, "response", "id")
	a := v.s.answers.created(id)
	switch {
	case a == nil:
		return nil, v.s.o.Upstream.Send(cancelOf(id))
	case a.failure != nil: // a rate, or it answers what may not be said
		v.s.send(errorEvent(a.failure, ""))
		return event, v.s.o.Upstream.Send(cancelOf(id))
	case v.s.answers.hasLeft(): // when it was asked for
		return nil, v.s.o.Upstream.Send(cancelOf(id))
	}
	return event, nil
}

// finishes are the finish reasons of rows for the states of answers.
var finishes = map[string]string{"completed": "stop", "incomplete": "length", "cancelled": "cancelled", "failed": "error"}

// done charges an answer. The client of one that was refused does not get what it says.
func (v server) done(event []byte) ([]byte, error) {
	response := get(event, "response")
	id, status := text(response, "id"), text(response, "status")
	sum := openai.Summary{UpstreamID: id, Finish: finishes[status], NativeFinish: status, Text: true}
	if reason := text(response, "status_details", "reason"); reason != "" {
		sum.NativeFinish = reason
	}
	sum.Usage, sum.HasUsage = openai.ParseUsage(get(response, "usage"))
	var failure *apierror.Error
	if status == "failed" {
		failure = v.failure(get(response, "status_details"))
		event = edit(event, []string{"response", "status_details", "error"}, errorOf(failure))
	}
	if a := v.s.answers.find(id); a == nil || a.silent {
		event = edit(event, []string{"response", "output"}, func([]byte) []byte { return []byte("[]") })
	}
	if end := v.s.answers.done(id, sum, failure); end != nil {
		return event, end
	}
	return event, nil
}

// failure is what the client gets for the error in an object of the provider.
func (v server) failure(object []byte) *apierror.Error {
	call := openai.Call{Provider: v.s.provider, Redact: v.s.o.Live.Shown}
	return call.Fault(openai.ParseProviderError(object))
}

// fault passes on an error of the provider, which may be about an event of the client.
func (v server) fault(event []byte) ([]byte, error) {
	id := text(event, "error", "event_id")
	failure := v.failure(event)
	end := v.s.answers.rejected(id, failure)
	if text(event, "error", "code") == "input_audio_buffer_commit_empty" {
		v.s.answers.commit(-1)
	}
	switch {
	case strings.HasPrefix(id, ownEvent):
		return nil, nil
	case strings.HasPrefix(id, ownID):
		id = ""
	}
	if end != nil {
		return errorEvent(failure, id), end
	}
	return errorEvent(failure, id), nil
}

// transcript charges what was written of what was said, and has it judged as what the client says.
func (v server) transcript(event []byte) ([]byte, error) {
	sum := openai.Summary{UpstreamID: text(event, "item_id"), Text: true}
	sum.Usage, sum.HasUsage = openai.TranscriptUsage(get(event, "usage"))
	var failure *apierror.Error
	if get(event, "error") != nil {
		failure = v.failure(event)
		event = edit(event, []string{"error"}, errorOf(failure))
	}
	if end := v.s.answers.transcribed(sum.UpstreamID, sum, failure); end != nil {
		return event, end
	}
	said := get(event, "transcript")
	if !v.s.o.Live.Guarded() || said == nil {
		return event, nil
	}
	item := append([]byte(`{"type":"message","role":"user","content":[{"type":"input_text","text":`), said...)
	item, err := v.s.item(append(item, `}]}`...))
	if err != nil {
		v.s.send(errorEvent(apierror.From(err), ""))
		return nil, v.unsay(sum.UpstreamID, apierror.From(err))
	}
	return edit(event, []string{"transcript"}, func([]byte) []byte { return get(element(get(item, "content")), "text") }), nil
}

// unsay takes what may not be said out of the conversation, and cancels what answers it.
func (v server) unsay(item string, refusal *apierror.Error) error {
	events := [][]byte{own("input_audio_buffer.clear", "", ""), own("conversation.item.delete", "item_id", item)}
	for _, id := range v.s.answers.unsay(refusal) {
		events = append(events, cancelOf(id))
	}
	for _, event := range events {
		if err := v.s.o.Upstream.Send(event); err != nil {
			return err
		}
	}
	return nil
}
