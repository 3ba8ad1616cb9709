package testprovider

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Stream is a streamed reply: events before the pieces of the answer, one for
// each piece, events after them. They are made when they are due, not before.
type Stream struct {
	head   []Event
	pieces int
	piece  func(i int) Event
	tail   func() []Event
}

// Event is one event of a stream.
type Event struct {
	Name string // of the line "event:"; "": without one
	Data Object
	Text bool // begins the next piece of the answer
}

// Done ends the stream of a chat answer.
var Done = Event{}

// Encode is the event on the wire.
func (e Event) Encode() []byte {
	b := make([]byte, 0, 512)
	if e.Name != "" {
		b = append(b, "event: "+e.Name+"\n"...)
	}
	b = append(b, "data: "...)
	if e.Data == nil {
		b = append(b, "[DONE]"...)
	} else {
		b = encode(b, e.Data)
	}
	return append(b, "\n\n"...)
}

// Events makes all events.
func (s *Stream) Events() []Event {
	events := slices.Clip(s.head)
	for i := range s.pieces {
		events = append(events, s.piece(i))
	}
	return append(events, s.tail()...)
}

// streamBody plays a stream. There is no goroutine behind it that could outlive
// the request: it is reading that drives the reply on, so a reader holds event
// n before n+1 is made, and one Read never returns parts of two events. The end of the
// context or Close, which may come from another goroutine, ends a waiting Read at once.
type streamBody struct {
	ctx    context.Context
	stream *Stream
	pace   time.Duration // before each piece
	cut    int           // break off after this many pieces; 0: do not

	event []byte  // what is left of the current event
	next  int     // events taken from head and pieces
	tail  []Event // made after the last piece
	ended bool    // tail was made

	once   sync.Once
	closed chan struct{}
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
	if len(b.event) == 0 {
		if err := b.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, b.event)
	b.event = b.event[n:]
	return n, nil
}

// Close implements [io.Closer].
func (b *streamBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// fill waits for the next event.
func (b *streamBody) fill() error {
	e, err := b.take()
	if err != nil {
		return err
	}
	if e.Text && b.pace > 0 {
		select {
		case <-b.closed:
			return http.ErrBodyReadAfterClose
		case <-b.ctx.Done():
			return b.ctx.Err()
		case <-time.After(b.pace):
		}
	}
	b.event = e.Encode()
	return nil
}

// take makes the next event.
func (b *streamBody) take() (Event, error) {
	s, piece := b.stream, b.next-len(b.stream.head)
	if piece >= 0 && b.cut > 0 && (piece == b.cut || piece == s.pieces) {
		return Event{}, io.ErrUnexpectedEOF
	}
	switch {
	case piece < 0:
		b.next++
		return s.head[b.next-1], nil
	case piece < s.pieces:
		b.next++
		return s.piece(piece), nil
	case !b.ended:
		b.ended, b.tail = true, s.tail()
	}
	if len(b.tail) == 0 {
		return Event{}, io.EOF
	}
	e := b.tail[0]
	b.tail = b.tail[1:]
	return e, nil
}
