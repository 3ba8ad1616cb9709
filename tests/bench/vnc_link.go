//go:build linux

package main

import (
	"bytes"
	"net"
	"sync"
	"time"
)

// delayedLink carries connections to one address and holds each byte for a while, in both directions: a
// network between a viewer far away and what it looks at. It has no loss and all bandwidth.
type delayedLink struct {
	listener net.Listener
	to       string
	delay    time.Duration

	mu    sync.Mutex // guards conns, nil after close
	conns map[net.Conn]struct{}
	wg    sync.WaitGroup
}

const (
	linkPiece  = 16 << 10 // bytes
	linkPieces = 1024     // are on their way at most; what comes after them waits
)

// newDelayedLink listens on a free port of the loopback until close.
func newDelayedLink(to string, delay time.Duration) (*delayedLink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	d := &delayedLink{listener: l, to: to, delay: delay, conns: map[net.Conn]struct{}{}}
	d.wg.Go(d.accept)
	return d, nil
}

func (d *delayedLink) addr() string { return d.listener.Addr().String() }

// close ends every connection and waits for their goroutines.
func (d *delayedLink) close() {
	d.listener.Close()
	d.mu.Lock()
	for c := range d.conns {
		c.Close()
	}
	d.conns = nil
	d.mu.Unlock()
	d.wg.Wait()
}

func (d *delayedLink) accept() {
	for {
		near, err := d.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", d.to)
		if err != nil {
			near.Close()
			continue
		}
		d.mu.Lock()
		if d.conns == nil {
			d.mu.Unlock()
			near.Close()
			far.Close()
			return
		}
		d.conns[near], d.conns[far] = struct{}{}, struct{}{}
		d.mu.Unlock()
		d.wg.Go(func() { d.carry(far, near) })
		d.wg.Go(func() { d.carry(near, far) })
	}
}

// late is a piece and when it arrives.
type late struct {
	bytes []byte
	at    time.Time
}

// carry takes what one end sends to the other until either ends, and then closes both.
func (d *delayedLink) carry(to, from net.Conn) {
	pieces := make(chan late, linkPieces)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var err error
		for p := range pieces {
			if err == nil {
				time.Sleep(time.Until(p.at))
				_, err = to.Write(p.bytes)
			}
			if err != nil {
				from.Close()
			}
		}
	}()
	buffer := make([]byte, linkPiece)
	var err error
	for err == nil {
		var n int
		if n, err = from.Read(buffer); n > 0 {
			pieces <- late{bytes.Clone(buffer[:n]), time.Now().Add(d.delay)}
		}
	}
	close(pieces)
	<-done
	_, _ = from.Close(), to.Close() // the other direction may have closed them
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.conns, from)
}
