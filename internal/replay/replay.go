// Package replay shows recordings of desktops.
//
//	decode    a recording becomes a picture that changes; frames are waited for as they are due
//	playhead  which moment is shown: play, pause, speed, seek, idle time
//	view      what a viewer has of the picture
//	picture   updates, in encodings that every viewer knows
//	player    the server of RFB that noVNC sees
//	fbs       the export
//
// A recording has what the workstation sent to a viewer with other pixels and encodings, in zlib streams
// that begin with the session. So it is always decoded, and encoded again for who watches.
//
//	page                                 gateway
//	  |  RFB 003.008, security None        |
//	  |<--------------------------------->|
//	  |  ServerInit: 32 bits, red first    |
//	  |<-----------------------------------|
//	  |  SetEncodings, update requests     |
//	  |----------------------------------->|
//	  |  updates: ZRLE, DesktopSize        |
//	  |<-----------------------------------|
//	  |  ClientCutText: an order           |   {"play":false}, {"at":61000}, {"speed":4}, {"skip":5000}
//	  |----------------------------------->|
//	  |  DesktopName: the state            |   {"at":61000,"playing":true,"speed":4,…}
//	  |<-----------------------------------|
//
// Orders and state go within RFB, so that a replay is one connection, and what it shows and what it says
// stay in order. Times are milliseconds since the session began.
package replay

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/framebuffer"
	"github.com/gatehouse-proxy/gatehouse/internal/recording"
	"github.com/gatehouse-proxy/gatehouse/internal/rfb"
)

// Codes of a Close (RFC 6455, section 7.4.2).
const (
	codeNormal = 1000
	codeFailed = 4020 // the recording cannot be shown; the reason says why
)

// hangup is the viewer's connection: a [wsconn.Conn].
type hangup interface {
	net.Conn
	Hangup(code int, reason string)
}

// serve shows a recording until the viewer is gone or ctx ends, and closes the connection.
func serve(ctx context.Context, conn hangup, open Open) {
	defer context.AfterFunc(ctx, func() {
		why := "You are no longer signed in."
		if errors.Is(context.Cause(ctx), errKeyEnded) {
			why = errKeyEnded.Message
		}
		conn.Hangup(codeNormal, why)
	})()
	if err := play(ctx, conn, open); err != nil {
		conn.Hangup(codeFailed, err.Error())
		return
	}
	conn.Hangup(codeNormal, "")
}

func play(ctx context.Context, conn net.Conn, open Open) error {
	p := &player{conn: conn, source: newSource(open), outlined: make(chan Outline, 1)}
	var err error
	if p.pass, err = p.source.begin(0, p.wait); err != nil {
		return err
	}
	header := p.pass.reader.Header()
	p.view = newView(header.Init)
	if err := greet(conn, header); err != nil {
		p.pass.close()
		return err
	}
	events, done, read := make(chan event), make(chan struct{}), make(chan error, 1)
	p.events = events
	go func() {
		read <- readEvents(conn, events, done)
		close(events)
	}()
	ctx, stop := context.WithCancel(ctx)
	var outline sync.WaitGroup
	outline.Go(func() { // a long recording takes a while, and plays meanwhile
		if o, err := outlineOf(ctx, open); err == nil {
			p.outlined <- o
		}
	})
	p.head = newPlayhead(time.Now())
	p.run()
	stop()
	outline.Wait()
	close(done)
	_ = conn.SetReadDeadline(time.Now()) // ends the reader
	return wrong(<-read)
}

// wrong is an error of reading if the viewer has caused it: not that it is gone.
func wrong(err error) error {
	var protocol *protocolError
	if errors.As(err, &protocol) {
		return err
	}
	return nil
}

// greet makes the handshake, up to ServerInit.
func greet(conn net.Conn, h recording.Header) error {
	server := rfb.NewServer(conn, rfb.Timeouts{Person: rfb.StepTimeout})
	if _, err := server.Negotiate(rfb.Offer{None: true}); err != nil {
		return err
	}
	if err := server.Accept(); err != nil {
		return err
	}
	if _, err := server.ClientInit(); err != nil {
		return err
	}
	return server.ServerInit(rfb.Init{Width: h.Init.Width, Height: h.Init.Height, Format: framebuffer.LiveFormat, Name: h.Workstation})
}
