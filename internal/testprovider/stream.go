package testprovider

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// failAfter is how many words of a streamed reply the model fail writes: enough to
// commit every reader to a success before the end is missing.
const failAfter = 3

// stream is the body of a streamed reply. Its chunks come in rounds, one chunk for each choice: the
// role, the name of a called function, each piece, the finish reason. A chunk with the usage may
// follow, and [DONE].
//
// There is no goroutine behind it that could outlive the request: it is reading that drives the reply
// on, so a reader holds event n before n+1 is made, and one Read never returns parts of two events. The
// end of the context or Close, which may come from another goroutine, ends a waiting Read at once.
type stream struct {
	reply     *reply
	ctx       context.Context
	showUsage bool // other chunks then say "usage": null, as OpenAI's do

	begin int    // rounds before the pieces
	next  int    // number of the next event
	event []byte // what is left of the present one

	once   sync.Once
	closed chan struct{}
}

func newStream(ctx context.Context, r *reply, usage bool) *stream {
	s := &stream{reply: r, ctx: ctx, showUsage: usage, begin: 1, closed: make(chan struct{})}
	if r.function != "" {
		s.begin = 2
	}
	return s
}

// Read implements [io.Reader].
func (s *stream) Read(p []byte) (int, error) {
	select {
	case <-s.closed:
		return 0, http.ErrBodyReadAfterClose
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	default:
	}
	if len(p) == 0 {
		return 0, nil
	}
	if len(s.event) == 0 {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.event)
	s.event = s.event[n:]
	return n, nil
}

// Close implements [io.Closer].
func (s *stream) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// fill makes the next event when it is due.
func (s *stream) fill() error {
	round, i := s.next/s.reply.choices, s.next%s.reply.choices
	piece, pieces := round-s.begin, len(s.reply.pieces)
	var data []byte
	switch after := s.next - (s.begin+pieces+1)*s.reply.choices; {
	case s.reply.model.fails && piece == min(failAfter, pieces):
		return io.ErrUnexpectedEOF
	case after < 0:
		if piece >= 0 && piece < pieces && i == 0 { // all choices say a word at the same time
			if err := wait(s.ctx, s.closed, s.reply.model.pace); err != nil {
				return err
			}
		}
		data = s.chunk(round, i)
	case after == 0 && s.showUsage:
		last := s.reply.completion("chat.completion.chunk", []choice{})
		last.Usage = s.reply.usage
		data = encode(last)
	case after == 0 || after == 1 && s.showUsage:
		data = []byte("[DONE]")
	default:
		return io.EOF
	}
	s.next++
	s.event = slices.Concat([]byte("data: "), data, []byte("\n\n"))
	return nil
}

// chunk is the chunk of a choice in a round.
func (s *stream) chunk(round, i int) []byte {
	delta, piece := said{}, round-s.begin
	c := choice{Index: i, Delta: &delta}
	switch {
	case round == 0:
		delta = said{Role: "assistant", Content: "", Refusal: null}
		if s.reply.function != "" {
			delta.Content = null
		}
	case piece == len(s.reply.pieces):
		c.FinishReason = &s.reply.finish
	case s.reply.function == "":
		delta.Content = s.reply.pieces[piece]
	default:
		delta.ToolCalls = []call{{Index: new(int)}}
		if piece < 0 {
			delta.ToolCalls[0] = s.reply.call(i, "")
			delta.ToolCalls[0].Index = new(int)
		} else {
			delta.ToolCalls[0].Function.Arguments = s.reply.pieces[piece]
		}
	}
	chunk := s.reply.completion("chat.completion.chunk", []choice{c})
	if s.showUsage {
		chunk.Usage = null
	}
	return encode(chunk)
}

// wait waits for the time that words take. It ends early, with an error, when a context ends or a
// reader closes.
func wait(ctx context.Context, closed <-chan struct{}, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-closed:
		return http.ErrBodyReadAfterClose
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
