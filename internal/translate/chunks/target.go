package chunks

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

var _ completion.Target = (*Stream)(nil)

// target writes the content of an answer that another translation reads, without chunks.
type target struct {
	s     *Stream
	named bool
	begun bool         // the writer has begun
	delta openai.Delta // what the life of the stream is told of a piece
	call  openai.CallDelta
}

// Content implements [completion.Target].
func (s *Stream) Content() translate.Content { return &s.target }

// SetHead implements [completion.Target].
func (s *Stream) SetHead(id, created []byte) {
	if t := &s.target; !t.named {
		t.named, t.delta.ID, t.delta.Created = true, bytes.Clone(id), bytes.Clone(created)
	}
}

// Finish implements [completion.Target].
func (s *Stream) Finish(e completion.Ending) {
	t := &s.target
	e.Put(&t.delta)
	if t.takes() {
		t.wrote()
	}
}

// Resume implements [completion.Target].
func (s *Stream) Resume(dst []byte) { *s.to.Out() = dst }

// Pause implements [completion.Target].
func (s *Stream) Pause() []byte { return take(s.to.Out()) }

// Failure implements [completion.Target].
func (s *Stream) Failure() *apierror.Error { return s.failure }

// somePiece stands for any text in what the life of the stream is told.
var somePiece = []byte(`"a"`)

// takes reports whether the stream takes a piece, of which delta says what it is.
func (t *target) takes() bool {
	if t.s.Done() {
		return false
	}
	created, bad := t.s.chat.Accept(&t.delta)
	if last := t.delta.Finish != ""; bad == nil && (last || !t.begun) {
		t.begun = true
		t.s.to.Begin(openai.Chunk{Created: created, ServiceTier: t.delta.ServiceTier}, t.s.chat.Summary())
	}
	t.named = true
	t.delta.Content, t.delta.Reasoning, t.delta.Call = nil, nil, nil
	if bad != nil {
		t.s.fail(bad)
	}
	return bad == nil
}

// wrote fails the stream if what was written is too much.
func (t *target) wrote() {
	if bad := t.s.to.CheckSize(); bad != nil {
		t.s.fail(bad)
	}
}

// Begin implements [translate.Content].
func (t *target) Begin(bool) {
	if !t.begun && t.takes() {
		t.wrote()
	}
}

// Text implements [translate.Content].
func (t *target) Text(piece, logprobs []byte) {
	if t.delta.Content = nil; len(piece) > 0 {
		t.delta.Content = somePiece
	}
	if !t.takes() {
		return
	}
	if !t.s.reader.opt.Logprobs {
		logprobs = nil
	}
	if len(piece) > 0 || len(logprobs) > 0 {
		t.s.reader.to.Text(piece, logprobs)
	}
	t.wrote()
}

// Refusal implements [translate.Content].
func (t *target) Refusal(piece []byte) {
	if t.takes() {
		t.s.reader.to.Refusal(piece)
		t.wrote()
	}
}

// Reasoning implements [translate.Content].
func (t *target) Reasoning(piece, detail []byte) {
	if len(piece) > 0 {
		t.delta.Reasoning = somePiece
	}
	if t.takes() {
		t.s.reader.reasoning(piece, detail)
		t.wrote()
	}
}

// Citation implements [translate.Content].
func (t *target) Citation(c translate.Citation) {
	if t.takes() {
		t.s.reader.to.Citation(c)
		t.wrote()
	}
}

// BeginCall implements [translate.Content].
func (t *target) BeginCall(n int, custom bool, id, name []byte) {
	t.call = openai.CallDelta{Index: n, Begin: true}
	t.delta.Call = &t.call
	if t.takes() {
		if id == nil {
			id = openai.NewCallID(t.s.reader.call, n)
		}
		t.s.reader.to.BeginCall(n, custom, id, name)
		t.wrote()
	}
}

// Arguments implements [translate.Content].
func (t *target) Arguments(n int, custom bool, piece []byte) {
	t.call = openai.CallDelta{Index: n}
	t.delta.Call = &t.call
	if t.takes() {
		if len(piece) > 0 {
			t.s.reader.to.Arguments(n, custom, piece)
		}
		t.wrote()
	}
}
