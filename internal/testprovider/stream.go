package testprovider

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// script is a streamed reply: frames before the words, one for each word, frames
// after them. The frames are made when they are due, not before.
type script struct {
	head  []frame
	words int
	word  func(i int) frame
	tail  func() []frame

	delay time.Duration // before each word that is due
	cut   int           // break off after this many words; 0: do not
}

// frame is one event of a stream.
type frame struct {
	event string // for the line "event:"; "": without one
	data  any    // written as JSON
	done  bool   // "[DONE]" instead of data
	due   bool   // the delay is before this frame
}

func (f frame) write(b *bytes.Buffer) error {
	if f.done {
		b.WriteString("data: [DONE]\n\n")
		return nil
	}
	if f.event != "" {
		b.WriteString("event: " + f.event + "\n")
	}
	b.WriteString("data: ")
	if err := encode(b, f.data); err != nil {
		return fmt.Errorf("encoding an event: %w", err)
	}
	b.WriteByte('\n')
	return nil
}

// streamBody plays a script. There is no goroutine behind it that could outlive
// the request: it is reading that drives the reply on, so a reader holds event
// n before n+1 is made, and one Read never returns parts of two events. The end of the
// context or Close, which may come from another goroutine, ends a waiting Read at once.
type streamBody struct {
	ctx    context.Context
	after  func(time.Duration) <-chan time.Time
	script *script

	event bytes.Buffer // what is left of the current event
	step  int          // frames taken from head and words
	tail  []frame      // made after the last word
	ended bool         // tail was made

	once   sync.Once
	closed chan struct{}
}

func newStreamBody(ctx context.Context, s *script, after func(time.Duration) <-chan time.Time) *streamBody {
	return &streamBody{ctx: ctx, after: after, script: s, closed: make(chan struct{})}
}

// Read implements [io.Reader].
func (b *streamBody) Read(p []byte) (int, error) {
	select {
	case <-b.closed:
		return 0, http.ErrBodyReadAfterClose
	case <-b.ctx.Done():
		return 0, b.ctx.Err()
	default:
	}
	if len(p) == 0 {
		return 0, nil
	}
	if b.event.Len() == 0 {
		if err := b.next(); err != nil {
			return 0, err
		}
	}
	return b.event.Read(p)
}

// Close implements [io.Closer].
func (b *streamBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// next waits for the next frame and fills event with it.
func (b *streamBody) next() error {
	f, err := b.frame()
	if err != nil {
		return err
	}
	if f.due && b.script.delay > 0 {
		select {
		case <-b.closed:
			return http.ErrBodyReadAfterClose
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-b.after(b.script.delay):
		}
	}
	b.event.Reset()
	return f.write(&b.event)
}

// frame takes the next frame from the script.
func (b *streamBody) frame() (frame, error) {
	s, word := b.script, b.step-len(b.script.head)
	if word >= 0 && s.cut > 0 && (word == s.cut || word == s.words) {
		return frame{}, io.ErrUnexpectedEOF
	}
	switch {
	case word < 0:
		b.step++
		return s.head[b.step-1], nil
	case word < s.words:
		b.step++
		return s.word(word), nil
	case !b.ended:
		b.ended = true
		b.tail = s.tail()
	}
	if len(b.tail) == 0 {
		return frame{}, io.EOF
	}
	f := b.tail[0]
	b.tail = b.tail[1:]
	return f, nil
}
