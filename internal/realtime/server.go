package realtime

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// The events of the provider that the gateway acts on, by type. All others pass, judged: a text is
// never held back longer than a guardrail needs.
var serverEvents = map[string]func(*Session, []byte) ([]byte, error){
	"session.created":     (*Session).session,
	"session.updated":     (*Session).session,
	"response.created":    (*Session).begins,
	"response.done":       (*Session).ends,
	"error":               (*Session).fault,
	"rate_limits.updated": func(*Session, []byte) ([]byte, error) { return nil, nil }, // of the operator's account
	"conversation.item.input_audio_transcription.completed": (*Session).transcript,
	"conversation.item.input_audio_transcription.failed":    (*Session).transcript,
}

// pass passes on an event of the provider. The error ends the session.
func (s *Session) pass(event []byte) error {
	if _, err := jsonscan.Lenient(event, nil); err != nil {
		return &endNonsense
	}
	name := text(event, "type")
	frames, refusal, err := s.judged(name, event)
	for i, frame := range frames {
		act := serverEvents[text(frame, "type")]
		if act == nil {
			continue
		}
		var ending error
		if frames[i], ending = act(s, frame); ending != nil {
			err = ending
		}
	}
	if refusal != nil {
		frames = append(frames, errorEvent(refusal, ""))
	}
	s.send(frames)
	return err
}

// send sends events to the client, unless it has left.
func (s *Session) send(frames [][]byte) {
	kept := frames[:0]
	for _, frame := range frames {
		if frame != nil {
			s.down.Add(int64(len(frame)))
			kept = append(kept, frame)
		}
	}
	s.mu.Lock()
	left := s.left
	s.mu.Unlock()
	if len(kept) > 0 && !left {
		_ = s.conn.Send(kept...) // else the client has left: its reader knows
	}
}

// judged returns what the client gets for an event after guardrails, and why one has refused it. The
// error ends the session.
func (s *Session) judged(name string, event []byte) (frames [][]byte, refusal *apierror.Error, err error) {
	var judge *guardrail.Stream
	var a *answer
	id := ""
	switch {
	case strings.HasPrefix(name, "conversation.item.input_audio_transcription.") && !strings.HasSuffix(name, "d"): // a piece
		if s.o.Calls.Guarded() { // the whole is judged
			return nil, nil, nil
		}
	case strings.HasPrefix(name, "conversation.item.") && text(event, "item", "role") == "assistant":
		judge = s.o.Calls.Judge()
	case strings.HasPrefix(name, "response."):
		if id = text(event, "response_id"); id == "" {
			id = text(event, "response", "id")
		}
		if a = s.find(id); a != nil {
			judge = a.judge
			s.note(a, name, event)
		}
	}
	switch {
	case a != nil && a.silent && name != "response.done":
		return nil, nil, nil
	case judge == nil, a != nil && a.silent:
		return [][]byte{event}, nil, nil
	}
	passed, verdict, err := judge.Push(openai.NewEvent([]byte(name), event))
	for _, e := range passed {
		frames = append(frames, e.AppendTo(nil))
	}
	switch {
	case err != nil:
		return nil, nil, &endNonsense
	case verdict == nil:
		return frames, nil, nil
	case a == nil: // an item that repeats an answer
		return nil, s.o.Calls.Blocked(verdict), nil
	}
	s.mu.Lock()
	a.failure, a.silent = a.Blocked(verdict), true
	s.mu.Unlock()
	if name == "response.done" { // it is charged, and the client knows that it has ended
		return append(frames, event), a.failure, nil
	}
	return frames, a.failure, s.o.Upstream.Send(cancelOf(id))
}

// soundOfToken is how many letters of base64 a token of sound has, in the usual format (PCM of 16 bits
// at 24 kHz): 50 ms.
const soundOfToken = 3200

// note counts a piece of an answer.
func (s *Session) note(a *answer, name string, event []byte) {
	if !strings.HasSuffix(name, ".delta") {
		return
	}
	size := len(get(event, "delta"))
	if strings.HasSuffix(name, "audio.delta") {
		size = 3 * (size/soundOfToken + 1) // as many bytes as text of as many tokens
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Piece(size)
}

// cancelHeard cancels the answers that are under way: what was said may not be answered.
func (s *Session) cancelHeard() error {
	if err := s.o.Upstream.Send([]byte(`{"type":"input_audio_buffer.clear"}`)); err != nil {
		return err
	}
	return s.o.Upstream.Send([]byte(`{"type":"response.cancel"}`))
}

// session names the models of a session as the client does, and leaves out the provider's secret.
func (s *Session) session(event []byte) ([]byte, error) {
	event = edit(event, []string{"session", "model"}, func([]byte) []byte { return jsonscan.AppendString(nil, s.o.Asked) })
	event = edit(event, []string{"session", "client_secret"}, func([]byte) []byte { return nil })
	s.mu.Lock()
	hears := s.hears
	s.mu.Unlock()
	return edit(event, []string{"session", "audio", "input", "transcription", "model"}, func(v []byte) []byte {
		if is, _ := jsonscan.String(v); is == hears[1] {
			return jsonscan.AppendString(nil, hears[0])
		}
		return v
	}), nil
}

// begins matches an answer that begins with the one that is held. One that may not be made is
// cancelled.
func (s *Session) begins(event []byte) ([]byte, error) {
	id := text(event, "response", "id")
	a := s.created(id)
	switch {
	case a == nil:
		return nil, s.o.Upstream.Send(cancelOf(id))
	case a.failure != nil: // 429: the provider began it by itself
		a.silent = true
		s.send([][]byte{errorEvent(a.failure, "")})
		return event, s.o.Upstream.Send(cancelOf(id))
	}
	return event, nil
}

// ends charges an answer. The client of one that was refused does not get what it says.
func (s *Session) ends(event []byte) ([]byte, error) {
	response := get(event, "response")
	id, status := text(response, "id"), text(response, "status")
	sum := openai.Summary{UpstreamID: id, Finish: finishes[status], NativeFinish: status, Text: true}
	if reason := text(response, "status_details", "reason"); reason != "" {
		sum.NativeFinish = reason
	}
	sum.Usage, sum.HasUsage = openai.ParseUsage(get(response, "usage"))
	var failure *apierror.Error
	if details := get(response, "status_details", "error"); status == "failed" {
		failure = s.failure(append(append([]byte(`{"error":`), orNull(details)...), '}'))
		event = edit(event, []string{"response", "status_details", "error"}, func([]byte) []byte {
			return get(openai.AppendError(nil, failure), "error")
		})
	}
	if a := s.find(id); a != nil && a.silent {
		event = edit(event, []string{"response", "output"}, func([]byte) []byte { return []byte("[]") })
	}
	if end := s.done(id, sum, failure); end != nil {
		return event, end
	}
	return event, nil
}

// finishes are the finish reasons of rows for the states of answers.
var finishes = map[string]string{"completed": "stop", "incomplete": "length", "cancelled": "cancelled", "failed": "error"}

func orNull(value []byte) []byte {
	if value == nil {
		return []byte("null")
	}
	return value
}

// failure is what the client gets for an error of the provider.
func (s *Session) failure(event []byte) *apierror.Error {
	call := openai.Call{Provider: s.o.Provider, Redact: s.o.Shown}
	return call.Fault(openai.ParseProviderError(event))
}

// fault passes on an error of the provider, which may be about an event of the client.
func (s *Session) fault(event []byte) ([]byte, error) {
	id := text(event, "error", "event_id")
	failure := s.failure(event)
	s.rejected(id, failure)
	if strings.HasPrefix(id, "event_gh") {
		id = ""
	}
	return errorEvent(failure, id), nil
}

// transcript charges what was written of what was said.
func (s *Session) transcript(event []byte) ([]byte, error) {
	sum := openai.Summary{UpstreamID: text(event, "item_id"), Text: true}
	sum.Usage, sum.HasUsage = openai.TranscriptUsage(get(event, "usage"))
	var failure *apierror.Error
	if get(event, "error") != nil {
		failure = s.failure(event)
		event = edit(event, []string{"error"}, func([]byte) []byte { return get(openai.AppendError(nil, failure), "error") })
	}
	if end := s.transcribed(sum, failure); end != nil {
		return event, end
	}
	if !s.o.Calls.Guarded() || get(event, "transcript") == nil {
		return event, nil
	}
	said := append([]byte(`{"type":"message","role":"user","content":[{"type":"input_text","text":`), get(event, "transcript")...)
	item, err := s.item(append(said, `}]}`...))
	if err != nil {
		s.send([][]byte{errorEvent(apierror.From(err), "")})
		return nil, s.cancelHeard()
	}
	content := get(item, "content")
	return edit(event, []string{"transcript"}, func([]byte) []byte { return get(content[1:len(content)-1], "text") }), nil
}
