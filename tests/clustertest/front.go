//go:build unix

package clustertest

import (
	"bytes"
	"net"
	"sync"
)

// Front stands before a server of Redis or Valkey: gateways, Sentinels and the other server reach it
// there. It can hold back what the server's replica is sent, as a slow network does.
type Front struct {
	Addr string

	mu     sync.Mutex // guards the following
	server string
	goesOn *sync.Cond
	held   bool
	open   map[net.Conn]bool
}

// NewFront listens until the test's end. Its server is set later.
func NewFront(t T) *Front {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Front{Addr: l.Addr().String(), open: make(map[net.Conn]bool)}
	f.goesOn = sync.NewCond(&f.mu)
	t.Cleanup(func() {
		l.Close()
		f.Cut()
	})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go f.pass(conn)
		}
	}()
	return f
}

// Before sets the server, host:port.
func (f *Front) Before(server string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.server = server
}

// Hold keeps back what a replica is sent from now on, until Go or Cut.
func (f *Front) Hold() { f.set(true) }

// Go sends what is held.
func (f *Front) Go() { f.set(false) }

func (f *Front) set(held bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = held
	f.goesOn.Broadcast()
}

// Cut ends all connections. What is held is lost.
func (f *Front) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.open {
		conn.Close()
		delete(f.open, conn)
	}
	f.held = false
	f.goesOn.Broadcast()
}

func (f *Front) track(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[conn] = true
}

// wait waits while the stream is held, and reports whether the connection is still open.
func (f *Front) wait(conn net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.held && f.open[conn] {
		f.goesOn.Wait()
	}
	return f.open[conn]
}

func (f *Front) end(conns ...net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range conns {
		conn.Close()
		delete(f.open, conn)
	}
	f.goesOn.Broadcast()
}

// pass copies both ways. A client that asks for the stream of writes (PSYNC) is a replica.
func (f *Front) pass(client net.Conn) {
	f.mu.Lock()
	addr := f.server
	f.mu.Unlock()
	server, err := net.Dial("tcp", addr)
	if err != nil {
		client.Close()
		return
	}
	f.track(client)
	f.track(server)
	defer f.end(client, server)
	replica := make(chan struct{})
	go func() {
		defer f.end(client, server)
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			select {
			case <-replica:
				if n > 0 && !f.wait(client) {
					return
				}
			default:
			}
			if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
				return
			}
		}
	}()
	buffer, known := make([]byte, 64<<10), false
	for {
		n, err := client.Read(buffer)
		if !known && bytes.Contains(buffer[:n], []byte("PSYNC")) {
			known = true
			close(replica)
		}
		if _, writeErr := server.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
