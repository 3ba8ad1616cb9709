//go:build linux

package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
)

// desktop is a workstation in this process: the smallest VNC server that can answer a pointer, send
// frames as fast as the client reads, and be silent. Each server under load has its own desktop, so
// that the counts are that server's alone.
type desktop struct {
	listener net.Listener
	frame    []byte

	sessions atomic.Int64 // that got a ServerInit
	echoes   atomic.Int64
	sent     atomic.Int64 // bytes of frames
	moves    atomic.Bool  // its sessions from now on: vnc_away.go
	// All are counted before the bytes are written, so that everything a viewer has received is
	// counted.

	mu      sync.Mutex
	conns   map[net.Conn]struct{}
	closed  bool
	failure error // the first violation of RFB

	wg sync.WaitGroup
}

// newDesktop serves on a free port of the loopback until close.
func newDesktop(frame []byte) (*desktop, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &desktop{listener: l, frame: frame, conns: map[net.Conn]struct{}{}}
	d.wg.Go(d.accept)
	return d, nil
}

func (d *desktop) addr() string { return d.listener.Addr().String() }

// close ends every connection and waits for their goroutines.
func (d *desktop) close() {
	d.listener.Close()
	d.mu.Lock()
	d.closed = true
	for c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.wg.Wait()
}

func (d *desktop) accept() {
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return
		}
		d.mu.Lock()
		if d.closed {
			d.mu.Unlock()
			c.Close()
			return
		}
		d.conns[c] = struct{}{}
		d.mu.Unlock()
		d.wg.Go(func() {
			err := d.serve(c)
			c.Close()
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.conns, c)
			if wrong := (*wireError)(nil); errors.As(err, &wrong) && d.failure == nil {
				d.failure = err
			}
		})
	}
}

// wireError is a message that the protocol, or this bench, does not allow. The end of a connection
// is no error: viewers disconnect at any time.
type wireError struct{ text string }

func (e *wireError) Error() string { return e.text }

func wrongf(format string, args ...any) error {
	return &wireError{fmt.Sprintf(format, args...)}
}

// complaint is the first wrong message of a server to this desktop.
func (d *desktop) complaint() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failure
}

// counts are the work of a desktop since it was made.
type counts struct{ sessions, echoes, sent int64 }

func (d *desktop) counts() counts {
	return counts{d.sessions.Load(), d.echoes.Load(), d.sent.Load()}
}

func (c counts) minus(before counts) counts {
	return counts{c.sessions - before.sessions, c.echoes - before.echoes, c.sent - before.sent}
}

func (d *desktop) serve(c net.Conn) error {
	r := bufio.NewReader(c)
	if err := d.greet(c, r); err != nil {
		return err
	}
	if d.moves.Load() {
		return d.move(c, r)
	}
	for {
		if err := d.message(c, r); err != nil {
			return err
		}
	}
}

// greet runs the handshake up to ServerInit.
func (d *desktop) greet(c net.Conn, r *bufio.Reader) error {
	steps := []struct{ say, want string }{
		{rfbVersion, rfbVersion},
		{"\x01\x01", "\x01"},         // one type, None
		{"\x00\x00\x00\x00", "\x01"}, // SecurityResult; ClientInit: a gateway must ask for a shared desktop
	}
	for _, step := range steps {
		if _, err := io.WriteString(c, step.say); err != nil {
			return err
		}
		got := make([]byte, len(step.want))
		if _, err := io.ReadFull(r, got); err != nil {
			return err
		}
		if string(got) != step.want {
			return wrongf("the desktop said %q and heard %q instead of %q", step.say, got, step.want)
		}
	}
	d.sessions.Add(1)
	_, err := c.Write(serverInit())
	return err
}

// message reads one message of the viewer and acts on it.
func (d *desktop) message(c net.Conn, r *bufio.Reader) error {
	kind, err := r.ReadByte()
	if err != nil {
		return err
	}
	var head [19]byte
	read := func(n int) ([]byte, error) {
		_, err := io.ReadFull(r, head[:n])
		return head[:n], err
	}
	switch kind {
	case msgSetPixelFormat:
		_, err = read(3 + formatBytes)
	case msgSetEncodings:
		if _, err = read(3); err == nil {
			err = skip(r, 4*int(binary.BigEndian.Uint16(head[1:])), 4*maxEncodings)
		}
	case msgUpdateRequest:
		_, err = read(9) // every update here was requested by a pointer
	case msgKeyEvent:
		_, err = read(7)
	case msgPointerEvent:
		var p []byte
		if p, err = read(pointerEventLen - 1); err == nil {
			err = d.pointer(c, p[0], binary.BigEndian.Uint16(p[1:]), binary.BigEndian.Uint16(p[3:]))
		}
	case msgClientCutText:
		if _, err = read(7); err == nil {
			err = skip(r, int(binary.BigEndian.Uint32(head[3:])), maxCutText)
		}
	default:
		err = wrongf("the desktop was sent a message of type %d", kind)
	}
	return err
}

func skip(r *bufio.Reader, n, most int) error {
	if n > most {
		return wrongf("the desktop was sent a body of %d bytes, more than %d", n, most)
	}
	_, err := r.Discard(n)
	return err
}

func (d *desktop) pointer(c net.Conn, buttons byte, x, y uint16) error {
	switch {
	case buttons == buttonsEcho:
		d.echoes.Add(1)
		_, err := c.Write(appendEcho(make([]byte, 0, echoLen), x, y))
		return err
	case buttons == buttonsFrames && x <= maxFrames:
		for range x {
			d.sent.Add(int64(len(d.frame)))
			if _, err := c.Write(d.frame); err != nil {
				return err
			}
		}
		return nil
	}
	return wrongf("the desktop was sent a pointer at %d, %d with buttons %d", x, y, buttons)
}
