// Package vncrelay is what viewers of every kind share, from a live token to the end of the session.
// A native viewer comes over TCP and TLS, a browser over a WebSocket: both are a [Viewer].
//
//	half := vncrelay.NewHalfOpen(limiter, address, limits, socket) // until the token is known
//	…                                                              // find the token
//	session, err := gateway.Open(pass, address, security)
//	desktop, err := vncrelay.Admission{…}.Open(session, address)   // dial and log in, join, ServerInit
//	vncrelay.New(session, viewer, desktop, policy).Run()           // until either side ends
//
//	admission  the order of the last steps, and a reason for the viewer that is refused
//	backend    dial the workstation and log in, up to its ServerInit
//	relay      carry bytes both ways until either side ends
//	uplink     the viewer's messages, through the filter
//	source     the workstation's bytes
//	stream     follows them, for the clipboard, the recording and the next picture
//	throttle   keeps them within a bandwidth
//	idle       ends a session without input
//	peer       ends a session whose other end does not answer
//
// Nothing here knows Caddy or layer 4, and nothing belongs to a configuration but the Gateway.
package vncrelay

import (
	"context"
	"net"
	"net/netip"

	"github.com/gatehouse-proxy/gatehouse/internal/connlimit"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/vncsession"
)

// Gateway is what a viewer's connection asks of the gateway.
type Gateway interface {
	Workstations() *desktop.Service
	ConnLimiter() *connlimit.Limiter
	// Open begins the session of a viewer with a live token. The error is a *desktop.Refusal.
	Open(pass *desktop.Pass, viewer netip.AddrPort, security string) (*vncsession.Session, error)
	// Refused counts and logs a connection without a live token.
	Refused(reason string, viewer netip.AddrPort, cause error)
	WarnOfDemo(what string)
}

// Server is a part of the app: the Gateway of a configuration, and a way to the one after it.
type Server interface {
	Gateway
	// Current waits until the gateway has started. It returns the Gateway that serves new
	// connections, nil if it has no workstations or there is none.
	Current(context.Context) Gateway
}

// Viewer is the viewer's connection. A Read that fails with an *rfb.Error is a message that the
// protocol does not allow; any other failure is the end of the connection.
type Viewer interface {
	net.Conn
	// Socket is the connection of the system below all others.
	Socket() net.Conn
	// HangUp ends our direction. Run calls it once, when it has ended all reads and writes.
	HangUp(End)
	// Drain waits for a moment for the viewer's own end, and closes the connection.
	Drain()
}

// End is how a session ended, for the viewer's connection.
type End struct {
	Reason desktop.Reason
	Gone   bool // the viewer acknowledges nothing any more: nothing can be sent
	Torn   bool // a write was cut off: what follows would be read as a part of it
}

// Under is the connection below another, nil below the last.
func Under(conn net.Conn) net.Conn {
	switch c := conn.(type) {
	case interface{ NetConn() net.Conn }: // tls.Conn among them
		return c.NetConn()
	case interface{ Raw() net.Conn }: // of the PROXY protocol
		return c.Raw()
	}
	return nil
}

// Lowest is the lowest connection below another: the socket.
func Lowest(conn net.Conn) net.Conn {
	for below := Under(conn); below != nil; below = Under(conn) {
		conn = below
	}
	return conn
}
