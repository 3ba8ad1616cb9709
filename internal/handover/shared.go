package handover

import (
	"errors"
	"net"
	"sync"
)

// shared is a socket that the servers of several configurations accept from. Each would have its own
// otherwise (SO_REUSEPORT), and the kernel resets the connections that wait in a socket that closes.
type shared struct {
	net.Listener
	accepted chan accepted
	unused   chan struct{} // closed with the last user
	users    int           // guarded by the Group
}

// user is a server's part in a shared socket.
type user struct {
	*shared
	group *Group
	key   string
	done  chan struct{} // closed by Close
	ended sync.Once
}

// Share returns a listener of the socket that is open for the key, an address. If there is one, ln is
// closed; else ln becomes that socket, and stays open until the last of its listeners closes.
func (g *Group) Share(ln net.Listener, key string) net.Listener {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.sockets[key]
	if s == nil {
		if g.sockets == nil {
			g.sockets = make(map[string]*shared)
		}
		s = &shared{Listener: ln, accepted: make(chan accepted), unused: make(chan struct{})}
		g.sockets[key] = s
		go s.accept()
	} else {
		_ = ln.Close()
	}
	s.users++
	return &user{shared: s, group: g, key: key, done: make(chan struct{})}
}

// accept runs until the socket is closed.
func (s *shared) accept() {
	for {
		conn, err := s.Listener.Accept()
		select {
		case s.accepted <- accepted{conn, err}:
		case <-s.unused:
			if conn != nil {
				_ = conn.Close()
			}
			return
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// Accept implements [net.Listener].
func (u *user) Accept() (net.Conn, error) {
	select {
	case <-u.done:
		return nil, net.ErrClosed
	default:
	}
	select {
	case a := <-u.accepted:
		return a.conn, a.err
	case <-u.done:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (u *user) Close() error {
	err := net.ErrClosed
	u.ended.Do(func() {
		close(u.done)
		u.group.mu.Lock()
		defer u.group.mu.Unlock()
		if u.users--; u.users > 0 {
			err = nil
			return
		}
		delete(u.group.sockets, u.key)
		close(u.unused)
		err = u.Listener.Close()
	})
	return err
}
