package vnclocal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"time"
)

// acceptTime is how long a listener waits for its viewer.
const acceptTime = 30 * time.Second

// ErrNobody is returned if no viewer has come in time.
var ErrNobody = fmt.Errorf("no viewer has connected within %v", acceptTime)

// Listener waits for one viewer on this machine.
type Listener struct{ listener *net.TCPListener }

// Listen listens at a host and port, which must be of the loopback interface.
func Listen(address string) (*Listener, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().Is4() || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("%q is not on the loopback interface: want 127.0.0.1:PORT, or port 0 for a free one", address)
	}
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	return &Listener{listener}, nil
}

// Addr is where it listens.
func (l *Listener) Addr() netip.AddrPort { return l.listener.Addr().(*net.TCPAddr).AddrPort() }

// Close ends an Accept.
func (l *Listener) Close() error { return l.listener.Close() }

// Accept returns the first connection of a program of this user, and listens no longer. Other users of
// the machine can reach the loopback interface too: on Linux their connections are closed, elsewhere
// only a password keeps them out. The error is ErrNobody after 30 seconds.
func (l *Listener) Accept(ctx context.Context) (net.Conn, error) {
	defer func() { _ = l.Close() }() // ctx may have done so
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	if err := l.listener.SetDeadline(time.Now().Add(acceptTime)); err != nil {
		return nil, err
	}
	for {
		conn, err := l.listener.AcceptTCP()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, ErrNobody
		case ctx.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil, context.Cause(ctx)
		case err != nil:
			return nil, err
		case ofSameUser(conn):
			return conn, nil
		}
		_ = conn.Close()
	}
}
