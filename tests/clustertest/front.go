//go:build unix

package clustertest

import (
	"bytes"
	"net"
	"sync"
	"sync/atomic"
)

// Front stands before a server of Redis or Valkey: gateways, Sentinels and the other server reach it
// there. It can hold back what the server's replica is sent, as a slow network does, or everything, as
// a broken one.
type Front struct {
	Addr string

	mu     sync.Mutex // guards the following
	server string
	goesOn *sync.Cond
	held   bool // what replicas are sent
	lost   bool // everything
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

// Hold keeps back what a replica is sent from now on, until Cut.
func (f *Front) Hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.held = true
}

// Lose lets nothing through from now on, in neither direction, until Cut. Connections hang.
func (f *Front) Lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = true
}

// Cut ends all connections. What is held is lost.
func (f *Front) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.open {
		conn.Close()
		delete(f.open, conn)
	}
	f.held, f.lost = false, false
	f.goesOn.Broadcast()
}

func (f *Front) track(conn net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[conn] = true
}

// wait waits while what a client sends or is sent is held, and reports whether the connection is still
// open.
func (f *Front) wait(conn net.Conn, replica bool) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for (f.lost || f.held && replica) && f.open[conn] {
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
	var replica atomic.Bool
	go func() {
		defer f.end(client, server)
		buffer := make([]byte, 64<<10)
		for {
			n, err := server.Read(buffer)
			if n > 0 && !f.wait(client, replica.Load()) {
				return
			}
			if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if bytes.Contains(buffer[:n], []byte("PSYNC")) {
			replica.Store(true)
		}
		if n > 0 && !f.wait(client, false) {
			return
		}
		if _, writeErr := server.Write(buffer[:n]); err != nil || writeErr != nil {
			return
		}
	}
}
