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

func (s *Stream) SetHead(id, created []byte) {
	if t := &s.target; !t.named {
		t.named, t.delta.ID, t.delta.Created = true, bytes.Clone(id), bytes.Clone(created)
	}
}

func (s *Stream) Finish(e completion.Ending) {
	e.Put(&s.target.delta)
	s.target.write(func(translate.Content) {})
}

// Content, Resume, Pause and Failure implement [completion.Target].
func (s *Stream) Content() translate.Content { return &s.target }
func (s *Stream) Resume(dst []byte)          { *s.to.Out() = dst }
func (s *Stream) Pause() []byte              { return take(s.to.Out()) }
func (s *Stream) Failure() *apierror.Error   { return s.failure }

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

// write has the writer take a piece, if the stream takes it, and fails the stream if that is too
// much.
func (t *target) write(piece func(to translate.Content)) {
	if !t.takes() {
		return
	}
	piece(t.s.reader.to)
	if bad := t.s.to.CheckSize(); bad != nil {
		t.s.fail(bad)
	}
}

func (t *target) Begin(text bool) {
	if !t.begun {
		t.write(func(to translate.Content) { to.Begin(text) })
	}
}

func (t *target) Text(piece, logprobs []byte) {
	if len(piece) > 0 {
		t.delta.Content = somePiece
	}
	if !t.s.reader.opt.Logprobs {
		logprobs = nil
	}
	t.write(func(to translate.Content) {
		if len(piece) > 0 || len(logprobs) > 0 {
			to.Text(piece, logprobs)
		}
	})
}

func (t *target) Reasoning(piece, detail []byte) {
	if len(piece) > 0 {
		t.delta.Reasoning = somePiece
	}
	t.write(func(translate.Content) { t.s.reader.reasoning(piece, detail) })
}

// Refusal and Citation implement [translate.Content].
func (t *target) Refusal(piece []byte) { t.write(func(to translate.Content) { to.Refusal(piece) }) }
func (t *target) Citation(c translate.Citation) {
	t.write(func(to translate.Content) { to.Citation(c) })
}

func (t *target) BeginCall(n int, custom bool, id, name []byte) {
	t.call = openai.CallDelta{Index: n, Begin: true}
	t.delta.Call = &t.call
	t.write(func(to translate.Content) {
		if id == nil {
			id = openai.NewCallID(t.s.reader.call, n)
		}
		to.BeginCall(n, custom, id, name)
	})
}

func (t *target) Arguments(n int, custom bool, piece []byte) {
	t.call = openai.CallDelta{Index: n}
	t.delta.Call = &t.call
	t.write(func(to translate.Content) {
		if len(piece) > 0 {
			to.Arguments(n, custom, piece)
		}
	})
}
