// Package handover keeps HTTP/1 connections over a reload.
//
// A server that shuts down ([http.Server.Shutdown]) closes idle connections, and drops a request that
// arrives at that moment without an answer. A [Listener] of the old server gives such connections to
// the newest one at the same address instead, with what was read of a request and not processed. The
// client notices nothing. A connection whose request has reached a handler is never given away, so no
// request is processed twice. HTTP/2 needs nothing of this: its GOAWAY says what was not processed.
package handover

import (
	"errors"
	"net"
	"slices"
	"sync"
)

// Group has the open listeners of all configurations. Its zero value is ready.
type Group struct {
	mu      sync.Mutex             // guards the following
	open    map[string][]*Listener // by key, oldest first
	sockets map[string]*shared     // by key
}

// Listener accepts the connections of another listener, and those that older ones give away.
type Listener struct {
	net.Listener
	group  *Group
	key    string
	takes  bool          // connections of older listeners
	begin  sync.Once     // of the goroutine that accepts
	fresh  chan accepted // by the other listener
	done   chan struct{} // closed by Close
	ended  sync.Once
	queued chan struct{} // has an element while given is not empty

	mu    sync.Mutex // guards the following
	given []net.Conn
}

type accepted struct {
	conn net.Conn
	err  error
}

// Listen wraps a listener. Only listeners with the same key (address, and whether it has TLS) give
// each other connections. Without takes it gets none of others.
func (g *Group) Listen(ln net.Listener, key string, takes bool) *Listener {
	l := &Listener{
		Listener: ln, group: g, key: key, takes: takes,
		fresh: make(chan accepted), done: make(chan struct{}), queued: make(chan struct{}, 1),
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open == nil {
		g.open = make(map[string][]*Listener)
	}
	g.open[key] = append(g.open[key], l)
	return l
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	l.begin.Do(func() { go l.accept() })
	for {
		select {
		case a := <-l.fresh:
			if a.err != nil {
				return nil, a.err
			}
			return l.wrap(a.conn, nil), nil
		case <-l.queued:
			if conn := l.next(); conn != nil {
				return conn, nil
			}
		case <-l.done:
			return nil, net.ErrClosed
		}
	}
}

// accept runs until the other listener is closed.
func (l *Listener) accept() {
	for {
		conn, err := l.Listener.Accept()
		select {
		case l.fresh <- accepted{conn, err}:
		case <-l.done:
			if conn != nil {
				l.pass(conn, nil)
			}
		}
		if errors.Is(err, net.ErrClosed) || err != nil && l.closed() {
			return
		}
	}
}

func (l *Listener) closed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// Close closes the other listener. What was given and not accepted goes to another one.
func (l *Listener) Close() error {
	err := net.ErrClosed
	l.ended.Do(func() {
		l.group.remove(l)
		close(l.done)
		err = l.Listener.Close()
		for conn := l.next(); conn != nil; conn = l.next() {
			_ = conn.Close()
		}
	})
	return err
}

func (g *Group) remove(l *Listener) {
	g.mu.Lock()
	defer g.mu.Unlock()
	left := slices.DeleteFunc(g.open[l.key], func(other *Listener) bool { return other == l })
	if g.open[l.key] = left; len(left) == 0 {
		delete(g.open, l.key)
	}
}

// pass gives a connection, with bytes to read first, to the newest listener. Without one it is closed.
func (l *Listener) pass(conn net.Conn, unread []byte) {
	l.group.mu.Lock()
	defer l.group.mu.Unlock()
	if open := l.group.open[l.key]; len(open) > 0 && open[len(open)-1].takes {
		open[len(open)-1].give(conn, unread)
		return
	}
	_ = conn.Close()
}

func (l *Listener) give(conn net.Conn, unread []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.given = append(l.given, l.wrap(conn, unread))
	l.signal()
}

// next returns a connection that was given, nil for none.
func (l *Listener) next() net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.given) == 0 {
		return nil
	}
	conn := l.given[0]
	if l.given = l.given[1:]; len(l.given) > 0 {
		l.signal()
	}
	return conn
}

func (l *Listener) signal() {
	select {
	case l.queued <- struct{}{}:
	default:
	}
}
