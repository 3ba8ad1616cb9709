// Package testcard is a built-in desktop: an RFB 3.8 server (RFC 6143) for one connection inside
// the process, so that a gateway for workstations can be tried without a VNC server. It shows
// colour bars, a grey ramp, the time, a square that moves with each frame, the pointer, and the
// last key.
//
//	near, far := net.Pipe()
//	go func() { done <- testcard.Serve(ctx, far, "demo") }()
//
// It speaks security type None only and must not be reachable from a network. It draws nothing
// unless the viewer has asked for it. Its one encoding is Raw, which every viewer reads.
package testcard

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"net"
	"sync"
	"time"
)

const (
	framesPerSecond = 30 // and so updates, at most
	frameTime       = time.Second / framesPerSecond
)

// errGone is the end of the connection, wherever it came.
var errGone = errors.New("the viewer is gone")

// Serve shows a card of that name to the viewer at conn until the connection ends (nil), ctx ends
// (its cause), or the viewer sends a message that a card does not understand (an error that names
// it). It closes conn and leaves no goroutine.
func Serve(ctx context.Context, conn net.Conn, name string) error {
	defer conn.Close()
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.Close()
		close(closed)
	})
	err := serve(conn, name)
	if !stop() {
		<-closed
		return context.Cause(ctx)
	}
	if errors.Is(err, errGone) {
		return nil
	}
	return fmt.Errorf("test card: %w", err)
}

// serve returns why it ended, never nil.
func serve(conn net.Conn, name string) error {
	if err := greet(conn, name); err != nil {
		return err
	}
	s := &session{
		start:  time.Now(),
		wake:   make(chan struct{}, 1),
		format: initialFormat,
		now:    moment{name: name},
		dirty:  areas{anything: screen},
	}
	ended := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		if s.draw(conn, ended) != nil {
			conn.Close() // and the reader ends, too
		}
	})
	err := s.read(bufio.NewReader(conn))
	close(ended)
	conn.Close() // a write that waits for the viewer ends
	drawing.Wait()
	return err
}

// session is what the reader of the viewer's messages passes to the drawer.
type session struct {
	start time.Time
	wake  chan struct{} // of capacity 1: there is something in asked

	mu     sync.Mutex // guards the following
	format *pixelFormat
	seen   moment          // of the frame that was looked at last
	now    moment          // with the latest input
	asked  image.Rectangle // bounds of what the viewer waits for
	dirty  areas           // what it must get when it asks
}

// draw answers the viewer's requests until ended is closed or a write fails. A frame is answered
// once, so that there are no more updates a second than frames; without a request nothing is drawn
// and no timer runs.
func (s *session) draw(conn io.Writer, ended <-chan struct{}) error {
	w := &writer{out: bufio.NewWriter(conn), pixels: make([]uint8, 4*width*stripHeight)}
	next := s.start // frame
	for {
		select {
		case <-s.wake:
		case <-ended:
			return nil
		}
		select {
		case <-time.After(time.Until(next)):
		case <-ended:
			return nil
		}
		frame := int64(time.Since(s.start) / frameTime)
		next = s.start.Add(time.Duration(frame+1) * frameTime)
		if areas, m, as := s.due(frame); len(areas) > 0 {
			if err := w.update(areas, m, as); err != nil {
				return err
			}
		}
	}
}

// due brings the moment to that frame, and returns the changes that the viewer waits for. If there
// are none, the request stays for the next frame.
func (s *session) due(frame int64) (due []image.Rectangle, m moment, as *pixelFormat) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.frame, s.now.second = frame, time.Now().Unix()
	for i, changed := range changes(s.seen, s.now) {
		s.dirty[i] = s.dirty[i].Union(changed)
		if s.dirty[i].Overlaps(s.asked) {
			due = append(due, s.dirty[i])
			s.dirty[i] = image.Rectangle{}
		}
	}
	s.seen = s.now
	if len(due) > 0 {
		s.asked = image.Rectangle{}
	}
	s.signal()
	return due, s.now, s.format
}

// signal wakes the drawer if the viewer waits for something.
func (s *session) signal() {
	if s.asked.Empty() {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// readFull fills p; a connection that ends is errGone.
func readFull(r io.Reader, p []byte) error {
	if _, err := io.ReadFull(r, p); err != nil {
		return errGone
	}
	return nil
}
