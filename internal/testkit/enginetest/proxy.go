//go:build unix

package enginetest

import (
	"net"
	"sync"
	"time"
)

// Proxy stands between a client and a server, or between a replica and its master. It passes bytes
// until it hears otherwise.
type Proxy struct {
	Addr string

	target   string
	listener net.Listener
	running  sync.WaitGroup

	mu          sync.Mutex // guards the following
	changed     *sync.Cond
	held        bool
	cut         bool
	delay       time.Duration
	connections map[net.Conn]bool
}

// NewProxy starts a proxy to target, an address.
func NewProxy(t T, target string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: listener.Addr().String(), target: target, listener: listener, connections: map[net.Conn]bool{}}
	p.changed = sync.NewCond(&p.mu)
	p.running.Go(p.accept)
	t.Cleanup(func() {
		listener.Close()
		p.Cut()
		p.running.Wait()
	})
	return p
}

// Pass passes bytes, those first that were held.
func (p *Proxy) Pass() { p.set(func() { p.held, p.cut, p.delay = false, false, 0 }) }

// Hold passes nothing, in neither direction. Connections stay open, and new ones are accepted: they
// hang, as in a network that loses everything.
func (p *Proxy) Hold() { p.set(func() { p.held = true }) }

// Delay passes bytes after some time.
func (p *Proxy) Delay(d time.Duration) { p.set(func() { p.held, p.cut, p.delay = false, false, d }) }

// Cut closes all connections, with what was held, and each new one.
func (p *Proxy) Cut() {
	p.set(func() {
		p.held, p.cut = false, true
		for c := range p.connections {
			c.Close()
		}
	})
}

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() { p.serve(client) })
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer client.Close()
	if !p.add(client) {
		return
	}
	defer p.remove(client)
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !p.add(server) {
		return
	}
	defer p.remove(server)
	p.running.Go(func() { p.copy(server, client) })
	p.copy(client, server)
}

func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.cut {
		p.connections[c] = true
	}
	return !p.cut
}

func (p *Proxy) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.connections, c)
}

// copy passes bytes until a side ends, and then ends both.
func (p *Proxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 && !p.may() {
			return
		}
		if _, failed := to.Write(buffer[:n]); failed != nil || err != nil {
			return
		}
	}
}

// may waits while bytes are held, and reports whether they may pass.
func (p *Proxy) may() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.delay > 0 {
		d := p.delay
		p.mu.Unlock()
		<-time.After(d)
		p.mu.Lock()
	}
	for p.held {
		p.changed.Wait()
	}
	return !p.cut
}
