// Package testcard is a built-in desktop: an RFB 3.8 server (RFC 6143) for one connection inside
// the process, so that a gateway for workstations can be tried without a VNC server. It shows
// colour bars, a grey ramp, the time, a square that moves with each frame, the pointer, and the
// last key.
//
//	near, far := net.Pipe()
//	go func() { done <- testcard.Serve(ctx, far, testcard.Options{Name: "demo"}) }()
//
// It speaks security type None only and must not be reachable from a network. It draws nothing
// unless the viewer has asked for it. Its encodings are Raw, and Tight where the viewer lists it:
// the square, which resembles a photograph, as JPEG if the viewer also names a quality level, all
// else without loss, so that the card's colours are exact.
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

// Sizes, in pixels, and rates, in frames a second, that a card can have. Below the least the texts
// do not fit; 2048 is the widest rectangle of Tight.
const (
	MinWidth, MinHeight = 320, 240
	MaxSide             = 2048
	MaxFPS              = 60
)

const (
	defaultWidth, defaultHeight = 1280, 720
	defaultFPS                  = 30
	defaultName                 = "Gatehouse test card"
	maxName                     = 255 // bytes
)

// Options of a card. The zero value is a card of 1280 by 720 pixels and 30 frames a second.
type Options struct {
	Width, Height int              // pixels; 0 means 1280 by 720
	FPS           int              // frames, and so updates, a second at most; 0 means 30
	Name          string           // of the desktop, and the card's first line; at most 255 bytes; default "Gatehouse test card"
	Now           func() time.Time // never goes back; default time.Now
}

func (o Options) withDefaults() (Options, error) {
	if o.Width == 0 && o.Height == 0 {
		o.Width, o.Height = defaultWidth, defaultHeight
	}
	if o.FPS == 0 {
		o.FPS = defaultFPS
	}
	if o.Name == "" {
		o.Name = defaultName
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	switch {
	case o.Width < MinWidth || o.Width > MaxSide || o.Height < MinHeight || o.Height > MaxSide:
		return o, fmt.Errorf("size %dx%d is outside %dx%d to %dx%d", o.Width, o.Height, MinWidth, MinHeight, MaxSide, MaxSide)
	case o.FPS < 1 || o.FPS > MaxFPS:
		return o, fmt.Errorf("%d frames a second is outside 1 to %d", o.FPS, MaxFPS)
	case len(o.Name) > maxName:
		return o, fmt.Errorf("a name of %d bytes is longer than %d", len(o.Name), maxName)
	}
	return o, nil
}

// errGone is the end of the connection, wherever it came.
var errGone = errors.New("the viewer is gone")

// Serve shows a card to the viewer at conn until the connection ends (nil), ctx ends (its cause),
// or the viewer sends a message that a card does not understand (an error that names it). It closes
// conn and leaves no goroutine.
func Serve(ctx context.Context, conn net.Conn, o Options) error {
	defer conn.Close()
	o, err := o.withDefaults()
	if err != nil {
		return fmt.Errorf("test card: %w", err)
	}
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		conn.Close()
		close(closed)
	})
	err = serve(conn, o)
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
func serve(conn net.Conn, o Options) error {
	if err := greet(conn, o); err != nil {
		return err
	}
	s := newSession(o)
	ended := make(chan struct{})
	var drawing sync.WaitGroup
	drawing.Go(func() {
		if s.draw(conn, ended) != nil {
			conn.Close() // and the reader ends, too
		}
	})
	err := s.read(bufio.NewReaderSize(conn, readBuffer))
	close(ended)
	conn.Close() // a write that waits for the viewer ends
	drawing.Wait()
	return err
}

const (
	readBuffer  = 1 << 10
	writeBuffer = 16 << 10
)

// session is what the reader of the viewer's messages passes to the drawer.
type session struct {
	card  *card
	now   func() time.Time
	start time.Time
	wake  chan struct{} // of capacity 1: there is something in asked

	mu       sync.Mutex // guards the following
	encoding encoding
	input    input
	asked    image.Rectangle   // bounds of what the viewer waits for
	dirty    []image.Rectangle // what it must get when it asks; apart from each other
}

func newSession(o Options) *session {
	c := newCard(o)
	return &session{
		card:     c,
		now:      o.Now,
		start:    o.Now(),
		wake:     make(chan struct{}, 1),
		encoding: encoding{format: initialFormat, quality: noJPEG},
		dirty:    []image.Rectangle{c.bounds},
	}
}

// readFull fills p; a connection that ends is errGone.
func readFull(r io.Reader, p []byte) error {
	if _, err := io.ReadFull(r, p); err != nil {
		return errGone
	}
	return nil
}
