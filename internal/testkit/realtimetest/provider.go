// Package realtimetest is a provider of OpenAI's Realtime API (GA shapes) for tests. What a client
// says decides what it does:
//
//	"wait"       the answer does not end until it is cancelled
//	"fail"       the answer fails: the operator's account is out of quota
//	"mute"       the answer ends without usage
//	"drop"       the connection breaks in the middle of the answer
//	"large"      and in the middle of an event of a mebibyte
//	"close"      the provider closes the session with 4001
//	"both"       as "wait", and the next answer begins and ends beside it
//	"tool"       the answer is a call of a tool
//	other texts  the answer is the text "You said " and that text, in three pieces and a sound
//
// A sound that is committed is transcribed if the session says so, and answered if the session
// detects turns. With the instructions "slow" it is transcribed after the next session.update.
package realtimetest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/coder/websocket"
)

// Usage is what an answer uses.
const Usage = `{"total_tokens":150,"input_tokens":100,"output_tokens":50,` +
	`"input_token_details":{"text_tokens":40,"audio_tokens":60,"image_tokens":0,"cached_tokens":30,` +
	`"cached_tokens_details":{"text_tokens":10,"audio_tokens":20,"image_tokens":0}},` +
	`"output_token_details":{"text_tokens":20,"audio_tokens":30}}`

// Heard is what a transcript uses.
const Heard = `{"type":"tokens","total_tokens":30,"input_tokens":20,"input_token_details":{"text_tokens":0,"audio_tokens":20},"output_tokens":10}`

// Sound is a piece of the sound of an answer.
const Sound = "UklGRiQAAABXQVZFZm10IBAAAAABAAEA"

// Provider is a server.
type Provider struct {
	*httptest.Server

	mu     sync.Mutex // guards the following
	Events []string   // of all clients, in their order
	Heads  []*http.Request
	Closes []int // codes of sessions that have ended
}

// New returns a server. It must be closed.
func New() *Provider {
	p := new(Provider)
	p.Server = httptest.NewServer(p)
	return p
}

// Got returns the events of clients that contain a text.
func (p *Provider) Got(with string) (all []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.Events {
		if strings.Contains(e, with) {
			all = append(all, e)
		}
	}
	return all
}

// Closed returns the codes with which clients have closed.
func (p *Provider) Closed() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]int(nil), p.Closes...)
}

// ServeHTTP opens a session.
func (p *Provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.Heads = append(p.Heads, r.Clone(context.Background()))
	p.mu.Unlock()
	model := r.URL.Query().Get("model")
	switch {
	case !strings.HasSuffix(r.URL.Path, "/realtime"):
		http.NotFound(w, r)
		return
	case model == "refused":
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided","type":"invalid_request_error","code":"invalid_api_key"}}`))
		return
	}
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	ws.SetReadLimit(64 << 20)
	s := &session{provider: p, ws: ws, ctx: r.Context(), session: map[string]any{
		"type": "realtime", "object": "realtime.session", "id": "sess_1", "model": model, "output_modalities": []string{"audio"},
	}}
	s.send("session.created", "session", s.session)
	for err == nil {
		var data []byte
		if _, data, err = ws.Read(r.Context()); err == nil {
			p.mu.Lock()
			p.Events = append(p.Events, string(data))
			p.mu.Unlock()
			s.take(data)
		}
	}
	p.mu.Lock()
	p.Closes = append(p.Closes, int(websocket.CloseStatus(err)))
	p.mu.Unlock()
	_ = ws.CloseNow()
}

// session is one session.
type session struct {
	provider *Provider
	ws       *websocket.Conn
	ctx      context.Context
	session  map[string]any
	n        int // events and ids
	said     string
	waiting  string // the id of an answer that waits; "" for none
	sound    int
	slow     []string // items that are transcribed later
}

// event is what it reads of a client's event.
type event struct {
	Type    string         `json:"type"`
	EventID string         `json:"event_id"`
	Session map[string]any `json:"session"`
	Audio   string         `json:"audio"`
	Item    struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"item"`
}

func (s *session) take(data []byte) {
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		s.send("error", "error", map[string]any{"type": "invalid_request_error", "code": "invalid_json", "message": err.Error(), "param": nil, "event_id": nil})
		return
	}
	switch e.Type {
	case "session.update":
		for k, v := range e.Session {
			s.session[k] = v
		}
		s.send("session.updated", "session", s.session)
		for _, id := range s.slow {
			s.transcribe(id)
		}
		s.slow = nil
	case "conversation.item.create":
		for _, c := range e.Item.Content {
			s.said = c.Text
		}
		s.n++
		item := map[string]any{
			"id": fmt.Sprintf("item_%d", s.n), "object": "realtime.item", "type": "message", "status": "completed", "role": "user",
			"content": []any{map[string]any{"type": "input_text", "text": s.said}},
		}
		s.send("conversation.item.added", "item", item, "previous_item_id", nil)
		s.send("conversation.item.done", "item", item, "previous_item_id", nil)
	case "input_audio_buffer.append":
		s.sound += len(e.Audio)
	case "input_audio_buffer.commit":
		s.heard()
	case "response.create":
		if s.waiting != "" {
			s.send("error", "error", map[string]any{
				"type": "invalid_request_error", "code": "conversation_already_has_active_response",
				"message": "Conversation already has an active response in progress: " + s.waiting + ".", "param": nil, "event_id": e.EventID,
			})
			return
		}
		s.answer()
	case "response.cancel":
		if id := s.waiting; id != "" {
			s.waiting = ""
			s.done(id, "cancelled", map[string]any{"type": "cancelled", "reason": "client_cancelled"}, nil, json.RawMessage(Usage))
			return
		}
		s.send("error", "error", map[string]any{
			"type": "invalid_request_error", "code": "response_cancel_not_active", "message": "Cancellation failed: no active response found",
			"param": nil, "event_id": e.EventID,
		})
	}
}

// heard transcribes and answers what was said, as the session has it.
func (s *session) heard() {
	audio, _ := s.session["audio"].(map[string]any)
	input, _ := audio["input"].(map[string]any)
	s.n++
	id := fmt.Sprintf("item_%d", s.n)
	s.send("input_audio_buffer.committed", "item_id", id, "previous_item_id", nil)
	switch {
	case input["transcription"] == nil:
	case s.session["instructions"] == "slow":
		s.slow = append(s.slow, id)
	default:
		s.transcribe(id)
	}
	if input["turn_detection"] != nil {
		s.answer()
	}
}

// transcribe says what was said.
func (s *session) transcribe(id string) {
	s.send("conversation.item.input_audio_transcription.delta", "item_id", id, "content_index", 0, "delta", "my secret is ")
	s.send("conversation.item.input_audio_transcription.delta", "item_id", id, "content_index", 0, "delta", "4111 1111 1111 1111")
	s.send("conversation.item.input_audio_transcription.completed", "item_id", id, "content_index", 0,
		"transcript", "my secret is 4111 1111 1111 1111", "usage", json.RawMessage(Heard))
}

func (s *session) answer() {
	s.n++
	id, item := fmt.Sprintf("resp_%d", s.n), fmt.Sprintf("item_a%d", s.n)
	response := s.response(id, "in_progress", nil, []any{}, nil)
	s.send("response.created", "response", response)
	s.send("rate_limits.updated", "rate_limits", []any{map[string]any{"name": "requests", "limit": 1000, "remaining": 999, "reset_seconds": 0.06}})
	switch s.said {
	case "both":
		s.said = "wait"
		defer func() { s.said = "hello" }()
		fallthrough
	case "wait":
		s.waiting = id
		return
	case "fail":
		quota := map[string]any{"type": "insufficient_quota", "code": "insufficient_quota", "message": "You exceeded your current quota, org-secret."}
		s.done(id, "failed", map[string]any{"type": "failed", "error": quota}, nil, nil)
		return
	case "large":
		if w, err := s.ws.Writer(s.ctx, websocket.MessageText); err == nil {
			_, _ = w.Write(make([]byte, 1<<20))
		}
		_ = s.ws.CloseNow()
		return
	case "drop":
		_ = s.ws.CloseNow()
		return
	case "close":
		_ = s.ws.Close(4001, "the session is over")
		return
	case "tool":
		const arguments = `{"city":"Paris"}`
		call := map[string]any{
			"id": item, "object": "realtime.item", "type": "function_call", "status": "completed", "name": "weather", "call_id": "call_1",
			"arguments": arguments,
		}
		piece := []any{"response_id", id, "item_id", item, "output_index", 0, "call_id", "call_1"}
		s.send("response.output_item.added", "response_id", id, "output_index", 0, "item", call)
		s.send("response.function_call_arguments.delta", append(piece, "delta", arguments)...)
		s.send("response.function_call_arguments.done", append(piece, "name", "weather", "arguments", arguments)...)
		s.send("conversation.item.done", "item", call, "previous_item_id", nil)
		s.send("response.output_item.done", "response_id", id, "output_index", 0, "item", call)
		s.done(id, "completed", nil, []any{call}, json.RawMessage(Usage))
		return
	}
	whole := "You said " + s.said
	message := func(status string, content ...any) map[string]any {
		return map[string]any{"id": item, "object": "realtime.item", "type": "message", "status": status, "role": "assistant", "content": content}
	}
	at := []any{"response_id", id, "item_id", item, "output_index", 0, "content_index", 0}
	s.send("response.output_item.added", "response_id", id, "output_index", 0, "item", message("in_progress"))
	s.send("response.content_part.added", append(at, "part", map[string]any{"type": "text", "text": ""})...)
	third := len(whole) / 3
	for _, piece := range []string{whole[:third], whole[third : 2*third], whole[2*third:]} {
		s.send("response.output_text.delta", append(at, "delta", piece)...)
	}
	s.send("response.output_audio.delta", append(at, "delta", Sound)...)
	s.send("response.output_text.done", append(at, "text", whole)...)
	s.send("response.content_part.done", append(at, "part", map[string]any{"type": "text", "text": whole})...)
	final := message("completed", map[string]any{"type": "output_text", "text": whole})
	s.send("response.output_item.done", "response_id", id, "output_index", 0, "item", final)
	var usage any = json.RawMessage(Usage)
	if s.said == "mute" {
		usage = nil
	}
	s.done(id, "completed", nil, []any{final}, usage)
}
