//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/coder/websocket"
)

// socketCommand is the first argument that turns this binary into the bare copy of WebSockets.
const socketCommand = "socket"

// serveSocket ends TLS and HTTP and copies between one WebSocket a request and target, with nothing of
// its own: the cost of crypto/tls, net/http, the library and io.Copy in any Go program. It writes its
// address as one line and ends with its standard input.
func serveSocket(stdin io.Reader, stdout io.Writer, certFile, keyFile, target string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: ioTimeout, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{binaryProtocol}})
		if err != nil {
			return
		}
		copySocket(ws, target)
	})}
	go func() {
		io.Copy(io.Discard, stdin)
		server.Close()
	}()
	if _, err := fmt.Fprintln(stdout, l.Addr()); err != nil {
		return err
	}
	if err := server.ServeTLS(l, certFile, keyFile); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// copySocket is one connection of the bare copy. Its failures show at the viewer.
func copySocket(ws *websocket.Conn, target string) {
	defer ws.CloseNow()
	dialer := net.Dialer{Timeout: ioTimeout}
	desktop, err := dialer.DialContext(context.Background(), "tcp", target)
	if err != nil {
		return
	}
	defer desktop.Close()
	viewer := websocket.NetConn(context.Background(), ws, websocket.MessageBinary)
	go func() {
		io.Copy(desktop, viewer)
		desktop.Close()
	}()
	io.Copy(viewer, desktop)
}
